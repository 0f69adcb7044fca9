import { lstatSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { above, isFolder, realOf } from './paths.ts';
import { type Place, showing } from './rules.ts';

/** Where git keeps what belongs to a checkout: its own folder, and the one that all worktrees share. */
export interface GitFolders {
  /** The `.git` of the checkout, a file in a worktree. */
  mark: string;
  own: string;
  common: string;
}

/** Null outside of any repository. */
export function gitFoldersOf(folder: string): GitFolders | null {
  const top = above(folder, (each) => statSync(join(each, '.git'), { throwIfNoEntry: false }) !== undefined);
  if (top === null) return null;
  const mark = join(top, '.git');
  if (isFolder(mark)) {
    const own = realOf(mark) ?? mark;
    return { mark, own, common: own };
  }
  if (!statSync(mark).isFile()) return null;
  const named = /^gitdir: (.+)$/m.exec(readFileSync(mark, 'utf8'))?.[1];
  const own = named === undefined ? null : realOf(resolve(top, named));
  if (own === null) return null;
  const common = realOf(resolve(own, textOf(join(own, 'commondir')) ?? '.'));
  return common === null ? null : { mark, own, common };
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null;
  }
}

/** What names other folders as this repository's own: a later run would be shown whatever a worker writes there. */
const sealedObjects = (common: string): string => made(join(common, 'objects', 'info'));

/** Object folders of other repositories that this one reads as its own. */
const alternates = (common: string): Place[] =>
  (textOf(join(common, 'objects', 'info', 'alternates')) ?? '')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => showing(resolve(common, 'objects', line), 'read'));

function made(folder: string): string {
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** A file that has to be there to be protected; empty it mostly says nothing to git. */
function present(file: string, text = ''): string {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found?.isFile()) return file;
  // Whatever an earlier worker has put there: a link would make it elsewhere, and at a pipe we would wait for ever.
  if (found !== undefined) rmSync(file, { recursive: true, force: true });
  writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  return file;
}

/** Where the branches of sessions are. */
const BRANCHES = join('refs', 'heads', 'svc');

/**
 * What git may write for a worker in a worktree: objects, branches below `svc/`, and the worktree's own folder. All
 * else is read-only, so the user's branches, hooks and configuration are as they were. What would lead git, called by
 * somebody else in this worktree, to a configuration of the worker's making is read-only too: it could name programs.
 */
export function worktreeRules({ mark, own, common }: GitFolders): Place[] {
  // git removes a folder of refs that has become empty, and a mount with it: this keeps it, and is no ref to git.
  const keeps = present(join(made(join(common, BRANCHES)), 'confined.lock'));
  // Of the logs the one of its own branch, as a file that is there: somebody's git would follow a link to write it.
  const log = present(join(made(join(common, 'logs', BRANCHES)), basename(dirname(mark))));
  return [
    ...showing(common, 'read'),
    ...alternates(common),
    ...[join(common, 'objects'), join(common, BRANCHES), log, own].flatMap((path) => showing(path, 'write')),
    ...showing(sealedObjects(common), 'read'),
    // The other way in which a repository may keep its refs: one file for all of them.
    ...showing(join(common, 'reftable'), 'write'),
    ...[
      mark,
      join(own, 'commondir'),
      join(own, 'gitdir'),
      present(join(own, 'config.worktree')),
      made(join(own, 'modules')),
      keeps,
    ].flatMap((path) => showing(path, 'read')),
  ];
}

/** In a main checkout's `commondir`, where it is only during a run: that folder itself. */
export const NO_OTHER = '.\n';

/** The same for a worker in the project's folder itself: it commits on the branch that is checked out there. */
export function inplaceRules({ mark, own, common }: GitFolders): Place[] {
  const folders = [
    made(join(common, 'hooks')),
    made(join(common, 'modules')),
    join(common, 'info'),
    sealedObjects(common),
  ];
  // Of a main checkout too git would believe another folder for its configuration and hooks; this is how it says: none.
  const ofCommon = present(join(own, 'commondir'), NO_OTHER);
  const files = [join(common, 'config'), present(join(own, 'config.worktree')), ofCommon];
  return [
    ...showing(common, 'write'),
    ...showing(own, 'write'),
    ...alternates(common),
    ...(own === common ? [] : showing(mark, 'read')),
    ...[...folders, ...files, join(own, 'gitdir')].flatMap((path) => showing(path, 'read')),
    // The metadata of the sessions' worktrees, but not of this one.
    ...(dirname(own) === join(common, 'worktrees') ? [] : showing(join(common, 'worktrees'), 'read')),
  ];
}

/** For what may look into the repository only. */
export const lookingRules = ({ mark, common }: GitFolders): Place[] => [
  ...showing(common, 'read'),
  ...alternates(common),
  ...showing(mark, 'read'),
];
