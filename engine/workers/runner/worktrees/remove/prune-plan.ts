import { readdirSync } from 'node:fs';
import { asSvcError } from '../../../../core/base/errors.ts';
import { mapLimit } from '../../../../core/base/map-limit.ts';
import type { Git } from '../git/git.ts';
import { isAncestor } from '../git/refs.ts';
import { findOperation, mayExist, resolveRepository } from '../git/repository.ts';
import { readContents, type WorktreeContents } from '../inspect/contents.ts';
import type { IgnoreRules, IgnoringPlace } from '../inspect/ignore-rules.ts';
import { selectIgnoredWork } from '../inspect/ignored.ts';
import { gitDirOfWorktree } from '../inspect/inspect.ts';
import {
  baseMissingError,
  isDirectlyIn,
  type ListingRequest,
  listSessionWorktrees,
  resolveBaseName,
  type WorktreePairing,
} from '../inspect/listing.ts';
import { findMergeStates, type MergeState } from '../inspect/merge-state.ts';
import { describeProcessesInside, type WorkingFolders } from '../inspect/working-folders.ts';

export interface PruneRequest extends ListingRequest {
  /** Reports whether to keep a branch: its session is not over, or its worktree has to be kept. Called again at deletion. */
  keep: (branch: string) => boolean;
  /**
   * Reports whether the branch belongs to a session of this workspace; `path` is its worktree's folder. Several
   * workspaces may share a repository, and branches of others are ignored. Anything in `worktreesDir` belongs to this
   * workspace.
   */
  isOurs: (branch: string, path: string | null) => boolean;
  /** The start commit of a session: files that its rules do not ignore are kept, even if the base now ignores them. */
  findStart?: (branch: string) => string | null;
}

export interface PruneEntry {
  branch: string;
  /** The branch's commit; null if there is no such branch. */
  head: string | null;
  path: string | null;
  action: 'remove' | 'keep';
  /** The reasons why it is kept; empty if it is removed. */
  reasons: string[];
  /** Ignored files and folders that are removed with it: in no commit, and not recreated by a package manager. */
  ignored: string[];
}

export interface PrunePlan {
  /** The checkout's top folder. */
  repository: string;
  commonDir: string;
  base: string;
  /** The locations to check again when the plan is executed. */
  look: Pick<ListingRequest, 'worktreesDir' | 'isElsewhere'>;
  entries: PruneEntry[];
  keep: (branch: string) => boolean;
  findStart: (branch: string) => string | null;
}

/** The base's current commit, null if there is no such base, and how commits relate to it. */
type Context = Pick<PrunePlan, 'repository' | 'commonDir' | 'base' | 'keep'> & {
  target: string | null;
  standings: ReadonlyMap<string, MergeState | null>;
};

export const listCommitsOf = ({ head, entry }: WorktreePairing): string[] =>
  [...new Set([head, entry?.head])].filter((commit) => commit != null);

export const findMergeStatesFor = (
  git: Git,
  { repository: root, commonDir }: Pick<PrunePlan, 'repository' | 'commonDir'>,
  target: string | null,
  pairings: readonly WorktreePairing[],
): Promise<Map<string, MergeState | null>> =>
  target === null
    ? Promise.resolve(new Map())
    : findMergeStates(git, { root, commonDir }, target, pairings.flatMap(listCommitsOf));

/** Describes files that block a worktree's removal and are ignored by git, but not by the base. */
export async function describeHiddenWork(
  git: Git,
  rules: IgnoreRules,
  place: IgnoringPlace,
  contents: WorktreeContents,
  target: string | null,
): Promise<string[]> {
  const hidden = target === null ? [] : await rules.listHiddenFrom(git, place, contents, target);
  return hidden.length === 0 ? [] : [`files hidden only by its own ignore rules: ${joinFirst(hidden)}`];
}

export const joinFirst = (paths: readonly string[]): string => paths.slice(0, 3).join(', ');

/** Describes files of a worktree that block its removal. */
export const describeUnsavedWork = ({ changed, untracked, nested }: WorktreeContents): string[] => [
  ...(changed.length > 0 ? [`uncommitted changes: ${joinFirst(changed)}`] : []),
  ...(untracked.length > 0 ? [`untracked files: ${joinFirst(untracked)}`] : []),
  ...(nested.length > 0 ? [`holds the git repository ${joinFirst(nested)}`] : []),
];

/**
 * Lists every reason against removing a session's branch and worktree (R1). Empty means safe at this moment.
 * @param ignored receives the ignored files found there
 */
