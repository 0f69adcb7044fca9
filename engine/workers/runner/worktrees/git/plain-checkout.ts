import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { looksLikeBareRepository } from './git-folders.ts';
import { readRegularFile } from './regular-file.ts';

/** A checkout of a repository in git's usual format, read from its files. */
export interface PlainCheckout {
  /** Its top folder, links resolved. */
  root: string;
  /** Its own git folder, and the one that all worktrees of the repository share. */
  gitDir: string;
  commonDir: string;
  /** The full name of HEAD's branch; null if HEAD is detached. */
  ref: string | null;
  /** The commit at HEAD. */
  head: string;
}

/** Variables by which git looks for a repository elsewhere, or reads its refs differently. */
const CHANGES_SEARCH = [
  'GIT_CEILING_DIRECTORIES',
  'GIT_DISCOVERY_ACROSS_FILESYSTEM',
  'GIT_REFERENCE_BACKEND',
  'GIT_REF_STORAGE_FORMAT',
];

/** A longer list of packed refs is left to git. */
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * Reads the checkout around a folder without starting git. Null if git has to be asked: no checkout, another owner,
 * a format or a setting with which git may answer differently, nothing committed yet, or anything unusual.
 * @param discover whether the checkout may begin above the folder
 */
export function readPlainCheckout(
  folder: string,
  { env, discover }: { env: Readonly<NodeJS.ProcessEnv>; discover: boolean },
): PlainCheckout | null {
  if (CHANGES_SEARCH.some((name) => env[name] !== undefined)) return null;
  try {
    const found = findPlainGitFolders(realpathSync(folder), discover);
    if (found === null || !isPlainFormat(found.commonDir)) return null;
    const named = readPlainHead(found);
    return named === null ? null : { ...found, ...named };
  } catch {
    return null; // changed in between, or not accessible
  }
}

type Place = Pick<PlainCheckout, 'root' | 'gitDir' | 'commonDir'>;

/** Finds the git folders as git would from a folder, links resolved; null in doubt. */
function findPlainGitFolders(folder: string, discover: boolean): Place | null {
  let root = folder;
  let mark = lstatSync(join(root, '.git'), { throwIfNoEntry: false });
  while (mark === undefined) {
    if (!discover || root === dirname(root) || looksLikeBareRepository(root)) return null;
    root = dirname(root);
    mark = lstatSync(join(root, '.git'), { throwIfNoEntry: false });
  }
  // git searches no other file system.
  if (root !== folder && statSync(root).dev !== statSync(folder).dev) return null;
  const place = mark.isDirectory() ? readMainPlace(root) : readLinkedPlace(root);
  if (place === null) return null;
  const user = process.geteuid?.();
  const owned = [root, join(root, '.git'), place.gitDir].map((path) => lstatSync(path).uid);
  return owned.every((uid) => uid === user) && looksLikeBareRepository(place.commonDir) ? place : null;
}

function readMainPlace(root: string): Place | null {
  const common = join(root, '.git');
  // Only a strict run in place has one there; see `releaseCheckout`.
  return existsSync(join(common, 'commondir')) ? null : { root, gitDir: common, commonDir: common };
}

/** Reads the git folders that the `.git` file of a linked worktree names; null unless they have git's own form. */
function readLinkedPlace(root: string): Place | null {
  const named = /^gitdir: ([^\n]+)\n?$/.exec(readRegularFile(join(root, '.git')) ?? '')?.[1];
  if (named === undefined) return null;
  const gitDir = realpathSync(resolve(root, named));
  const shared = /^([^\n]+)\n?$/.exec(readRegularFile(join(gitDir, 'commondir')) ?? '')?.[1];
  if (shared === undefined) return null;
  const commonDir = realpathSync(resolve(gitDir, shared));
  return dirname(gitDir) === join(commonDir, 'worktrees') ? { root, gitDir, commonDir } : null;
}

/** The lines of a usual configuration that could also select another format. */
const USUAL = /^[ \t]*(?:repositoryformatversion[ \t]*=[ \t]*0|bare[ \t]*=[ \t]*false)[ \t]*$/gim;
/** A section or setting that selects another format, or moves the checkout: a name follows a line's start or a section. */
const UNUSUAL = /\[\s*extensions|(?:^|\])\s*(?:repositoryformatversion|bare|worktree)\b/im;

/** Reports whether a repository has git's first format, and its checkout the usual place; false in doubt. */
function isPlainFormat(commonDir: string): boolean {
  const text = readRegularFile(join(commonDir, 'config'));
  return text !== null && !UNUSUAL.test(text.replace(USUAL, ''));
}

/** Reads what HEAD names, and its commit; null in doubt. */
function readPlainHead({ gitDir, commonDir }: Place): Pick<PlainCheckout, 'ref' | 'head'> | null {
  const text = readRegularFile(join(gitDir, 'HEAD')) ?? '';
  const detached = OBJECT_ID_LINE.exec(text)?.[1];
  if (detached !== undefined) return { ref: null, head: detached };
  const ref = /^ref: (refs\/heads\/[^\n]+)\n$/.exec(text)?.[1];
  if (ref === undefined || !isPlainRef(ref)) return null;
  const head = readPlainRef(commonDir, ref);
  return head === null || head === 'unknown' ? null : { ref, head };
}

const OBJECT_ID_LINE = /^([0-9a-f]{40})\n$/;

/** Reports whether git would accept a ref's name; false in doubt. See git-check-ref-format(1). */
const isPlainRef = (ref: string): boolean =>
  !/[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/\.|\.lock(?:\/|$)|[./]$/.test(ref);

/**
 * Reads the commit that a ref of a repository in the usual format names, as git does: its own file overrides the
 * packed ones. Null for no such ref, `unknown` if git has to be asked.
 * @param ref its full name, as git accepts it
 */
function readPlainRef(commonDir: string, ref: string): string | null | 'unknown' {
  const file = join(commonDir, ref);
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found !== undefined && !found.isDirectory())
    return OBJECT_ID_LINE.exec(readRegularFile(file) ?? '')?.[1] ?? 'unknown';
  const packedFile = join(commonDir, 'packed-refs');
  const packed = lstatSync(packedFile, { throwIfNoEntry: false });
  if (packed === undefined) return null;
  if (packed.size > MOST_BYTES) return 'unknown';
  const text = readRegularFile(packedFile);
  if (text === null) return 'unknown';
  const at = text.indexOf(` ${ref}\n`);
  if (at === -1) return null;
  const start = text.lastIndexOf('\n', at) + 1;
  return OBJECT_ID_LINE.exec(`${text.slice(start, at)}\n`)?.[1] ?? 'unknown';
}

/** Reports whether a branch of a plain checkout's repository neither exists nor is named by HEAD of a checkout; false in doubt. */
export function isUnusedBranch({ commonDir }: Pick<PlainCheckout, 'commonDir'>, ref: string): boolean {
  try {
    return isPlainRef(ref) && readPlainRef(commonDir, ref) === null && !isNamedByHead(commonDir, ref);
  } catch {
    return false;
  }
}

function isNamedByHead(commonDir: string, ref: string): boolean {
  const worktrees = join(commonDir, 'worktrees');
  const names = existsSync(worktrees) ? readdirSync(worktrees) : [];
  return [commonDir, ...names.map((name) => join(worktrees, name))].some(
    (gitDir) => readRegularFile(join(gitDir, 'HEAD'))?.trimEnd() === `ref: ${ref}`,
  );
}
