import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { replacePrivate } from '../../../../core/base/private-files.ts';
import { isObjectId, sessionNameOf } from './refs.ts';
import { readRegularFile } from './regular-file.ts';

/**
 * The private git folder of a strict worker in a worktree: written instead of the repository's objects, the branches
 * of sessions and their logs. The worker only reads the repository itself; the engine takes over new objects, see
 * `finish/take-over.ts`.
 */
export interface PrivateGit {
  folder: string;
  /** Mounted over the repository's `objects`, `refs/heads/svc` and `logs/refs/heads/svc`. */
  objects: string;
  refs: string;
  logs: string;
  /** Mounted over `refs` and `logs` of the worktree's own git folder, which git also reads when cleaning up the repository. */
  ownRefs: string;
  ownLogs: string;
  /** Mounted over `objects/info` and never written by a worker: names the location of the real objects inside. */
  info: string;
  /** Mounted over `lfs` in a repository that has such a folder: where git-lfs stores the content of large files. */
  lfs: string;
}

/** The engine's record of a private git folder. */
export interface PrivateGitRecord {
  /** The repository's own git folder, links resolved. */
  common: string;
  worktree: string;
  /** The session's branch. */
  branch: string;
  /** The commit where the branch starts. */
  base: string;
  /** The branch's commit in the repository, as the engine last wrote or read it. */
  known: string;
  /** The reason why its contents could not be taken over; they are then kept for a person. */
  refused: string | null;
}

/** The path where the real objects are mounted inside, read-only. */
export const REAL_OBJECTS = '/run/svc-git/objects';

/** The path where the real files of Git LFS are mounted inside. git-lfs looks for them next to the objects of an alternate. */
export const REAL_LFS = '/run/svc-git/lfs';

/** Locates the private git folder of a worktree, which is named after its first session and may pass on to later ones. */
export const locatePrivateGit = (agentsDir: string, worktree: string): PrivateGit => {
  const folder = join(agentsDir, basename(worktree), 'git');
  const at = (name: string): string => join(folder, name);
  const [objects, refs, logs, info] = [at('objects'), at('refs'), at('logs'), at('info')];
  return {
    ...{ folder, objects, refs, logs, info },
    ...{ ownRefs: at('own-refs'), ownLogs: at('own-logs'), lfs: at('lfs') },
  };
};

const recordPath = ({ folder }: Pick<PrivateGit, 'folder'>): string => join(folder, 'record.json');

/** Null if there is none: no strict run has used that worktree. */
export function readPrivateGit(git: Pick<PrivateGit, 'folder'>): PrivateGitRecord | null {
  try {
    return JSON.parse(readFileSync(recordPath(git), 'utf8')) as PrivateGitRecord;
  } catch {
    return null;
  }
}

export function writePrivateGit(git: Pick<PrivateGit, 'folder'>, record: PrivateGitRecord): void {
  replacePrivate(recordPath(git), JSON.stringify(record));
}

/** Lists the private git folders of all worktrees. */
export function listPrivateGits(agentsDir: string): PrivateGit[] {
  try {
    return readdirSync(agentsDir).map((name) => locatePrivateGit(agentsDir, name));
  } catch {
    return [];
  }
}

/** Removes a private git folder with its worktree, unless it holds work that could not be taken over. */
export function removePrivateGit(agentsDir: string, worktree: string): void {
  const git = locatePrivateGit(agentsDir, worktree);
  const record = readPrivateGit(git);
  if (record !== null && record.refused === null) rmSync(git.folder, { recursive: true, force: true });
}

/** Returns the trimmed text of one of the repository's files; null if there is none. */
function readTrimmed(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null;
  }
}

/** Longer than any id with its newline. */
const MOST_OF_ID = 128;

/** Reads the id from a file that a worker can write, never through a link and never waiting at a pipe. Null for anything else. */
export function readRefFile(file: string): string | null {
  const text = readRegularFile(file, MOST_OF_ID)?.trim();
  return isObjectId(text) ? text : null;
}

