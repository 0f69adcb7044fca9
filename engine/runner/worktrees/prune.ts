import { readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { asSvcError, SvcError } from '../../base/errors.ts';
import { mapLimit } from '../../base/map-limit.ts';
import type { KeyedQueue } from '../../base/serial-queue.ts';
import { type Contents, contentsOf } from './files.ts';
import type { Git } from './git.ts';
import { keepIgnored, worthNaming } from './ignored.ts';
import { baseNameOf, isIn, type ListingRequest, listing, noBase, type Pairing } from './listing.ts';
import { processesInside, type WorkingFolders } from './live.ts';
import { gitDirOfWorktree } from './look.ts';
import { type Standing, standingsOf } from './merged.ts';
import { ownGitDir } from './own-git-dir.ts';
import {
  branchRef,
  commitOf,
  compareAndSet,
  isAncestor,
  lies,
  operationIn,
  repositoryAt,
} from './repository.ts';

export interface PruneRequest extends ListingRequest {
  /** Sessions that are not over, or whose worktree is to be kept. Asked again at the deletion. */
  keep: (branch: string) => boolean;
  /**
   * Whether the branch is that of a session of this workspace; `path` is its worktree's folder. Several workspaces may
   * share a repository: what is another's is not looked at. What lies in `worktreesDir` is this one's in any case.
   */
  isOurs: (branch: string, path: string | null) => boolean;
}

export interface PruneEntry {
  branch: string;
  /** The branch's commit; null when there is no such branch. */
  head: string | null;
  path: string | null;
  action: 'remove' | 'keep';
  /** Why it is kept; empty when it is removed. */
  reasons: string[];
  /** Files and folders that git ignores and that go with it: in no commit, and not what a package manager makes again. */
  ignored: string[];
}

export interface PrunePlan {
  /** The checkout's top folder. */
  repository: string;
  commonDir: string;
  base: string;
  /** Where to look again for what the plan was made from. */
  look: Pick<ListingRequest, 'worktreesDir' | 'isElsewhere'>;
  entries: PruneEntry[];
  keep: (branch: string) => boolean;
}

export interface PruneResult {
  /** `ignored` says in a sentence what went that no commit holds, or where it is kept. */
  removed: { branch: string; path: string | null; savedRefs: string[]; ignored: string[] }[];
  /** Planned for removal, but no longer safe at that moment. */
  refused: { branch: string; path: string | null; reasons: string[] }[];
  /** Planned for removal, but somebody else has removed it meanwhile. */
  gone: { branch: string; path: string | null }[];
}

/** With the base's commit now, null when there is no such base, and how commits stand to it. */
type Context = Pick<PrunePlan, 'repository' | 'commonDir' | 'base' | 'keep'> & {
  target: string | null;
  standings: ReadonlyMap<string, Standing | null>;
};

const commitsOf = ({ head, entry }: Pairing): string[] =>
  [...new Set([head, entry?.head])].filter((commit) => commit != null);

const standingsFor = (
  git: Git,
  { repository: root, commonDir }: Pick<PrunePlan, 'repository' | 'commonDir'>,
  target: string | null,
  pairings: readonly Pairing[],
): Promise<Map<string, Standing | null>> =>
  target === null
    ? Promise.resolve(new Map())
    : standingsOf(git, { root, commonDir }, target, pairings.flatMap(commitsOf));

const shown = (paths: readonly string[]): string => paths.slice(0, 3).join(', ');

/** What of a worktree's files speaks against its removal. */
const workIn = ({ changed, untracked, nested }: Contents): string[] => [
  ...(changed.length > 0 ? [`uncommitted changes: ${shown(changed)}`] : []),
  ...(untracked.length > 0 ? [`untracked files: ${shown(untracked)}`] : []),
  ...(nested.length > 0 ? [`holds the git repository ${shown(nested)}`] : []),
];

/**
 * Every reason against removing a session's branch and worktree (R1). Empty means safe, at this moment.
 * @param ignored is filled with what git ignores there
 */
async function reasonsAgainst(
  git: Git,
  folders: WorkingFolders,
  { repository, commonDir, base, keep, standings }: Context,
  pairing: Pairing,
  ignored: string[] = [],
): Promise<string[]> {
  const { branch, head, entry, stray, elsewhere } = pairing;
  // One reason is enough, and a promotion keeps every branch but its own.
  if (keep(branch)) return ['its session is kept'];
  const reasons: string[] = [];
  const unmerged = (commit: string, what: string): string[] => {
    const standing = standings.get(commit);
    if (standing === null) return [`unreadable: git cannot read the commit ${commit.slice(0, 12)}`];
    return standing?.merged === true ? [] : [what];
  };
  if (elsewhere !== null) reasons.push(`checked out at ${elsewhere}`);
  if (head !== null) reasons.push(...unmerged(head, `unmerged work (not in ${base})`));
  if (entry === null) return [...reasons, ...(stray === null ? [] : againstStray(stray))];
  if (entry.locked !== null) reasons.push(entry.locked === '' ? 'locked' : `locked: ${entry.locked}`);
  // Commits that only the worktree's HEAD holds, e.g. after the agent has switched or detached it.
  if (entry.head !== null && entry.head !== head) {
    const isHeld = head !== null && (await isAncestor(git, repository, entry.head, head));
    if (!isHeld) reasons.push(...unmerged(entry.head, 'its HEAD holds unmerged work'));
  }
  if (!lies(entry.path)) return reasons;
  try {
    const gitDir = await gitDirOfWorktree(git, entry.path, commonDir);
    const inside = processesInside(entry.path, folders());
    if (inside === null) reasons.push('it cannot be known whether a process works in it');
    else if (inside.length > 0) reasons.push(`process ${inside.join(', ')} works in it`);
    const files = await contentsOf(git, entry.path, gitDir);
    ignored.push(...files.ignored);
    reasons.push(...workIn(files));
    const operation = operationIn(gitDir);
    if (operation !== null) reasons.push(`a ${operation} was left unfinished in it`);
  } catch (error) {
    reasons.push(`unreadable: ${asSvcError(error).message}`);
  }
  return reasons;
}

function againstStray(folder: string): string[] {
  try {
    return readdirSync(folder).length > 0 ? ['unreadable: git does not know this folder'] : [];
  } catch (error) {
    // Somebody else has removed it.
    return lies(folder) ? [`unreadable: ${(error as Error).message}`] : [];
  }
}

const pathOf = (pairing: Pairing): string | null => pairing.entry?.path ?? pairing.stray;

/**
 * What `prune` would do now, with the reason for everything that it would leave. Throws `usage` or `not_found` where there is
 * no base to be merged into.
 */
export async function prunePlan(
  git: Git,
  folders: WorkingFolders,
  request: PruneRequest,
): Promise<PrunePlan> {
  const repository = await repositoryAt(git, request.repository);
  const { root, commonDir } = repository;
  const base = baseNameOf(repository, request.base);
  const { keep, isOurs, worktreesDir, isElsewhere } = request;
  const look = {
    ...(worktreesDir === undefined ? {} : { worktreesDir }),
    ...(isElsewhere === undefined ? {} : { isElsewhere }),
  };
  const { pairings, base: target } = await listing(git, root, { ...look, base });
  if (target === null) throw noBase(root, base);
  const ours = pairings.filter((pairing) => {
    const path = pathOf(pairing);
    return isIn(worktreesDir, path) || isOurs(pairing.branch, path);
  });
  const plan = { repository: root, commonDir, base, look, keep };
  // What is kept in any case need not be compared.
  const compared = ours.filter(({ branch }) => !keep(branch));
  const context = { ...plan, target, standings: await standingsFor(git, plan, target, compared) };
  const entries = await mapLimit(ours, MOST_AT_ONCE, async (pairing): Promise<PruneEntry> => {
    const ignored: string[] = [];
    const reasons = await reasonsAgainst(git, folders, context, pairing, ignored);
    const { branch, head } = pairing;
    const path = pathOf(pairing);
    if (reasons.length > 0) return { branch, head, path, action: 'keep', reasons, ignored: [] };
    return { branch, head, path, action: 'remove', reasons, ignored: worthNaming(ignored) };
  });
  return { ...plan, entries };
}

/** Worktrees that are looked at together. */
const MOST_AT_ONCE = 4;

/** Keeps a commit before the branch that held it goes. Throws when that cannot be verified. */
async function save(git: Git, root: string, branch: string, commit: string): Promise<string> {
  const ref = `refs/svc/pruned/${branch}/${commit.slice(0, 12)}`;
  // Not made where it is there already; what it holds is looked at in any case.
  await compareAndSet(git, root, ref, commit, null, 'pruned');
  if ((await commitOf(git, root, ref)) === commit) return ref;
  throw new SvcError('git_failed', `the commit ${commit} of ${branch} could not be saved under ${ref}`);
}

/**
 * Removes a worktree that was found safe a moment ago. It is moved aside first, where nobody writes any more, and looked at
 * once more there: a file that came too late takes it back (R1). git is not asked to do this, since it refuses every worktree
 * with submodules unless it is forced, and then looks at nothing.
 * @param keptIn where large ignored files are kept; null for nowhere
 * @returns what ignored files went with it, or where they are kept, in a sentence
 */
async function removeWorktree(
  git: Git,
  { repository: root, commonDir }: Pick<PrunePlan, 'repository' | 'commonDir'>,
  path: string,
  keptIn: string | null,
): Promise<string[]> {
  let said: string[] = [];
  const aside = `${path}.removing`;
  const doomed = `${path}.removed`;
  // What an engine that was killed here has left: looked at anew, or found safe and half deleted.
  if (!lies(path) && lies(aside)) renameSync(aside, path);
  rmSync(doomed, { recursive: true, force: true, maxRetries: 3 });
  if (lies(path)) {
    const gitDir = ownGitDir(path, commonDir);
    if (lies(aside))
      throw new SvcError('worktree_unsafe', `${aside} is in the way`, { hint: 'look at it by hand' });
    renameSync(path, aside);
    try {
      const files = await contentsOf(git, aside, gitDir);
      const late = workIn(files);
      if (late.length > 0) throw new SvcError('worktree_unsafe', late.join('; '));
      said = keepIgnored(aside, files.ignored, keptIn);
    } catch (error) {
      renameSync(aside, path);
      throw error;
    }
    renameSync(aside, doomed);
    rmSync(doomed, { recursive: true, force: true, maxRetries: 3 });
  }
  // Only its entry is left of it.
  await git.run(root, ['worktree', 'remove', path]);
  if (lies(path)) throw new SvcError('worktree_unsafe', `${path} is still there`);
  return said;
}

export interface PruneSteps {
  /** Runs ahead of each removal, and what it leaves is looked at like anything else. */
  before?: ((entry: PruneEntry) => Promise<void>) | undefined;
  /** Where ignored files of a worktree are kept that are too large to go without a word; null for nowhere. */
  asideOf?(worktree: string): string | null;
}

/**
 * Carries a plan out. Every entry is examined again right before its deletion, after whatever `before` has done there;
 * nothing is forced.
 */
export async function prune(
  git: Git,
  folders: WorkingFolders,
  queue: KeyedQueue,
  plan: PrunePlan,
  { before, asideOf }: PruneSteps = {},
): Promise<PruneResult> {
  const { repository: root, commonDir, look } = plan;
  const result: PruneResult = { removed: [], refused: [], gone: [] };
  /** The session's branch and worktree as they are now; null once both are gone. */
  const pairingNow = async (branch: string) => {
    const { pairings, base: target } = await listing(git, root, { ...look, base: plan.base });
    return { target, pairing: pairings.find((candidate) => candidate.branch === branch) ?? null };
  };
  for (const planned of plan.entries) {
    if (planned.action !== 'remove') continue;
    const { branch, path } = planned;
    const refuse = (reasons: string[]): void => void result.refused.push({ branch, path, reasons });
    const remove = async (): Promise<void> => {
      const { target, pairing } = await pairingNow(branch);
      if (pairing === null) return void result.gone.push({ branch, path });
      if (pairing.head !== planned.head || pathOf(pairing) !== path) return refuse(['it has changed since']);
      const standings = await standingsFor(git, plan, target, [pairing]);
      const reasons = await reasonsAgainst(git, folders, { ...plan, target, standings }, pairing);
      if (reasons.length > 0) return refuse(reasons);

      const savedRefs: string[] = [];
      for (const commit of commitsOf(pairing)) savedRefs.push(await save(git, root, branch, commit));
      const { entry, stray, head } = pairing;
      const ignored =
        entry === null ? [] : await removeWorktree(git, plan, entry.path, asideOf?.(entry.path) ?? null);
      if (stray !== null) rmdirSync(stray);
      if (head !== null) await git.run(root, ['update-ref', '--no-deref', '-d', branchRef(branch), head]);
      result.removed.push({ branch, path, savedRefs, ignored });
    };
    try {
      await before?.(planned);
      await queue(commonDir, remove);
    } catch (error) {
      // Another engine may have removed it between two of our looks.
      const { pairing } = await pairingNow(branch).catch(() => ({ pairing: undefined }));
      if (pairing === null) result.gone.push({ branch, path });
      else refuse([asSvcError(error).message]);
    }
  }
  return result;
}
