import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { asSvcError, SvcError } from '../../../../core/base/errors.ts';
import { mapLimit } from '../../../../core/base/map-limit.ts';
import { compareText } from '../../../../core/base/text.ts';
import type { Git } from '../git/git.ts';
import { branchRef } from '../git/refs.ts';
import { readRegularFile } from '../git/regular-file.ts';
import {
  findOperation,
  type GitRepository,
  mayExist,
  resolveRepository,
  type WorktreeEntry,
} from '../git/repository.ts';
import { listUncommitted } from './contents.ts';
import { gitDirOfWorktree } from './inspect.ts';
import {
  baseMissingError,
  type ListingRequest,
  listSessionWorktrees,
  resolveBaseName,
  type WorktreePairing,
} from './listing.ts';
import { findMergeStates, type MergeState, readTrees } from './merge-state.ts';
import { WORKTREE_STATES, type WorktreeState } from './states.ts';
import { isUnchanged } from './unchanged.ts';
import { findProcessesInside, type WorkingFolders } from './working-folders.ts';

export interface StatusRequest extends ListingRequest {
  /** Return only those in this state. */
  state?: WorktreeState | undefined;
  /** Return at most this many, the newest. */
  limit?: number | undefined;
  /** Return only worktrees of these branches. */
  isWanted?: ((branch: string) => boolean) | undefined;
}

export interface SessionWorktree {
  /** `svc/<session>`. */
  branch: string;
  /** The branch's commit; null if there is no such branch. */
  head: string | null;
  /** The worktree's folder; null if the branch has none. */
  path: string | null;
  /** The checked-out ref of the worktree if not the session's branch: a branch name or a commit. */
  checkedOut: string | null;
  /** True if tracked files are changed, staged or in conflict; null if that could not be read. */
  dirty: boolean | null;
  /** True if files are neither tracked nor ignored; null if that could not be read. */
  untracked: boolean | null;
  /** Commits that only the branch has, and that only the base has; null if they could not be read, or without a base. */
  ahead: number | null;
  behind: number | null;
  /** True if the base contains the branch's work, also when squashed or rebased (R3); null as above. */
  merged: boolean | null;
  /** True if one of branch and worktree is missing. */
  orphan: boolean;
  /** True if a process works in it; null if that is unknown. */
  live: boolean | null;
  locked: boolean;
  /** A merge, rebase, cherry-pick or revert that was left unfinished. */
  operation: string | null;
  /** The reason why the worktree, or its branch, could not be inspected. */
  unreadable: string | null;
}

export interface RepositoryStatus {
  worktrees: SessionWorktree[];
  /** The total number, including entries beyond the limit. */
  total: number;
  /** The reason why they could not be compared with the base, if so. */
  problem: SvcError | null;
}

/** Lists every state that a worktree is in. */
export function listWorktreeStates(worktree: SessionWorktree): WorktreeState[] {
  const { dirty, untracked, merged, orphan, live, unreadable } = worktree;
  const isDirty = dirty === true || untracked === true;
  const isIn: Record<WorktreeState, boolean> = {
    unreadable: unreadable !== null,
    dirty: isDirty,
    clean: dirty === false && untracked === false && unreadable === null,
    merged: merged === true,
    unmerged: merged === false,
    orphan,
    live: live === true,
  };
  return WORKTREE_STATES.filter((state) => isIn[state]);
}

/** Number inspected concurrently: git mostly waits, and more than the processors can handle would block each other. */
const MOST_AT_ONCE = 4;

let byNumber: Intl.Collator | undefined;

/** Compares by the numbers in their names; no two branches are equal. */
export function compareNewestFirst(one: { branch: string }, other: { branch: string }): number {
  // The first object of Intl takes 5 ms of an engine's start.
  byNumber ??= new Intl.Collator('en', { numeric: true });
  return byNumber.compare(other.branch, one.branch) || compareText(one.branch, other.branch);
}

/** The shared data of all rows of a list. */
interface StatusContext {
  repository: GitRepository;
  /** Trees of the commits that are checked out. */
  trees: ReadonlyMap<string, string>;
  folders: Map<number, string> | null;
  isExcluded(name: string): boolean;
}

