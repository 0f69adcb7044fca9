import { mapLimit } from '../../../../core/base/map-limit.ts';
import { type Git, type GitOptions, LOOKUP, NO_DIFF_PROGRAMS, NOT_INSIDE, splitRecords } from '../git/git.ts';
import { compareAllFiles } from '../git/index-flags.ts';
import { isPassableRange } from '../git/refs.ts';

/** A changed file, with its earlier contents. */
export interface ChangedText {
  /** Relative to the folder, with `/`. */
  path: string;
  /** Null for a new file. */
  before: string | null;
  /** Its contents at the end of the range; undefined for the file on the disk. */
  after: string | undefined;
}

const LONGEST_MS = 60_000;
const MOST_FILE_BYTES = 2 * 1024 * 1024;
const AT_ONCE = 4;
const ASKED: GitOptions = { ...LOOKUP, timeoutMs: LONGEST_MS };
const NO_BLOB = /^0+$/;
/** True for a regular file: neither a link nor another repository. */
const FILE_MODE = /^100\d{3}$/;

/**
 * Reads the files below a folder that differ between two commits (`a..b`, `a...b`), or between a commit and the
 * current files; without a range that is HEAD, and untracked files are included. Deleted files are left out. Null if
 * git cannot tell, as for an unknown commit.
 */
export async function readChangedTexts(
  folder: string,
  git: Git,
  range: string | null,
  { most, isWanted }: { most: number; isWanted(path: string): boolean },
): Promise<{ changed: ChangedText[]; isCut: boolean } | null> {
  if (range !== null && !isPassableRange(range)) return null;
  const options = [
    '--raw',
    '--no-abbrev',
    '--no-renames',
    '--relative',
    ...NO_DIFF_PROGRAMS,
    NOT_INSIDE,
    '-z',
  ];
  const diff = await compareAllFiles(git, folder, ASKED, (asked) =>
    git.run(folder, ['diff', ...options, range ?? 'HEAD', '--'], asked),
  );
  if (diff.code !== 0) return null;
  const wanted = readRawDiff(diff.stdout).filter(({ path }) => isWanted(path));
  const changed = await mapLimit(wanted.slice(0, most), AT_ONCE, async ({ path, old, now }) => ({
    path,
    before: NO_BLOB.test(old) ? null : await readBlob(git, folder, old),
    after: NO_BLOB.test(now) ? undefined : ((await readBlob(git, folder, now)) ?? undefined),
  }));
  if (range !== null) return { changed, isCut: wanted.length > most };
  const fresh = await git.run(folder, ['ls-files', '-z', '--others', '--exclude-standard'], ASKED);
  const added = splitRecords(fresh.stdout).filter(isWanted);
  const room = Math.max(0, most - changed.length);
  return {
    changed: [...changed, ...added.slice(0, room).map((path) => ({ path, before: null, after: undefined }))],
    isCut: wanted.length > most || added.length > room,
  };
}

/** `:100644 100644 <blob> <blob> M`, then the path, of each file that is there afterwards. */
function readRawDiff(text: string): { path: string; old: string; now: string }[] {
  const records = splitRecords(text);
  const found: { path: string; old: string; now: string }[] = [];
  for (let at = 0; at + 1 < records.length; at += 2) {
    const [, mode = '', old = '', now = '', kind] = (records[at] as string).slice(1).split(' ');
    if (kind === 'D' || !FILE_MODE.test(mode)) continue;
    found.push({ path: records[at + 1] as string, old, now });
  }
  return found;
}

/** Null for one that is longer than any source. */
async function readBlob(git: Git, folder: string, id: string): Promise<string | null> {
  const { code, stdout, truncated } = await git.run(folder, ['cat-file', 'blob', id], {
    ...ASKED,
    maxBytes: MOST_FILE_BYTES,
  });
  return code !== 0 || truncated ? null : stdout;
}
