import type { CallAuthor } from '../../core/api/operation.ts';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { parseId } from '../../core/base/ids.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { Sessions } from '../../workers/sessions/index.ts';
import { type DiffComment, type DiffCommentRow, toDiffComment } from './rows.ts';

export type { DiffComment } from './rows.ts';
export { titleFollowUp } from './write-follow-up.ts';

/** Maximum number of comments of a session: more than a person writes, but a message can hold them. */
const MOST_COMMENTS = 500;

/** Owns people's comments on lines of a diff, until a follow-up includes them. */
export interface DiffComments {
  /** Lists comments of a session and of the sessions that it continues, by file and line. */
  listComments(sessionId: string): DiffComment[];
  /** Inside `storage.write`: stores a comment; replaces one by the same person on the same line of the same version. */
  keepComment(comment: Omit<DiffComment, 'commentId' | 'createdAt' | 'actor'>, by: CallAuthor): DiffComment;
  /** Inside `storage.write`. Throws `not_found`. */
  removeComment(commentId: number, by: CallAuthor): DiffComment;
  /** Inside `storage.write`: a follow-up has included these. Throws `conflict` if one of them is gone. */
  takeComments(sessionId: string, commentIds: readonly number[], by: CallAuthor): void;
}

export function createDiffComments({
  storage,
  events,
  clock,
  sessions,
}: {
  storage: Storage;
  events: Pick<EventLog, 'append'>;
  clock: Clock;
  sessions: Pick<Sessions, 'get'>;
}): DiffComments {
  const { db } = storage;
  const ofSessions = db.prepare<unknown[], DiffCommentRow>(
    `SELECT * FROM diff_comment WHERE session IN (SELECT value FROM json_each(?))
    ORDER BY path, line, side DESC, id`,
  );
  const insert = db.prepare<unknown[], DiffCommentRow>(
    `INSERT INTO diff_comment (session, path, side, line, text, body, head, actor, created_at)
    VALUES (@session, @path, @side, @line, @text, @body, @head, @actor, @now) RETURNING *`,
  );
  const removeSame = db.prepare(
    `DELETE FROM diff_comment
    WHERE session = @session AND path = @path AND side = @side AND line = @line AND head = @head AND actor = @actor`,
  );
  const remove = db.prepare<unknown[], DiffCommentRow>('DELETE FROM diff_comment WHERE id = ? RETURNING *');

  /** Lists the session, and the ones in whose worktree it continues. */
  function listLineage(sessionId: string): string[] {
    const found: string[] = [];
    for (let next: string | null = sessionId; next !== null && !found.includes(next); )
      next = sessions.get(found[found.push(next) - 1]!).continues;
    return found;
  }

  const listComments = (sessionId: string): DiffComment[] =>
    ofSessions
      .all(JSON.stringify(listLineage(sessionId).map((each) => parseId('s', each))))
      .map(toDiffComment);

  const recordComment = (
    kind: 'comment_added' | 'comment_removed',
    { sessionId, commentId, path, line }: DiffComment,
    { actor, via }: CallAuthor,
  ): void => void events.append({ kind, sessionId, actor, via, data: { comment: commentId, path, line } });

  return {
    listComments,
    keepComment(comment, by) {
      const { sessionId, path, side, line, text, body, head } = comment;
      const session = parseId('s', sessionId);
      const named = { session, path, side, line, head, actor: by.actor };
      removeSame.run(named);
      if (listComments(sessionId).length >= MOST_COMMENTS)
        throw new SvcError('conflict', `${sessionId} has ${MOST_COMMENTS} comments, which is the maximum`, {
          hint: sentence`{worker.follow_up ${sessionId} comments=true} sends them`,
        });
      const kept = toDiffComment(insert.get({ ...named, text, body, now: clock.now() }) as DiffCommentRow);
      recordComment('comment_added', kept, by);
      return kept;
    },
    removeComment(commentId, by) {
      const row = remove.get(commentId);
      if (row === undefined) throw new SvcError('not_found', `no comment ${commentId}`);
      const removed = toDiffComment(row);
      recordComment('comment_removed', removed, by);
      return removed;
    },
    takeComments(sessionId, commentIds, by) {
      const there = new Map(listComments(sessionId).map((each) => [each.commentId, each]));
      for (const id of new Set(commentIds)) {
        const comment = there.get(id);
        if (comment === undefined)
          throw new SvcError(
            'conflict',
            `comment ${id} on ${sessionId} was removed or sent in the meantime`,
            {
              hint: 'list its comments again',
            },
          );
        remove.run(id);
        recordComment('comment_removed', comment, by);
      }
    },
  };
}