/** The session branches and worktrees of a repository, newest first. */
export async function readWorktreeStatus(
  git: Git,
  workingFolders: WorkingFolders,
  request: StatusRequest,
): Promise<RepositoryStatus> {
  const repository = await resolveRepository(git, request.repository);
  const { root, commonDir } = repository;
  const { limit = Number.POSITIVE_INFINITY, state, isWanted = () => true } = request;
  const { name, problem: unnamed } = tryBaseName(repository, request.base);
  const { pairings: all, base: target } = await listSessionWorktrees(git, root, { ...request, base: name });
  const pairings = all.filter(({ branch }) => isWanted(branch)).sort(compareNewestFirst);
  // Without a filter the rest need not be inspected.
  const looked = state === undefined ? pairings.slice(0, limit) : pairings;
  const heads = looked.flatMap(({ head }) => head ?? []);
  // Start this early: folders are inspected while git works.
  const standings =
    target === null ? Promise.resolve(new Map()) : findMergeStates(git, repository, target, heads);
  standings.catch(() => undefined);
  const ground: StatusContext = {
    repository,
    trees: await readTrees(
      git,
      root,
      looked.flatMap(({ entry }) => entry?.head ?? []),
    ).catch(() => new Map()),
    folders: workingFolders(),
    isExcluded: isSvcFolderExcluded(commonDir) ? (entry) => entry === '.svc' : () => false,
  };
  const inspected = await mapLimit(looked, MOST_AT_ONCE, (pairing) => describeWorktree(git, ground, pairing));
  // A row that waited for this would keep the next folder waiting.
  const states = await standings;
  const rows = inspected.map((row) => addMergeState(row, states));
  const wanted = state === undefined ? rows : rows.filter((row) => listWorktreeStates(row).includes(state));
  return {
    worktrees: wanted.slice(0, limit),
    total: state === undefined ? pairings.length : wanted.length,
    problem: unnamed ?? (name !== null && target === null ? baseMissingError(root, name) : null),
  };
}

function tryBaseName(
  repository: GitRepository,
  base?: string,
): { name: string | null; problem: SvcError | null } {
  try {
    return { name: resolveBaseName(repository, base), problem: null };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    return { name: null, problem: error };
  }
}

const isSvcFolderExcluded = (commonDir: string): boolean =>
  (readRegularFile(join(commonDir, 'info', 'exclude')) ?? '').split(/\r?\n/).includes('.svc/');

async function describeWorktree(
  git: Git,
  ground: StatusContext,
  { branch, head, entry, stray }: WorktreePairing,
): Promise<SessionWorktree> {
  const path = entry?.path ?? stray;
  const isThere = path !== null && mayExist(path);
  const inside = isThere ? findProcessesInside(path, ground.folders) : [];
  const isOwn = entry === null || entry.ref === branchRef(branch);
  const result: SessionWorktree = {
    branch,
    head,
    path,
    checkedOut: isOwn ? null : (entry.ref?.replace(/^refs\/heads\//, '') ?? entry.head),
    dirty: isThere ? null : false,
    untracked: isThere ? null : false,
    ahead: null,
    behind: null,
    merged: null,
    orphan: head === null || entry === null || !isThere,
    live: inside === null ? null : inside.length > 0,
    locked: entry?.locked != null,
    operation: null,
    unreadable: null,
  };
  if (stray !== null) result.unreadable = 'git does not know this folder as a worktree';
  else if (entry !== null && isThere) Object.assign(result, await inspectFiles(git, ground, entry));
  return result;
}

/** Adds how a branch relates to the base. @param states by commit; null for one that git cannot read */
function addMergeState(
  row: SessionWorktree,
  states: ReadonlyMap<string, MergeState | null>,
): SessionWorktree {
  const state = row.head === null ? undefined : states.get(row.head);
  if (state === null) return { ...row, unreadable: row.unreadable ?? 'git cannot read its commits' };
  return { ...row, ...state };
}

/** Inspects what a worktree holds that is in no commit. */
async function inspectFiles(
  git: Git,
  { repository, trees, isExcluded }: StatusContext,
  { path, head }: WorktreeEntry,
): Promise<Partial<SessionWorktree>> {
  // Let other work run between two folders.
  await nextTurn();
  try {
    const gitDir = await gitDirOfWorktree(git, path, repository.commonDir);
    const operation = findOperation(gitDir);
    if (isUnchanged(path, gitDir, trees.get(head ?? '') ?? '', isExcluded))
      return { dirty: false, untracked: false, operation };
    const files = await listUncommitted(git, path, gitDir);
    return { dirty: files.changed.length > 0, untracked: files.untracked.length > 0, operation };
  } catch (error) {
    return { unreadable: asSvcError(error).message };
  }
}
