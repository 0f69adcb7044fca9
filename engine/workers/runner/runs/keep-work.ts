import { asSvcError } from '../../../core/base/errors.ts';
import { formatCount } from '../../../core/base/text.ts';
import type { LocalPlacement } from '../../sessions/index.ts';
import { countBranch } from './count-branch.ts';
import type { LocalRunnerDeps } from './deps.ts';
import { sessionFolder } from './folders.ts';
import { type KeepOrder, type KeptWorktree, NOTHING_KEPT } from './runner.ts';

type Deps = Pick<LocalRunnerDeps, 'worktrees' | 'paths' | 'log'>;
type Work = KeepOrder<LocalPlacement> & { placement: LocalPlacement };

/** The longest that saving may take, ms: a filter of git may wait for ever. */
const LONGEST_MS = 10 * 60_000;

/** See `Runner.keep`. Never throws: the run has ended regardless of git errors. */
export async function keepWork(deps: Deps, order: KeepOrder<LocalPlacement>): Promise<KeptWorktree> {
  const { placement, message } = order;
  if (placement === null) return NOTHING_KEPT;
  const work = { ...order, placement };
  clearTraps(deps, work);
  if (message === null) return handOver(deps, work);
  const { worktree, branch } = placement;
  return worktree === null || branch === null
    ? countInPlace(deps, work)
    : commitWork(deps, work, { worktree, branch, message });
}

/** Before git is called in a folder that a confined run has written. */
function clearTraps({ worktrees, log }: Deps, { sessionId, profile, placement, isAlone }: Work): void {
  const folder = placement.worktree ?? placement.repository;
  if (profile !== 'strict' || folder === null) return;
  const traps = worktrees.clearTraps(folder);
  if (traps.length > 0)
    log.warn({ session: sessionId, traps }, 'the worker left pipes or links for git, which were removed');
  if (placement.worktree === null && isAlone) worktrees.releaseCheckout(folder);
}

/** A later run may be outside of the sandbox, and a person may look before. */
async function handOver(deps: Deps, work: Work): Promise<KeptWorktree> {
  const { sessionId, profile, placement } = work;
  if (profile !== 'strict') return NOTHING_KEPT;
  if (placement.worktree === null) return { ...NOTHING_KEPT, left: await setRepositoriesAside(deps, work) };
  const problem = await deps.worktrees.takeOverWorktree(placement.worktree);
  if (problem !== null) deps.log.warn({ session: sessionId, problem }, 'could not take over the work');
  return NOTHING_KEPT;
}

/** Commits the worker's leftovers on its branch. */
async function commitWork(
  deps: Deps,
  { sessionId, placement, signal }: Work,
  { worktree, branch, message }: { worktree: string; branch: string; message: string },
): Promise<KeptWorktree> {
  try {
    const end = await deps.worktrees.finish({
      path: worktree,
      branch,
      baseCommit: placement.baseCommit ?? '',
      ...(placement.repository === null ? {} : { repository: placement.repository }),
      message,
      signal: AbortSignal.any([AbortSignal.timeout(LONGEST_MS), ...(signal === undefined ? [] : [signal])]),
    });
    const left = [
      ...end.savedRefs.map((ref) => `commits made outside the branch are kept under ${ref}`),
      ...end.nested.map((path) => `${path} is a separate repository; its commits are only in the worktree`),
      ...(end.hidden.length === 0 ? [] : [describeHidden(end.hidden, worktree)]),
      ...(end.unsafe === undefined ? [] : [end.unsafe]),
      ...(await describePlantedSettings(deps, worktree, sessionId)),
    ];
    return {
      headCommit: end.head,
      commits: end.commits,
      files: end.files,
      insertions: end.insertions,
      deletions: end.deletions,
      left,
    };
  } catch (error) {
    const { message: text } = asSvcError(error);
    deps.log.error({ session: sessionId, error: text }, 'the work could not be committed');
    return { ...NOTHING_KEPT, left: [`the work is still in ${worktree}, uncommitted: ${text}`] };
  }
}

const describeHidden = (files: readonly string[], worktree: string): string =>
  `only ignore rules that it wrote itself hide ${formatCount(files.length, 'file')} (${files.slice(0, 5).join(', ')}): in no commit, only in ${worktree}`;

/** Describes settings of git that were written during the run; the engine's own calls do not follow them. */
async function describePlantedSettings(
  { worktrees }: Deps,
  folder: string,
  sessionId: string,
): Promise<string[]> {
  const none = { programs: [], places: [] };
  const { programs, places } = await worktrees.findPlantedSettings(folder).catch(() => none);
  const nameSome = (names: readonly string[]): string => names.slice(0, 5).join(', ');
  return [
    ...(programs.length === 0
      ? []
      : [
          `git was set to run programs during the run (${nameSome(programs)}): svc does not run them, but your own git would; git config --show-origin --get ${programs[0]} shows where`,
        ]),
    ...(places.length === 0
      ? []
      : [
          `settings of git that decide where a push goes were changed during the run (${nameSome(places)}); svc worktree settings ${sessionId} shows them, and accepts them as yours`,
        ]),
  ];
}

/** Moves repositories that a confined run has left below its folder out of it. */
async function setRepositoriesAside(deps: Deps, { sessionId, profile, placement }: Work): Promise<string[]> {
  if (profile !== 'strict' || placement.worktree !== null) return [];
  const kept = sessionFolder(deps, sessionId);
  const found = await deps.worktrees.setAsideRepositories(placement.cwd, kept, deps.paths.agents);
  if (found.length > 0)
    deps.log.warn({ session: sessionId, found }, 'repositories that it created were moved');
  return found;
}

/** In place the checkout is the user's: svc commits nothing there. */
async function countInPlace(deps: Deps, work: Work): Promise<KeptWorktree> {
  const { repository, baseCommit } = work.placement;
  // Before git is called there.
  const left = await setRepositoriesAside(deps, work);
  if (repository !== null) left.push(...(await describePlantedSettings(deps, repository, work.sessionId)));
  if (repository === null || baseCommit === null) return { ...NOTHING_KEPT, left };
  try {
    return { ...(await countBranch(deps.worktrees, { repository, head: 'HEAD', baseCommit })), left };
  } catch (error) {
    left.push(`its work in ${repository} could not be read: ${asSvcError(error).message}`);
    return { ...NOTHING_KEPT, left };
  }
}
