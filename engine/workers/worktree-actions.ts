import type { Session, Sessions } from '../bus/sessions/index.ts';
import { asSvcError, SvcError } from '../errors.ts';
import type { Caller } from '../operation.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import {
  type PromoteResult,
  type PruneEntry,
  type PruneResult,
  type SessionWorktree,
  samePath,
  type Trial,
  type Worktrees,
} from './worktrees/index.ts';

export interface WorktreeActionsDeps {
  storage: Storage;
  events: EventLog;
  sessions: Sessions;
  worktrees: Worktrees;
  /** Folder of the session worktrees, absolute. */
  worktreesDir: string;
  /** Absolute folder; null is the workspace's own project. */
  folder(project: string | null): string;
  /** All project ids, the workspace's own first as null. */
  projects(): (string | null)[];
  /** What a session's evidence is worth now. */
  evidence(sessionId: string): Promise<{ state: string; reasons: string[] }>;
  /** Runs the teardown commands in a session's worktree; what did not go as it should, one sentence each. */
  tearDown(session: Session): Promise<string[]>;
  /** `guard.profile` is strict: nothing is promoted without evidence. */
  isStrict(): boolean;
}

/** The trial of a session's promotion. */
export interface SessionTrial extends Trial {
  sessionId: string;
}

/** A session's branch and worktree with what the register knows of it. */
export interface ListedWorktree extends SessionWorktree {
  repository: string;
  sessionId: string | null;
  taskId: string | null;
  title: string | null;
  state: string | null;
}

export interface Promoted extends PromoteResult {
  sessionId: string;
  branch: string;
  /** Worktree and branch are gone, as they are no longer needed. */
  removed: boolean;
  /** Why they are not. */
  kept: string[];
  /** What whoever promotes should know, such as missing evidence. */
  warnings: string[];
}

export interface Pruned extends PruneResult {
  repository: string;
  base: string;
  entries: PruneEntry[];
  /** What did not go as it should, and stopped no removal. */
  warnings: string[];
}

export interface Wanted {
  session: string;
  base?: string | undefined;
  /** Only if the session is of this project. */
  project?: string | undefined;
}

/** What can be done with session worktrees, for the operations and for the tools. Nothing here pushes anywhere. */
export interface WorktreeActions {
  list(
    wanted: { project?: string | undefined; base?: string | undefined },
    caller: Caller,
  ): Promise<ListedWorktree[]>;
  trial(wanted: Wanted, caller: Caller): Promise<SessionTrial>;
  /** Throws `promote_conflict` with the `paths`, `checkout_dirty`, `unverified`, `conflict`. */
  promote(
    wanted: Wanted & {
      strategy?: 'merge' | 'rebase' | undefined;
      keep?: boolean | undefined;
      head?: string | undefined;
    },
    caller: Caller,
    /** See `Call.key`. */
    key?: string | null,
  ): Promise<Promoted>;
  prune(
    wanted: { project?: string | undefined; base?: string | undefined; dryRun?: boolean | undefined },
    caller: Caller,
  ): Promise<Pruned[]>;
}

const withRemoval = (
  done: Omit<Promoted, 'removed' | 'kept'>,
  removal: Pick<Promoted, 'removed' | 'kept' | 'warnings'>,
): Promoted => ({ ...done, ...removal, warnings: [...done.warnings, ...removal.warnings] });

/** Names the answers of a promotion. */
const PROMOTE = 'worktree_promote';

const baseOf = (wanted: { base?: string | undefined }, caller: Caller): string | undefined =>
  wanted.base ?? caller.env.SVC_GIT_BASE;

const ifGiven = <K extends string>(key: K, value: string | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: string };

