import { z } from 'zod';
import { by, checkOwnTask, operation } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { requireDiffRequest, type Worktrees } from '../../workers/runner/worktrees/index.ts';
import type { Session, Sessions } from '../../workers/sessions/index.ts';
import type { DiffComments } from './index.ts';
import { DIFF_SIDES, type DiffSide } from './rows.ts';

const MOST_FILE_BYTES = 16 * 1024 * 1024;
/** The stored part of a line of a program. */
const LONGEST_LINE = 500;

/** A path as git stores it in a commit: below the top of the repository, never outside of it. */
const isPathInCommit = (path: string): boolean =>
  !/[\0\n]/.test(path) &&
  !path.startsWith('/') &&
  path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');

/** Operations on comments on the lines of a diff. */
export function commentOperations({
  comments,
  sessions,
  worktrees,
}: {
  comments: DiffComments;
  sessions: Pick<Sessions, 'resolve'>;
  worktrees: Pick<Worktrees, 'diffBranch' | 'readFileAt'>;
}) {
  /** Reads the line at the end of the branch, or at its start, and the commit there. */
  async function readLine(
    session: Session,
    { path, side, line }: { path: string; side: DiffSide; line: number },
  ): Promise<{ text: string; head: string }> {
    if (!isPathInCommit(path))
      throw new SvcError('fields_invalid', `path: ${JSON.stringify(path)} is not a path in the repository`, {
        hint: 'use the path that the diff shows, such as src/a.ts',
      });
    const request = requireDiffRequest(session);
    const { from, head } = await worktrees.diffBranch(request);
    const commit = side === 'new' ? head : from;
    const { repository } = request;
    const file = await worktrees.readFileAt({ repository, commit, path, maxBytes: MOST_FILE_BYTES });
    if (file === null)
      throw new SvcError('not_found', `there is no file ${JSON.stringify(path)} in ${commit.slice(0, 10)}`, {
        hint: `svc diff ${session.sessionId} --stat lists the changed files`,
      });
    const lines = file.replace(/\n$/, '').split('\n');
    const text = lines[line - 1];
    if (text === undefined)
      throw new SvcError('not_found', `${path} has ${lines.length} lines, so there is no line ${line}`);
    return { text: text.replace(/\r$/, '').slice(0, LONGEST_LINE), head };
  }

  return [
    operation({
      name: 'comment.list',
      about:
        'Comments on lines of a session’s diff that no follow-up has sent yet. `outdated`: the branch has changed since.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ session: z.string() }),
      async run(input, caller) {
        const session = sessions.resolve(input.session);
        checkOwnTask(caller, session.taskId, session.sessionId);
        const found = comments.listComments(session.sessionId);
        if (found.length === 0) return { sessionId: session.sessionId, comments: [] };
        const { head } = await worktrees.diffBranch(requireDiffRequest(session));
        return {
          sessionId: session.sessionId,
          comments: found.map((each) => ({ ...each, outdated: each.head !== head })),
        };
      },
    }),
    operation({
      name: 'comment.add',
      about:
        'Adds a comment on a line of a session’s diff. It is kept until a follow-up sends it. With `head`, only if the branch still ends there.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        session: z.string(),
        path: z.string().min(1).max(4096),
        line: z.int().min(1),
        side: z.enum(DIFF_SIDES).default('new'),
        body: z.string().trim().min(1).max(20_000),
        head: z.string().min(1).optional(),
      }),
      async run(input, caller, call) {
        const { path, side, line, body } = input;
        const session = sessions.resolve(input.session);
        const { sessionId } = session;
        const { text, head } = await readLine(session, input);
        if (input.head !== undefined && input.head !== head)
          throw new SvcError(
            'conflict',
            `the branch of ${sessionId} has moved to ${head.slice(0, 10)} since you looked`,
            {
              hint: 'review the diff again',
            },
          );
        return call.finish(() =>
          comments.keepComment({ sessionId, path, side, line, text, body, head }, by(caller)),
        );
      },
    }),
    operation({
      name: 'comment.remove',
      about: 'Removes a comment on a line of a diff.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id: z.int().min(1) }),
      run: ({ id }, caller, call) => call.finish(() => comments.removeComment(id, by(caller))),
    }),
  ];
}
