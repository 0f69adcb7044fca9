import { createHash } from 'node:crypto';
import { type BigIntStats, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** With more files git itself is faster. */
const MOST_FILES = 5000;
/** A larger file whose time is inconclusive is left to git. */
const MOST_BYTES = 256 * 1024;

const FILE = 0o100000;
const LINK = 0o120000;

/** One file as recorded in the index. */
interface Entry {
  /** The start of its record in the index. */
  at: number;
  path: string;
}

interface Index {
  bytes: Buffer;
  entries: Entry[];
  /** The tree object last written for the whole index; null if that has changed since. */
  tree: string | null;
  /** Modification time of the index, ns. */
  mtimeNs: bigint;
  idLength: number;
}

/**
 * Reports whether a worktree matches its commit exactly: no file is changed, staged, missing or new. Answered from
 * git's index and the files' times without starting git, which would take longer. False means that git has to be
 * asked: something may differ, or the index has an unsupported form.
 * @param gitDir the worktree's own git folder
 * @param tree tree of the commit that is checked out; empty if unknown
 * @param isExcluded names at the top that git ignores
 * @param mostFiles with more files git has to be asked
 */
export function isUnchanged(
  worktree: string,
  gitDir: string,
  tree: string,
  isExcluded: (name: string) => boolean,
  mostFiles = MOST_FILES,
): boolean {
  if (tree === '') return false;
  try {
    const index = readIndex(join(gitDir, 'index'), tree.length / 2);
    if (index === null || index.entries.length > mostFiles) return false;
    return index.tree === tree && matchesIndex(worktree, index, isExcluded);
  } catch {
    return false; // gone or changed since, or not accessible
  }
}

/** Counts the files of an index in git's usual format, and their bytes; null for one with more than plain files. */
export function measureIndex(gitDir: string): { files: number; bytes: number } | null {
  try {
    const index = readIndex(join(gitDir, 'index'), 20);
    if (index === null) return null;
    const sizes = index.entries.map(({ at }) => index.bytes.readUInt32BE(at + 36));
    return { files: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  } catch {
    return null; // none, or damaged
  }
}

/** Lists the paths in an index; null for one with more than plain files. @param idLength of the object ids in it, bytes */
export function listPlainEntries(gitDir: string, idLength: number): string[] | null {
  try {
    return readIndex(join(gitDir, 'index'), idLength)?.entries.map(({ path }) => path) ?? null;
  } catch {
    return null; // none, or damaged
  }
}

/** Parses an index; null for one with more than plain files. Format: gitformat-index(5), versions 2 and 3. */
function readIndex(file: string, idLength: number): Index | null {
  const { mtimeNs } = lstatSync(file, { bigint: true });
  const bytes = readFileSync(file);
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || (version !== 2 && version !== 3) || count > MOST_FILES)
    return null;
  const entries: Entry[] = [];
  let at = 12;
  for (let number = 0; number < count; number += 1) {
    const flagsAt = at + 40 + idLength;
    // These flags mean assumed unchanged, in conflict, sparse or intent-to-add.
    if ((bytes.readUInt16BE(flagsAt) & 0xf000) !== 0) return null;
    const mode = bytes.readUInt32BE(at + 24) & 0o170000;
    if (mode !== FILE && mode !== LINK) return null;
    const end = bytes.indexOf(0, flagsAt + 2);
    entries.push({ at, path: bytes.toString('utf8', flagsAt + 2, end) });
    at += (end - at + 8) & ~7;
  }
  let tree: string | null = null;
  for (const end = bytes.length - idLength; at + 8 <= end; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32BE(at + 4);
    if (name === 'TREE') tree = parseRootTree(bytes.subarray(at + 8, at + 8 + size), idLength);
    // Extensions in capitals are optional; these indicate that git knows more than the files do.
    else if (!/^[A-Z]/.test(name) || name === 'FSMN') return null;
    at += 8 + size;
  }
  return at !== bytes.length - idLength ? null : { bytes, entries, tree, mtimeNs, idLength };
}

/** Returns the tree written for the whole index; null if that has changed since. */
function parseRootTree(extension: Buffer, idLength: number): string | null {
  const end = extension.indexOf(0x0a);
  const [, count = '-1'] = /^\0(-?\d+) \d+$/.exec(extension.toString('latin1', 0, end)) ?? [];
  return Number(count) < 0 ? null : extension.toString('hex', end + 1, end + 1 + idLength);
}

/** Reports whether the worktree matches the index exactly. */
function matchesIndex(worktree: string, index: Index, isExcluded: (name: string) => boolean): boolean {
  const files = new Map(index.entries.map((entry) => [entry.path, entry]));
  const folders = new Set<string>();
  for (const { path } of index.entries)
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (folders.has(path.slice(0, end))) break;
      folders.add(path.slice(0, end));
    }
  let seen = 0;
  const queue = [''];
  for (let folder = queue.pop(); folder !== undefined; folder = queue.pop()) {
    for (const { name } of readdirSync(join(worktree, folder), { withFileTypes: true })) {
      const path = folder === '' ? name : `${folder}/${name}`;
      const entry = files.get(path);
      if (entry !== undefined) {
        if (!isSameFile(join(worktree, path), entry, index)) return false;
        seen += 1;
      } else if (folders.has(path)) {
        if (!lstatSync(join(worktree, path)).isDirectory()) return false;
        queue.push(path);
      } else if (folder !== '' || (name !== '.git' && !isExcluded(name))) return false;
    }
  }
  return seen === index.entries.length;
}

function isSameFile(file: string, { at }: Entry, index: Index): boolean {
  const { bytes, mtimeNs } = index;
  const stat = lstatSync(file, { bigint: true });
  const field = (offset: number): bigint => BigInt(bytes.readUInt32BE(at + offset));
  const timeAt = (offset: number): bigint => field(offset) * 1_000_000_000n + field(offset + 4);
  const isAsFound =
    timeAt(0) === stat.ctimeNs &&
    timeAt(8) === stat.mtimeNs &&
    field(20) === BigInt.asUintN(32, stat.ino) &&
    field(28) === stat.uid &&
    field(32) === stat.gid &&
    field(36) === BigInt.asUintN(32, stat.size) &&
    isSameKind(field(24), stat);
  if (!isAsFound) return false;
  // A file written in the same moment as the index may have been rewritten after it.
  return stat.mtimeNs < mtimeNs || hasContent(file, stat, bytes.subarray(at + 40, at + 40 + index.idLength));
}

const isSameKind = (mode: bigint, stat: BigIntStats): boolean =>
  (mode & 0o170000n) === BigInt(LINK)
    ? stat.isSymbolicLink()
    : stat.isFile() && (mode & 0o100n) === (stat.mode & 0o100n);

function hasContent(file: string, stat: BigIntStats, id: Buffer): boolean {
  if (stat.size > MOST_BYTES) return false;
  const content = stat.isSymbolicLink() ? Buffer.from(readlinkSync(file)) : readFileSync(file);
  const hash = createHash(id.length === 20 ? 'sha1' : 'sha256');
  return hash.update(`blob ${content.length}\0`).update(content).digest().equals(id);
}
