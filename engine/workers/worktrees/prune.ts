import { existsSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { SvcError } from '../../errors.ts';
import { contentsOf } from './files.ts';
import type { Git } from './git.ts';
import { keepIgnored } from './ignored.ts';
import { processesInside, type WorkingFolders } from './live.ts';
import { verifyToplevel } from './look.ts';
import { isCommitMerged } from './merged.ts';
import type { Queue } from './queue.ts';
import { branchRef, commitOf, compareAndSet, isAncestor, operationIn, repositoryAt } from './repository.ts';
import { baseNameOf, isIn, listing, listingWithBase, type Pairing, type StatusRequest } from './status.ts';

export interface PruneRequest extends StatusRequest {
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
}

export interface PrunePlan {
  /** The checkout's top folder. */
  repository: string;
  commonDir: string;
  base: string;
  worktreesDir: string | null;
  entries: PruneEntry[];
  keep: (branch: string) => boolean;
}

export interface PruneResult {
  /** `ignored` says in a sentence what went that no commit holds, or where it is kept. */
  removed: { branch: string; path: string | null; savedRefs: string[]; ignored: string[] }[];
  /** Planned for removal, but no longer safe at that moment. */
  refused: { branch: string; path: string | null; reasons: string[] }[];
}

/** With the base's commit now; null when there is no such base. */
type Context = Pick<PrunePlan, 'repository' | 'base' | 'keep'> & { target: string | null };

/**
 * Every reason against removing a session's branch and worktree (R1). Empty means safe, at this moment.
 * @param ignored is filled with what git ignores there
 */
async function reasonsAgainst(
  git: Git,
  folders: WorkingFolders,
  { repository, base, target, keep }: Context,
  pairing: Pairing,
  ignored: string[] = [],
): Promise<string[]> {
  const { branch, head, entry, stray, elsewhere } = pairing;
  // One reason is enough, and a promotion keeps every branch but its own.
  if (keep(branch)) return ['its session is kept'];
  const reasons: string[] = [];
  const isMerged = async (commit: string): Promise<boolean> =>
    target !== null && isCommitMerged(git, repository, commit, target);
  if (elsewhere !== null) reasons.push(`checked out at ${elsewhere}`);
  if (head !== null && !(await isMerged(head))) reasons.push(`unmerged work (not in ${base})`);
  if (stray !== null && readdirSync(stray).length > 0)
    reasons.push('unreadable: git does not know this folder');
  if (entry === null) return reasons;
  if (entry.locked !== null) reasons.push(entry.locked === '' ? 'locked' : `locked: ${entry.locked}`);
  // Commits that only the worktree's HEAD holds, e.g. after the agent has switched or detached it.
  if (entry.head !== null && entry.head !== head) {
    const isHeld = head !== null && (await isAncestor(git, repository, entry.head, head));
    if (!isHeld && !(await isMerged(entry.head))) reasons.push('its HEAD holds unmerged work');
  }
  if (statSync(entry.path, { throwIfNoEntry: false }) === undefined) return reasons;
  try {
    const gitDir = await verifyToplevel(git, entry.path);
    const inside = processesInside(entry.path, folders());
    if (inside === null) reasons.push('it cannot be known whether a process works in it');
    else if (inside.length > 0) reasons.push(`process ${inside.join(', ')} works in it`);
    const files = await contentsOf(git, entry.path);
    ignored.push(...files.ignored);
    if (files.changed.length > 0)
      reasons.push(`uncommitted changes: ${files.changed.slice(0, 3).join(', ')}`);
    if (files.untracked.length > 0)
      reasons.push(`untracked files: ${files.untracked.slice(0, 3).join(', ')}`);
    const operation = operationIn(gitDir);
    if (operation !== null) reasons.push(`a ${operation} was left unfinished in it`);
    if (files.nested.length > 0)
      reasons.push(`holds the git repository ${files.nested.slice(0, 3).join(', ')}`);
  } catch (error) {
    reasons.push(`unreadable: ${error instanceof Error ? error.message : String(error)}`);
  }
  return reasons;
}

const pathOf = (pairing: Pairing): string | null => pairing.entry?.path ?? pairing.stray;

/** What `prune` would do now, with the reason for everything that it would leave. */
export async function prunePlan(
  git: Git,
  folders: WorkingFolders,
  request: PruneRequest,
): Promise<PrunePlan> {
  const repository = await repositoryAt(git, request.repository);
  const { root, commonDir } = repository;
  const base = baseNameOf(repository, request.base);
  const { keep, isOurs, worktreesDir } = request;
  const found = await listingWithBase(git, root, {
    base,
    ...(worktreesDir === undefined ? {} : { worktreesDir }),
  });
  const context = { repository: root, base, target: found.base, keep };
  const entries: PruneEntry[] = [];
  for (const pairing of found.pairings) {
    const path = pathOf(pairing);
    if (!isIn(worktreesDir, path) && !isOurs(pairing.branch, path)) continue;
    const reasons = await reasonsAgainst(git, folders, context, pairing);
    const { branch, head } = pairing;
    entries.push({
      branch,
      head,
      path,
      action: reasons.length > 0 ? 'keep' : 'remove',
      reasons,
    });
  }
  return { repository: root, commonDir, base, worktreesDir: worktreesDir ?? null, entries, keep };
}

/** Keeps a commit before the branch that held it goes. Throws when that cannot be verified. */
async function save(git: Git, root: string, branch: string, commit: string): Promise<string> {
  const ref = `refs/svc/pruned/${branch}/${commit.slice(0, 12)}`;
  // Not made where it is there already; what it holds is looked at in any case.
  await compareAndSet(git, root, ref, commit, null, 'pruned');
  if ((await commitOf(git, root, ref)) === commit) return ref;
  throw new SvcError('git_failed', `the commit ${commit} of ${branch} could not be saved under ${ref}`);
}

/** Removes a worktree that was found safe a moment ago. */
async function removeWorktree(git: Git, root: string, path: string): Promise<void> {
  const removal = await git.run(root, ['worktree', 'remove', path], { allowFail: true });
  if (removal.code !== 0) {
    // git refuses every worktree with submodules, also when none is initialised, which `findNested` has ruled out.
    if (!/submodules/.test(removal.stderr)) {
      throw new SvcError(
        'worktree_unsafe',
        removal.stderr.split('\n')[0]?.replace(/^fatal: /, '') ?? 'git refused',
      );
    }
    await git.run(root, ['worktree', 'remove', '--force', path]);
  }
  if (existsSync(path)) throw new SvcError('worktree_unsafe', `${path} is still there`);
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
  queue: Queue,
  plan: PrunePlan,
  { before, asideOf }: PruneSteps = {},
): Promise<PruneResult> {
  const { repository: root, commonDir, worktreesDir } = plan;
  const result: PruneResult = { removed: [], refused: [] };
  for (const planned of plan.entries) {
    if (planned.action !== 'remove') continue;
    const { branch } = planned;
    await before?.(planned);
    await queue(commonDir, async () => {
      const refuse = (...reasons: string[]): void =>
        void result.refused.push({ branch, path: planned.path, reasons });
      const said: string[] = [];
      try {
        const now = await listing(git, root, {
          base: plan.base,
          ...(worktreesDir === null ? {} : { worktreesDir }),
        });
        const pairing = now.pairings.find((candidate) => candidate.branch === branch);
        if (pairing === undefined) return; // somebody else has removed it
        if (pairing.head !== planned.head || pathOf(pairing) !== planned.path)
          return refuse('it has changed since');
        const ignored: string[] = [];
        const context = { ...plan, target: now.base };
        const reasons = await reasonsAgainst(git, folders, context, pairing, ignored);
        if (reasons.length > 0) return refuse(...reasons);

        const commits = new Set([pairing.head, pairing.entry?.head].filter((commit) => commit != null));
        const savedRefs: string[] = [];
        for (const commit of commits) savedRefs.push(await save(git, root, branch, commit));
        const { path = null } = pairing.entry ?? {};
        said.push(...(path === null ? [] : keepIgnored(path, ignored, asideOf?.(path) ?? null)));
        if (pairing.entry) await removeWorktree(git, root, pairing.entry.path);
        else if (pairing.stray) rmdirSync(pairing.stray);
        if (pairing.head !== null) {
          await git.run(root, ['update-ref', '--no-deref', '-d', branchRef(branch), pairing.head]);
        }
        result.removed.push({ branch, path: planned.path, savedRefs, ignored: said });
      } catch (error) {
        refuse(error instanceof Error ? error.message : String(error), ...said);
      }
    });
  }
  return result;
}
