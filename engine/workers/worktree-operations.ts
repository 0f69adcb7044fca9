import { z } from 'zod';
import type { Sessions } from '../bus/sessions/index.ts';
import { SvcError } from '../errors.ts';
import { type Operation, operation } from '../operation.ts';
import { tool } from '../tool.ts';
import type { WorktreeActions } from './worktree-actions.ts';
import type { Worktrees } from './worktrees/index.ts';

/** What clients may ask about session worktrees. */
export function worktreeOperations({
  actions,
  sessions,
  worktrees,
  folder,
}: {
  actions: WorktreeActions;
  /** Of a project, by its id. */
  folder(project: string): string;
  sessions: Sessions;
  worktrees: Worktrees;
}): Operation[] {
  return [
    operation({
      name: 'worktree.list',
      about: 'Session worktrees and branches with what they hold.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({ project: z.string().optional(), base: z.string().optional() }),
      run: actions.list,
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
        const text = await patch(input.max_bytes ?? 1024 * 1024);
        return { sessionId, branch, base, baseCommit, commits, files, patch: text };
      },
    }),
    operation({
      name: 'worktree.trial',
      about: 'Whether promoting a session’s branch would go through, and if not, why. Writes nothing.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({ session: z.string(), base: z.string().optional() }),
      run: actions.trial,
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
      run: (input, caller, { key }) => actions.promote(input, caller, key),
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
      run: ({ dry_run, ...wanted }, caller) => actions.prune({ ...wanted, dryRun: dry_run }, caller),
    }),
    operation({
      name: 'project.repin',
      about: 'From here on the repository that the folder of a project is in now is the project’s own.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id: z.string() }),
      run: ({ id }) => ({ id, folder: folder(id), repository: worktrees.repin(folder(id)) }),
    }),
    ...worktreeTools(actions),
  ];
}

const project = z.string().optional().describe('registered project; default: all');

/** The three tools of the Chair. */
const worktreeTools = (actions: WorktreeActions): Operation[] => [
  tool({
    name: 'worktree_status',
    about: 'List session worktrees: what is dirty, unmerged, orphaned or still worked in.',
    seat: 'chair',
    changes: false,
    input: z.strictObject({
      base: z.string().optional().describe('branch to compare with; default: the one checked out'),
      project,
    }),
    output: z.object({ worktrees: z.array(z.looseObject({})) }),
    async run(input, caller) {
      const worktrees = (await actions.list(input, caller)).map((each) => ({
        session: each.sessionId,
        task: each.taskId,
        title: each.title,
        state: each.state,
        branch: each.branch,
        path: each.path,
        ahead: each.ahead,
        behind: each.behind,
        dirty: each.dirty,
        untracked: each.untracked,
        merged: each.merged,
        orphan: each.orphan,
        live: each.live,
        problem: each.unreadable ?? each.operation,
      }));
      return { worktrees };
    },
  }),
  tool({
    name: 'worktree_promote',
    about:
      'Merge a finished session’s branch into its base. On a conflict nothing changes and the paths are named. Never pushes. Look at verify_status first.',
    seat: 'chair',
    changes: true,
    input: z.strictObject({
      session: z.string().describe('session to promote, e.g. s-12'),
      base: z
        .string()
        .optional()
        .describe('branch that takes the work in; default: the one it was made from'),
      project: z.string().optional().describe('refuse unless the session is of this project'),
      strategy: z.enum(['merge', 'rebase']).optional().describe('default merge'),
    }),
    output: z.object({
      session: z.string(),
      base: z.string(),
      strategy: z.string(),
      before: z.string(),
      after: z.string(),
      already_merged: z.boolean(),
      checkout: z.string(),
      removed: z.boolean(),
      sensitive: z
        .array(z.string())
        .describe('changed configuration of svc, git, agents, CI, hooks: look at it'),
      warnings: z.array(z.string()),
    }),
    say: ({ session, base, after, already_merged, sensitive, warnings }) =>
      [
        already_merged
          ? `${base} held the work of ${session} already.`
          : `${session} is in ${base} at ${after}.`,
        ...(sensitive.length === 0 ? [] : [`look at: ${sensitive.join(', ')}`]),
        ...warnings.map((each) => `warning: ${each}`),
      ].join('\n'),
    async run({ project: wanted, ...input }, caller, { key }) {
      const done = await actions.promote({ ...input, project: wanted }, caller, key);
      const {
        sessionId,
        base,
        strategy,
        before,
        after,
        alreadyMerged,
        checkout,
        removed,
        sensitive,
        warnings,
      } = done;
      return {
        session: sessionId,
        base,
        strategy,
        before,
        after,
        already_merged: alreadyMerged,
        checkout,
        removed,
        sensitive: sensitive.map(({ path }) => path),
        warnings,
      };
    },
  }),
  tool({
    name: 'worktree_prune',
    about:
      'Remove worktrees and branches of ended sessions whose work is merged. What holds unmerged or uncommitted work is kept, with the reason.',
    seat: 'chair',
    changes: true,
    destructive: true,
    idempotent: true,
    input: z.strictObject({ project }),
    output: z.object({
      removed: z.array(z.looseObject({})).describe('branch, path, and the refs that keep its commits'),
      kept: z.array(z.looseObject({})).describe('branch, path, reasons'),
    }),
    async run(input, caller) {
      const pruned = await actions.prune(input, caller);
      const removed = pruned.flatMap((each) =>
        each.removed.map(({ branch, path, savedRefs }) => ({ branch, path, saved_refs: savedRefs })),
      );
      const gone = new Set(removed.map(({ branch }) => branch));
      const kept = pruned.flatMap(({ entries, refused }) =>
        [...refused, ...entries]
          .filter(({ branch, reasons }) => !gone.has(branch) && reasons.length > 0)
          .map(({ branch, path, reasons }) => ({ branch, path, reasons })),
      );
      return { removed, kept };
    },
  }),
];