export async function findReasonsToKeep(
  git: Git,
  { folders, rules }: { folders: WorkingFolders; rules: IgnoreRules },
  { repository, commonDir, base, target, keep, standings }: Context,
  pairing: WorktreePairing,
  ignored: string[] = [],
): Promise<string[]> {
  const { branch, head, entry, stray, elsewhere } = pairing;
  // One reason is enough here: a promotion keeps every branch but its own.
  if (keep(branch)) return ['its session is kept'];
  const reasons: string[] = [];
  const describeUnmerged = (commit: string, what: string): string[] => {
    const standing = standings.get(commit);
    if (standing === null) return [`unreadable: git cannot read the commit ${commit.slice(0, 12)}`];
    return standing?.merged === true ? [] : [what];
  };
  if (elsewhere !== null) reasons.push(`checked out at ${elsewhere}`);
  if (head !== null) reasons.push(...describeUnmerged(head, `unmerged work (not in ${base})`));
  if (entry === null) return [...reasons, ...(stray === null ? [] : findReasonsToKeepStray(stray))];
  if (entry.locked !== null) reasons.push(entry.locked === '' ? 'locked' : `locked: ${entry.locked}`);
  // Commits that only the worktree's HEAD holds, e.g. after the agent has switched or detached it.
  if (entry.head !== null && entry.head !== head) {
    const isHeld = head !== null && (await isAncestor(git, repository, entry.head, head));
    if (!isHeld) reasons.push(...describeUnmerged(entry.head, 'its HEAD holds unmerged work'));
  }
  if (!mayExist(entry.path)) return reasons;
  try {
    const gitDir = await gitDirOfWorktree(git, entry.path, commonDir);
    reasons.push(...(await describeProcessesInside(entry.path, folders)));
    const files = await readContents(git, entry.path, gitDir);
    ignored.push(...files.ignored);
    reasons.push(...describeUnsavedWork(files));
    const place = { path: entry.path, gitDir, commonDir };
    reasons.push(...(await describeHiddenWork(git, rules, place, files, target)));
    const operation = findOperation(gitDir);
    if (operation !== null) reasons.push(`a ${operation} was left unfinished in it`);
  } catch (error) {
    reasons.push(`unreadable: ${asSvcError(error).message}`);
  }
  return reasons;
}

export function findReasonsToKeepStray(folder: string): string[] {
  try {
    return readdirSync(folder).length > 0 ? ['unreadable: git does not know this folder'] : [];
  } catch (error) {
    // Another engine may have removed it.
    return mayExist(folder) ? [`unreadable: ${(error as Error).message}`] : [];
  }
}

export const pairingPath = (pairing: WorktreePairing): string | null => pairing.entry?.path ?? pairing.stray;

/**
 * Plans what `prune` would do now, with reasons for everything that stays. Throws `usage` or `not_found` if there is
 * no base to be merged into.
 */
export async function planPrune(
  git: Git,
  looks: { folders: WorkingFolders; rules: IgnoreRules },
  request: PruneRequest,
): Promise<PrunePlan> {
  const repository = await resolveRepository(git, request.repository);
  const { root, commonDir } = repository;
  const base = resolveBaseName(repository, request.base);
  const { keep, isOurs, findStart = () => null, worktreesDir, isElsewhere } = request;
  const look = {
    ...(worktreesDir === undefined ? {} : { worktreesDir }),
    ...(isElsewhere === undefined ? {} : { isElsewhere }),
  };
  const { pairings, base: target } = await listSessionWorktrees(git, root, { ...look, base });
  if (target === null) throw baseMissingError(root, base);
  const ours = pairings.filter((pairing) => {
    const path = pairingPath(pairing);
    return isDirectlyIn(worktreesDir, path) || isOurs(pairing.branch, path);
  });
  const plan = { repository: root, commonDir, base, look, keep, findStart };
  // Branches that are kept anyway need not be compared.
  const compared = ours.filter(({ branch }) => !keep(branch));
  const context = { ...plan, target, standings: await findMergeStatesFor(git, plan, target, compared) };
  const entries = await mapLimit(ours, MOST_AT_ONCE, async (pairing): Promise<PruneEntry> => {
    const ignored: string[] = [];
    const reasons = await findReasonsToKeep(git, looks, context, pairing, ignored);
    const { branch, head } = pairing;
    const path = pairingPath(pairing);
    if (reasons.length > 0) return { branch, head, path, action: 'keep', reasons, ignored: [] };
    return { branch, head, path, action: 'remove', reasons, ignored: selectIgnoredWork(ignored) };
  });
  return { ...plan, entries };
}

/** Number of worktrees inspected concurrently. */
const MOST_AT_ONCE = 4;