export function createWorktreeActions(deps: WorktreeActionsDeps): WorktreeActions {
  const { storage, events, sessions, worktrees } = deps;

  /** Each repository once, however many projects it holds. */
  async function repositories(project: string | undefined): Promise<string[]> {
    const wanted = project === undefined ? deps.projects() : [project];
    const roots = new Map<string, string>();
    for (const each of wanted) {
      const found = await worktrees.repositoryOf(deps.folder(each)).catch((error: unknown) => {
        if (project !== undefined) throw error;
        return null;
      });
      if (found) roots.set(found.commonDir, found.root);
    }
    return [...roots.values()];
  }

  /** The live session that goes on with an ended one; until it has begun the worktree is still that one's. */
  const nextOf = ({ sessionId, taskId }: Session): Session | undefined =>
    sessions.ofTask(taskId).find(({ state, continues }) => state !== 'ended' && continues === sessionId);

  function ended(prefix: string): Session & { branch: string; repository: string } {
    const session = sessions.resolve(prefix);
    const { sessionId, branch, repository } = session;
    if (session.state !== 'ended') {
      throw new SvcError('conflict', `${sessionId} is still ${session.state}`, {
        hint: `svc task cancel ${session.taskId}`,
      });
    }
    const next = nextOf(session);
    if (next !== undefined) {
      throw new SvcError('conflict', `${next.sessionId} goes on with ${sessionId}, in its worktree`, {
        hint: `svc worker log ${next.sessionId} -f shows what it does`,
      });
    }
    if (session.promotedAt !== null && session.worktree === null) {
      throw new SvcError(
        'conflict',
        `${sessionId} was promoted already by ${session.promotedBy}, and its branch removed`,
      );
    }
    if (branch === null || repository === null) {
      throw new SvcError('not_found', `${sessionId} has no branch of its own`);
    }
    return { ...session, branch, repository };
  }

  /** What a promotion is about: an ended session's branch, and the branch that takes its work in. */
  function promotion(wanted: Wanted, caller: Caller) {
    const session = ended(wanted.session);
    if (wanted.project !== undefined && deps.folder(wanted.project) !== deps.folder(session.project)) {
      throw new SvcError('conflict', `${session.sessionId} is not of project ${wanted.project}`);
    }
    const base = baseOf(wanted, caller) ?? session.base;
    if (base !== null) return { session, base };
    throw new SvcError('usage', `${session.sessionId} was made from no branch`, {
      hint: 'name the branch with --base',
    });
  }

  const sessionOfBranch = (branch: string): Session | null => sessions.byBranch(branch);

  /** Live sessions and those whose worktree was asked to be kept. */
  const isKept = (branch: string): boolean => {
    const session = sessionOfBranch(branch);
    if (session === null) return false;
    return session.state !== 'ended' || session.keepWorktree || nextOf(session) !== undefined;
  };

  /** A worktree elsewhere than where this session had its own is another workspace's, however its branch is called. */
  const isOurs = (branch: string, path: string | null): boolean => {
    const session = sessionOfBranch(branch);
    if (session === null) return false;
    return path === null || (session.worktree !== null && samePath(path, session.worktree));
  };

  async function recordGone(branches: string[]): Promise<void> {
    const gone = branches.flatMap((branch) => sessionOfBranch(branch) ?? []);
    if (gone.length === 0) return;
    await storage.write(() => {
      for (const { sessionId, taskId, branch } of gone) {
        sessions.worktreeGone(sessionId);
        events.append({ kind: 'worktree_pruned', sessionId, taskId, data: { branch } });
      }
    });
  }

  /** What happens in a worktree ahead of its removal. A teardown that fails does not stop it, and is told. */
  const tearDownOf =
    (warnings: string[]) =>
    async ({ branch, path }: PruneEntry): Promise<void> => {
      const session = sessionOfBranch(branch);
      const isItsOwn = path !== null && session?.worktree != null && samePath(path, session.worktree);
      if (session === null || !isItsOwn) return;
      const found = await deps.tearDown(session);
      warnings.push(...found);
      if (found.length === 0) return;
      const { sessionId, taskId, title } = session;
      const data = {
        title,
        reason: 'the teardown of a worktree did not go as it should',
        detail: found.join('; '),
      };
      await storage.write(() => events.append({ kind: 'alert', sessionId, taskId, via: 'engine', data }));
    };

  /** Throws `unverified` under a strict guard; otherwise one sentence when the evidence is not there. */
  async function doubts(sessionId: string): Promise<string[]> {
    const { state, reasons } = await deps.evidence(sessionId);
    if (state === 'verified') return [];
    const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
    const text = `${sessionId} is not verified (${state}${why})`;
    if (!deps.isStrict()) return [text];
    throw new SvcError('unverified', `${text}, and guard.profile is strict`, {
      hint: `look at svc verify show ${sessionId}; svc verify rerun runs its tests again`,
    });
  }

  /** The same call again is told what it has done, and what it could not finish is finished. */
  async function promotedOnce(
    sessionId: string,
    wanted: Parameters<WorktreeActions['promote']>[0],
    caller: Caller,
    key: string | null,
  ): Promise<Promoted> {
    const before = storage.answerOf<Omit<Promoted, 'removed' | 'kept'>>(PROMOTE, key);
    if (before !== undefined && sessions.get(sessionId).worktree === null) {
      return { ...before, removed: true, kept: [] };
    }
    const { session, base: into } = promotion(wanted, caller);
    if (before === undefined) return promote(session, into, wanted, caller, key);
    return withRemoval(before, await removed(session, into, wanted.keep === true));
  }

  /** Promotions under way, by session: each ends before the next of the same session begins. */
  const promoting = new Map<string, Promise<void>>();

  async function promote(
    session: ReturnType<typeof ended>,
    into: string,
    wanted: Parameters<WorktreeActions['promote']>[0],
    caller: Caller,
    key: string | null,
  ): Promise<Promoted> {
    const { sessionId, taskId, title, branch, repository } = session;
    const about = { sessionId, taskId, actor: caller.actor, via: caller.via };
    const warnings = await doubts(sessionId);
    const promoted = await worktrees
      .promote({
        repository,
        branch,
        base: into,
        strategy: wanted.strategy ?? 'merge',
        message: `Merge ${branch}: ${title} (${taskId})`,
        ...ifGiven('head', wanted.head),
      })
      .catch(async (thrown: unknown) => {
        const error = asSvcError(thrown);
        if (error.code === 'promote_conflict') {
          const data = { title, base: into, paths: error.data.paths ?? [] };
          await storage.write(() => events.append({ ...about, kind: 'promote_conflict', data }));
        }
        throw error;
      });
    const done = await storage.once(PROMOTE, key, () => {
      sessions.promoted(sessionId, caller.sessionId ?? caller.actor);
      events.append({ ...about, kind: 'worktree_promoted', data: { title, ...promoted } });
      return { sessionId, branch, ...promoted, warnings };
    });
    return withRemoval(done, await removed(session, into, wanted.keep === true));
  }

  /** What is not needed after a promotion any more. */
  async function removed(
    { branch, repository, keepWorktree }: ReturnType<typeof ended>,
    into: string,
    isKeepAsked: boolean,
  ): Promise<Pick<Promoted, 'removed' | 'kept' | 'warnings'>> {
    if (isKeepAsked || keepWorktree) return { removed: false, kept: ['as asked'], warnings: [] };
    const plan = await worktrees.prunePlan({
      repository,
      base: into,
      keep: () => false,
      isOurs: (other) => other === branch,
    });
    const warnings: string[] = [];
    const { removed: gone, refused } = await worktrees.prune(plan, tearDownOf(warnings));
    await recordGone(gone.map((each) => each.branch));
    const kept = [...refused, ...plan.entries]
      .filter((each) => each.branch === branch)
      .flatMap((each) => each.reasons);
    return { removed: gone.length > 0, kept, warnings };
  }

  return {
    async list(wanted, caller) {
      const lists = await Promise.all(
        (await repositories(wanted.project)).map(async (repository) => {
          const entries = await worktrees.status({
            repository,
            worktreesDir: deps.worktreesDir,
            ...ifGiven('base', baseOf(wanted, caller)),
          });
          return entries.map((entry): ListedWorktree => {
            const session = sessionOfBranch(entry.branch);
            return {
              repository,
              ...entry,
              sessionId: session?.sessionId ?? null,
              taskId: session?.taskId ?? null,
              title: session?.title ?? null,
              state: session?.state ?? null,
            };
          });
        }),
      );
      return lists.flat();
    },

    async trial(wanted, caller) {
      const { session, base } = promotion(wanted, caller);
      const { sessionId, repository, branch } = session;
      return { sessionId, ...(await worktrees.trial({ repository, branch, base })) };
    },

    async promote(wanted, caller, key = null) {
      const asked = sessions.resolve(wanted.session).sessionId;
      // Whoever comes second looks again at what the first has made of it.
      while (promoting.has(asked)) await promoting.get(asked);
      const work = promotedOnce(asked, wanted, caller, key);
      const over = work.then(
        () => undefined,
        () => undefined,
      );
      promoting.set(asked, over);
      void over.then(() => promoting.delete(asked));
      return work;
    },

    async prune(wanted, caller) {
      return Promise.all(
        (await repositories(wanted.project)).map(async (repository) => {
          const plan = await worktrees.prunePlan({
            repository,
            worktreesDir: deps.worktreesDir,
            keep: isKept,
            isOurs,
            ...ifGiven('base', baseOf(wanted, caller)),
          });
          const warnings: string[] = [];
          const done =
            wanted.dryRun === true
              ? { removed: [], refused: [] }
              : await worktrees.prune(plan, tearDownOf(warnings));
          await recordGone(done.removed.map((each) => each.branch));
          return { repository, base: plan.base, entries: plan.entries, ...done, warnings };
        }),
      );
    },
  };
}
