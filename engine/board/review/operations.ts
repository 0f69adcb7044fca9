import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { checkOwnTask, operation } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { requireDiffRequest, type Worktrees } from '../../workers/runner/worktrees/index.ts';
import type { Sessions } from '../../workers/sessions/index.ts';
import type { WorktreeActions } from './worktree-actions.ts';
import { worktreeTools } from './worktree-tools.ts';

/** Operations on session worktrees. */
export function worktreeOperations({
  actions,
  sessions,
  worktrees,
  folder,
}: {
  actions: WorktreeActions;
  /** The id of a project. */
  folder(project: string): string;
  sessions: Sessions;
  worktrees: Worktrees;
}) {
  return [
    operation({
      name: 'worktree.diff',
      about:
        'The changes of a session: commits, files, patch, as promoting it now would bring them into its base.',
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
      async run(input, caller) {
        const session = sessions.resolve(input.session);
        checkOwnTask(caller, session.taskId, session.sessionId);
        const { sessionId, branch, base, baseCommit } = session;
        const { head, commits, files, patch } = await worktrees.diffBranch(requireDiffRequest(session));
        const text = await patch(input.max_bytes ?? 1024 * 1024);
        return { sessionId, branch, base, baseCommit, head, commits, files, patch: text };
      },
    }),
    operation({
      name: 'worktree.trial',
      about: 'Check that a session’s branch could be promoted, and if not, why. Writes nothing.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({ session: z.string(), base: z.string().optional() }),
      run: actions.tryPromotion,
    }),
    operation({
      name: 'worktree.message',
      about:
        'Write the message that promoting a session’s branch would use, and the commit that it is about.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({
        session: z.string(),
        base: z.string().optional(),
        strategy: z.enum(['merge', 'squash']).default('merge'),
      }),
      run: actions.draftMessage,
    }),
    operation({
      name: 'worktree.open',
      about:
        'Check the newest commit of a session out in a folder of this machine, also while it runs on another one; an earlier checkout of it is moved forward.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        session: z.string(),
        /** Absolute; by default next to the repository: `shop-s-9`. */
        folder: z.string().refine(isAbsolute, 'not an absolute path').optional(),
      }),
      async run(input) {
        const { sessionId, branch, repository } = sessions.resolve(input.session);
        if (branch === null || repository === null)
          throw new SvcError('not_found', `${sessionId} has no branch`);
        const folder = input.folder ?? `${repository}-${sessionId}`;
        const opened = await worktrees.openCheckout({ repository, branch, path: folder });
        return { sessionId, branch, folder, ...opened };
      },
    }),
    operation({
      name: 'worktree.discard',
      about:
        'Remove the branch and worktree of an ended session with all their content; everything is saved first and can be restored.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ session: z.string() }),
      run: actions.discard,
    }),
    operation({
      name: 'worktree.restore',
      about:
        'Restore the branch of a session that was discarded, or removed after its promotion; on request with its worktree.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ session: z.string(), worktree: z.boolean().optional() }),
      run: actions.restore,
    }),
    operation({
      name: 'worktree.undo',
      about:
        'Undo the last promotion of a session if its base has not moved since: the base returns to its previous commit, and the session is unmerged again.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ session: z.string() }),
      run: actions.undoPromotion,
    }),
    operation({
      name: 'project.repin',
      about: 'Accept the repository that is now in the folder of a project as the project’s own.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id: z.string() }),
      run: ({ id }) => ({ id, folder: folder(id), repository: worktrees.repinRepository(folder(id)) }),
    }),
    ...worktreeTools(actions),
  ];
}
