import { SvcError } from '../../core/base/errors.ts';
import { formatCount } from '../../core/base/text.ts';
import type { Worktrees } from '../../workers/runner/worktrees/index.ts';
import type { LanguageFinding } from './language/check-language.ts';
import type { GuardThread } from './thread/thread.ts';
import type { CopyFinding, WantedChecks, WriteReport } from './writes/check-writes.ts';

/** The part of a project to check. */
export interface CheckRequest {
  /** The absolute folder of its sources. */
  root: string;
  /** Files and folders, relative to it: all of their content is treated as new. */
  paths: readonly string[] | null;
  /** A git commit range such as `main..HEAD`; null for uncommitted changes. */
  range: string | null;
  wanted: WantedChecks;
  signal: AbortSignal;
  progress(message: string): void;
}

export interface CheckResult {
  copies: CopyFinding[];
  languages: LanguageFinding[];
  /** Number of compared files. */
  files: number;
  /** True if there are more findings or changes than returned. */
  isPartial: boolean;
  /** See `WriteReport`. */
  lost: WriteReport['lost'];
  /** Named paths that are not sources of the project. */
  unread: string[];
}

const MOST_CHANGED = 2000;

/** Checks files of a project, or its changes. Throws `git_failed` for an unknown range. */
export async function checkProject(
  thread: GuardThread,
  { root, paths, range, wanted, signal, progress }: CheckRequest,
  { readChangedTexts, isWanted }: Pick<Worktrees, 'readChangedTexts'> & { isWanted(path: string): boolean },
): Promise<CheckResult> {
  progress('reads the changes since the last time');
  const state = await thread.call('refresh', { root });
  if (paths !== null) {
    progress(`compares with ${formatCount(state.files, 'file')}`);
    const { copies, ...rest } = await thread.call('checkFiles', { root, paths: [...paths], wanted });
    return { copies: dropTwins(copies), ...rest };
  }
  const read = await readChangedTexts(root, range, { most: MOST_CHANGED, isWanted });
  if (read === null)
    throw new SvcError(
      'git_failed',
      range === null ? `git cannot compare ${root} with its last commit` : `git knows no range ${range}`,
      { hint: 'name two commits, such as main..HEAD, or files' },
    );
  const result: CheckResult = {
    copies: [],
    languages: [],
    files: 0,
    isPartial: read.isCut,
    lost: [],
    unread: [],
  };
  for (const { path, before, after } of read.changed) {
    signal.throwIfAborted();
    const write = after === undefined ? { path, before } : { path, before, text: after };
    const done = await thread.call('check', { root, writes: [write], wanted, budgetMs: null });
    result.copies.push(...done.copies);
    result.languages.push(...done.languages);
    result.lost.push(...done.lost);
    result.files += done.files;
    result.isPartial ||= done.isPartial;
  }
  return { ...result, copies: dropTwins(result.copies) };
}

/** Drops one of each pair: if two places are both new, each is a copy of the other, and only the second is reported. */
function dropTwins(copies: readonly CopyFinding[]): CopyFinding[] {
  const told = new Set<string>();
  return copies.filter(({ path, from, original }) => {
    if (told.has(`${original.path}:${original.from} ${path}:${from}`)) return false;
    told.add(`${path}:${from} ${original.path}:${original.from}`);
    return true;
  });
}