/** Reads the commit of a session's branch inside the sandbox. */
export const readPrivateTip = (git: PrivateGit, { branch }: PrivateGitRecord): string | null =>
  readRefFile(join(git.refs, basename(branch)));

/** Reads the same by the branch's name; null without a private folder that is used. */
export function findPrivateTip(agentsDir: string, branch: string): string | null {
  const git = locatePrivateGit(agentsDir, sessionNameOf(branch));
  const record = readPrivateGit(git);
  return record?.branch !== branch || record.refused !== null ? null : readPrivateTip(git, record);
}

/** Reads a branch's commit from the repository's files, without asking git. */
export function readBranchFromFiles(common: string, branch: string): string | null {
  const loose = readTrimmed(join(common, 'refs', 'heads', branch));
  if (isObjectId(loose)) return loose;
  const packed = readTrimmed(join(common, 'packed-refs')) ?? '';
  const line = packed.split('\n').find((each) => each.endsWith(` refs/heads/${branch}`));
  const id = line?.split(' ')[0];
  return isObjectId(id) ? id : null;
}

/** Lists object folders that a repository also reads, recursively. */
export function listAlternates(objects: string, depth = 0): string[] {
  if (depth > 5) return [];
  return (readTrimmed(join(objects, 'info', 'alternates')) ?? '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => resolve(objects, line))
    .flatMap((each) => [each, ...listAlternates(each, depth + 1)]);
}

/**
 * Prepares the private git folder for a run. Contents of an earlier run stay, but the branch is reset to the
 * repository's: a person, or the engine, may have committed since. Contents that could not be taken over are set
 * aside.
 * @returns null if the branch does not exist
 */
export function preparePrivateGit(agentsDir: string, worktree: string, common: string): PrivateGit | null {
  const git = locatePrivateGit(agentsDir, worktree);
  const branch = `svc/${basename(worktree)}`;
  const now = readBranchFromFiles(common, branch);
  if (now === null) return null;
  const before = readPrivateGit(git);
  const own = join(git.refs, basename(worktree));
  const isUntaken = before !== null && before.known !== now && readRefFile(own) !== before.known;
  if (before !== null && (before.refused !== null || isUntaken))
    renameSync(git.folder, findFreeName(git.folder));
  for (const folder of [join(git.objects, 'info'), git.info, git.logs, git.ownRefs, git.ownLogs, git.lfs])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  const isKnown = before !== null && before.refused === null && before.known === now;
  if (!isKnown || readRefFile(own) === null) {
    rmSync(git.refs, { recursive: true, force: true });
    mkdirSync(git.refs, { recursive: true, mode: 0o700 });
    writeFileSync(own, `${now}\n`);
  }
  copyBranches(join(common, 'refs', 'heads', 'svc'), git.refs, basename(worktree));
  const alternates = [REAL_OBJECTS, ...listAlternates(join(common, 'objects'))];
  writeFileSync(join(git.info, 'alternates'), alternates.map((each) => `${each}\n`).join(''));
  const base = before?.base ?? now;
  writePrivateGit(git, { common, worktree, branch, base, known: now, refused: null });
  return git;
}

/** Copies the current branches of other sessions for reading inside. */
function copyBranches(from: string, to: string, own: string): void {
  for (const name of listNames(from)) {
    if (name === own || name.endsWith('.lock')) continue;
    const id = readTrimmed(join(from, name));
    if (!isObjectId(id)) continue;
    rmSync(join(to, name), { recursive: true, force: true });
    writeFileSync(join(to, name), `${id}\n`, { flag: 'wx' });
  }
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((each) => (each.isFile() ? [each.name] : []));
  } catch {
    return [];
  }
}

function findFreeName(folder: string): string {
  const taken = new Set(readdirSync(dirname(folder)));
  let number = 1;
  while (taken.has(`git.kept-${number}`)) number += 1;
  return join(dirname(folder), `git.kept-${number}`);
}
