import { z } from 'zod';
import type { Session, Sessions } from '../bus/sessions/index.ts';
import { asSvcError, SvcError } from '../errors.ts';
import { type Caller, type Operation, operation } from '../operation.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import { type SessionWorktree, samePath, type Trial, type Worktrees } from './worktrees/index.ts';

export interface WorktreeOperationsDeps {
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
}

/** The trial of a session's promotion. */
export interface SessionTrial extends Trial {
  sessionId: string;
}

const baseOf = (input: { base?: string | undefined }, caller: Caller): string | undefined =>
  input.base ?? caller.env.SVC_GIT_BASE;

const ifGiven = <K extends string>(key: K, value: string | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { [P in K]?: string };

/** What clients may ask about session worktrees. Nothing here pushes anywhere. */
export function worktreeOperations(deps: WorktreeOperationsDeps): Operation[] {
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

  function ended(prefix: string): Session & { branch: string; repository: string } {
    const session = sessions.resolve(prefix);
    const { sessionId, branch, repository } = session;
    if (session.state !== 'ended') {
      throw new SvcError('conflict', `${sessionId} is still ${session.state}`, {
        hint: `svc task cancel ${session.taskId}`,
      });
    }
    if (session.promotedAt !== null && session.worktree === null) {
      throw new SvcError('conflict', `${sessionId} was promoted already, and its branch removed`);
    }
    if (branch === null || repository === null) {
      throw new SvcError('not_found', `${sessionId} has no branch of its own`);
    }
    return { ...session, branch, repository };
  }

  /** What a promotion is about: an ended session's branch, and the branch that takes its work in. */
  function promotion(input: { session: string; base?: string | undefined }, caller: Caller) {
    const session = ended(input.session);
    const base = baseOf(input, caller) ?? session.base;
    if (base !== null) return { session, base };
    throw new SvcError('usage', `${session.sessionId} was made from no branch`, {
      hint: 'name the branch with --base',
    });
  }

  const sessionOfBranch = (branch: string): Session | null => sessions.byBranch(branch);

  /** Live sessions and those whose worktree was asked to be kept. */
  const isKept = (branch: string): boolean => {
    const session = sessionOfBranch(branch);
    return session !== null && (session.state !== 'ended' || session.keepWorktree);
  };

  /** A worktree elsewhere than where this session had its own is another workspace's, however its branch is called. */
  const isOurs = (branch: string, path: string | null): boolean => {
    const session = sessionOfBranch(branch);
    if (session === null) return false;
    return path === null || (session.worktree !== null && samePath(path, session.worktree));
  };

  const described = (repository: string, entry: SessionWorktree) => {
    const session = sessionOfBranch(entry.branch);
    return {
      repository,
      ...entry,
      sessionId: session?.sessionId ?? null,
      taskId: session?.taskId ?? null,
      title: session?.title ?? null,
      state: session?.state ?? null,
    };
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

  return [
    operation({
      name: 'worktree.list',
      about: 'Session worktrees and branches with what they hold.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({ project: z.string().optional(), base: z.string().optional() }),
      async run(input, caller) {
        const lists = await Promise.all(
          (await repositories(input.project)).map(async (repository) => {
            const entries = await worktrees.status({
              repository,
              worktreesDir: deps.worktreesDir,
              ...ifGiven('base', baseOf(input, caller)),
            });
            return entries.map((entry) => described(repository, entry));
          }),
        );
        return lists.flat();
      },
    }),
    operation({
      name: 'worktree.diff',
      about: 'What a session changed since its base: commits, files, patch.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        session: z.string(),
        max_bytes: z
          .int()
          .min(0)
          .max(16 * 1024 * 1024)
          .optional(),
      }),
      async run(input) {
        const { sessionId, repository, headCommit, baseCommit, branch, base } = sessions.resolve(
          input.session,
        );
        if (repository === null || baseCommit === null || (branch === null && headCommit === null)) {
          throw new SvcError('not_found', `${sessionId} has nothing to compare`);
        }
        // The recorded head still exists when the branch was promoted and pruned.
        const tip = headCommit === null ? { branch: branch as string } : { head: headCommit };
        const { commits, files, patch } = await worktrees.diff({ repository, baseCommit, ...tip });
        return {
          sessionId,
          branch,
          base,
          baseCommit,
          commits,
          files,
          patch: await patch(input.max_bytes ?? 1024 * 1024),
        };
      },
    }),
    operation({
      name: 'worktree.trial',
      about: 'Whether promoting a session’s branch would go through, and if not, why. Writes nothing.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({ session: z.string(), base: z.string().optional() }),
      async run(input, caller): Promise<SessionTrial> {
        const { session, base } = promotion(input, caller);
        const { sessionId, repository, branch } = session;
        return { sessionId, ...(await worktrees.trial({ repository, branch, base })) };
      },
    }),
    operation({
      name: 'worktree.promote',
      about:
        'Merge or rebase a session’s branch into its base. Fails closed on conflicts; never pushes. With `head`, only if the branch still ends there.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        session: z.string(),
        base: z.string().optional(),
        strategy: z.enum(['merge', 'rebase']).optional(),
        keep: z.boolean().optional(),
        head: z.string().min(1).optional(),
      }),
      async run(input, caller) {
        const { session, base: into } = promotion(input, caller);
        const { sessionId, taskId, title, branch, repository, keepWorktree } = session;
        const about = { sessionId, taskId, actor: caller.actor, via: caller.via };
        const promoted = await worktrees
          .promote({
            repository,
            branch,
            base: into,
            strategy: input.strategy ?? 'merge',
            message: `Merge ${branch}: ${title} (${taskId})`,
            ...ifGiven('head', input.head),
          })
          .catch(async (thrown: unknown) => {
            const error = asSvcError(thrown);
            if (error.code === 'promote_conflict') {
              const data = { title, base: into, paths: error.data.paths ?? [] };
              await storage.write(() => events.append({ ...about, kind: 'promote_conflict', data }));
            }
            throw error;
          });
        await storage.write(() => {
          sessions.promoted(sessionId);
          events.append({ ...about, kind: 'worktree_promoted', data: { title, ...promoted } });
        });
        if (input.keep === true || keepWorktree)
          return { sessionId, branch, ...promoted, removed: false, kept: ['as asked'] };
        const plan = await worktrees.prunePlan({
          repository,
          base: into,
          keep: () => false,
          isOurs: (other) => other === branch,
        });
        const { removed, refused } = await worktrees.prune(plan);
        await recordGone(removed.map((each) => each.branch));
        const reasons = [...refused, ...plan.entries]
          .filter((each) => each.branch === branch)
          .flatMap((each) => each.reasons);
        return { sessionId, branch, ...promoted, removed: removed.length > 0, kept: reasons };
      },
    }),
    operation({
      name: 'worktree.prune',
      about:
        'Remove worktrees and branches of ended sessions whose work is merged. Never removes unmerged or uncommitted work.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        project: z.string().optional(),
        base: z.string().optional(),
        dry_run: z.boolean().optional(),
      }),
      async run(input, caller) {
        const results = await Promise.all(
          (await repositories(input.project)).map(async (repository) => {
            const plan = await worktrees.prunePlan({
              repository,
              worktreesDir: deps.worktreesDir,
              keep: isKept,
              isOurs,
              ...ifGiven('base', baseOf(input, caller)),
            });
            const done = input.dry_run === true ? { removed: [], refused: [] } : await worktrees.prune(plan);
            await recordGone(done.removed.map((each) => each.branch));
            return { repository, base: plan.base, entries: plan.entries, ...done };
          }),
        );
        return results;
      },
    }),
  ];
}
