import { z } from 'zod';
import { toWire } from '../../core/api/operation.ts';
import { tool, UNLISTED } from '../../core/api/tool.ts';
import { PROMOTE_STRATEGIES, WORKTREE_STATES } from '../../workers/runner/worktrees/index.ts';
import type { WorktreeActions } from './worktree-actions.ts';

const project = z.string().optional().describe('registered project; default: all');

/** Creates the tool that lists session worktrees. */
const statusTool = (actions: WorktreeActions) =>
  tool({
    name: 'worktree.status',
    about: 'List session worktrees and their contents.',
    seat: 'chair',
    changes: false,
    input: z.strictObject({
      base: z.string().optional().describe('branch to compare with; default: what is checked out'),
      project,
      state: z.enum(WORKTREE_STATES).optional(),
      limit: z.int().min(1).max(100_000).default(50),
      /** A branch; with a colon and its repository, if several repositories have it. */
      cursor: z.string().min(1).optional().meta(UNLISTED),
    }),
    output: z.object({
      worktrees: z.array(
        z
          .object({
            session: z.string().nullable(),
            task: z.string().nullable(),
            title: z.string().nullable(),
            state: z.string().nullable(),
            branch: z.string(),
            path: z.string().nullable(),
            ahead: z.int().nullable(),
            behind: z.int().nullable(),
            dirty: z.boolean().nullable(),
            untracked: z.boolean().nullable(),
            merged: z.boolean().nullable(),
            orphan: z.boolean(),
            live: z.boolean().nullable(),
            unreadable: z.string().nullable(),
            operation: z.string().nullable(),
          })
          .meta(UNLISTED),
      ),
      /** The number of rows from the cursor on. */
      total: z.int().meta(UNLISTED),
      /** Repositories that could not be read. */
      problems: z.array(z.looseObject({})).meta(UNLISTED),
    }),
    names: { session_id: 'session', task_id: 'task' },
    run: async (input, caller) => toWire(await actions.listWorktrees(input, caller)),
  });

/** Creates the tool that merges the branch of a session. */
const promoteTool = (actions: WorktreeActions) =>
  tool({
    name: 'worktree.promote',
    about:
      'Merge a finished session’s branch into its base. On a conflict nothing changes. Never pushes. Check verify_status first.',
    seat: 'chair',
    changes: true,
    input: z.strictObject({
      session: z.string().describe('session to promote, e.g. s-12'),
      base: z.string().optional().describe('branch to merge into; default: what it was made from'),
      project: z.string().optional().describe('refuse if it belongs to another project'),
      strategy: z.enum(PROMOTE_STRATEGIES).optional().describe('default merge'),
      /** Of the commit that merge or squash makes; by default svc writes it. */
      message: z
        .string()
        .max(20_000)
        .regex(/^[^\0]*$/, 'must not contain NUL')
        .optional()
        .meta(UNLISTED),
      /** True to keep the worktree and the branch. */
      keep: z.boolean().optional().meta(UNLISTED),
      /** In a race: true to not discard the others. */
      keep_others: z.boolean().optional().meta(UNLISTED),
      /** Required head of the branch; otherwise nothing is done. */
      head: z.string().min(1).optional().meta(UNLISTED),
    }),
    output: z.object({
      session: z.string(),
      base: z.string(),
      strategy: z.string(),
      before: z.string(),
      after: z.string(),
      already_merged: z.boolean(),
      checkout: z.string(),
      missing_lfs: z.array(z.string()).describe('Git LFS files that remain pointers in the checkout'),
      removed: z.boolean(),
      sensitive: z
        .array(z.object({ path: z.string(), kind: z.string(), change: z.string() }).meta(UNLISTED))
        .describe('changed configuration of svc, git, agents, CI, hooks: review it'),
      discarded: z.array(z.string()).describe('the other sessions of its race'),
      warnings: z.array(z.string()),
    }),
    names: { session_id: 'session', task_id: 'task' },
    say: ({ session, base, after, already_merged, missing_lfs, sensitive, discarded, warnings }) =>
      [
        already_merged
          ? `${base} already contained the work of ${session}.`
          : `${session} is merged into ${base} at ${after}.`,
        ...(sensitive.length === 0 ? [] : [`review: ${sensitive.map(({ path }) => path).join(', ')}`]),
        ...(discarded.length === 0 ? [] : [`discarded, can be restored: ${discarded.join(', ')}`]),
        ...(missing_lfs.length === 0 ? [] : [`Git LFS files without content: ${missing_lfs.join(', ')}`]),
        ...warnings.map((each) => `warning: ${each}`),
      ].join('\n'),
    run: async ({ keep_others, ...input }, caller, call) =>
      toWire(await actions.promote({ ...input, keepOthers: keep_others }, caller, call)),
  });

/** Creates the tool that removes merged worktrees. */
const pruneTool = (actions: WorktreeActions) =>
  tool({
    name: 'worktree.prune',
    about:
      'Remove worktrees and branches of ended sessions whose work is merged. Other work is kept, with the reason.',
    seat: 'chair',
    changes: true,
    destructive: true,
    idempotent: true,
    input: z.strictObject({
      project,
      base: z.string().optional().meta(UNLISTED),
      dry_run: z.boolean().optional().meta(UNLISTED),
    }),
    output: z.object({
      removed: z.array(z.looseObject({})),
      kept: z.array(z.looseObject({})),
      /** Repositories that could not be read. */
      problems: z.array(z.looseObject({})),
    }),
    async run({ dry_run, ...wanted }, caller) {
      const pruned = await actions.pruneWorktrees({ ...wanted, dryRun: dry_run }, caller);
      const removed = pruned.flatMap((each) =>
        each.removed.map(({ branch, path, savedRefs, ignored }) => ({
          branch,
          path,
          saved_refs: savedRefs,
          ignored,
        })),
      );
      const kept = pruned.flatMap(({ entries, refused, gone }) => [
        ...[...refused, ...entries]
          .filter(({ reasons }) => reasons.length > 0)
          .map(({ branch, path, reasons }) => ({ branch, path, reasons })),
        ...gone.map((each) => ({ ...each, reasons: ['already gone: another process removed it'] })),
      ]);
      const problems = pruned.flatMap(({ repository, problem }) =>
        problem === null ? [] : [{ repository, ...problem }],
      );
      return { removed, kept, problems, repositories: toWire(pruned) };
    },
  });

/** Creates the three tools of the Chair. */
export const worktreeTools = (actions: WorktreeActions) => [
  statusTool(actions),
  promoteTool(actions),
  pruneTool(actions),
];
