import { hash } from 'node:crypto';
import { readIssue } from '../board/tasks/index.ts';
import type { CallAuthor } from '../core/api/operation.ts';
import { type Clock, rfc3339 } from '../core/base/clock.ts';
import { asSvcError } from '../core/base/errors.ts';
import { formatId, parseId } from '../core/base/ids.ts';
import type { Log } from '../core/base/log.ts';
import {
  COMMENT_MARK,
  type Forge,
  type ForgeMemory,
  findPauseMs,
  type PullRequestPlace,
  readPlace,
  type WantedComment,
} from '../forge/index.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { Session } from '../workers/sessions/index.ts';
import type { PullRequestOrders } from './orders.ts';
import { findFirstSession, type PreparationDeps } from './prepare.ts';
import type { PullRequestRounds } from './rounds.ts';
import { writeEnd, writeReply } from './write-comments.ts';

const SVC = { actor: 'svc', via: 'engine' } as const satisfies CallAuthor;
const BACKOFF = { firstMs: 60_000, longestMs: 3_600_000 };
/** Interval of the check that the commits of an answer were pushed. */
const PUSH_LOOK_MS = 5000;
/** The clock of a code host may be behind, ms. */
const OVERLAP_MS = 600_000;

/** The agent's answer to a review, or the end of the pull request, for its issue. */
type CommentKind = 'reply' | 'end';

interface Row {
  session_id: number;
  kind: CommentKind;
  created_at: number;
  tries: number;
}

export interface ForgeCommentsDeps extends PreparationDeps {
  storage: Storage;
  events: Pick<EventLog, 'append'>;
  clock: Clock;
  log: Pick<Log, 'warn'>;
  orders: Pick<PullRequestOrders, 'find'>;
  rounds: Pick<PullRequestRounds, 'list'>;
  /** Identifies the workspace, so that the marks of two differ. */
  dataId: string;
  openForge(place: PullRequestPlace, memory?: ForgeMemory): Forge;
}

/** Posts what svc.yaml asks for at the code host: answers to reviews, and how pull requests have ended. Each once. */
export interface ForgeComments {
  /** Call inside the transaction that ends a session. */
  sessionEnded(session: Session): void;
  /** Call inside the transaction that records how the pull request of a session has ended. */
  pullRequestEnded(session: Session): void;
  /** Posts those that are due. @param isForced whatever the pauses */
  sendDue(isForced: boolean): Promise<void>;
}

export function createForgeComments(deps: ForgeCommentsDeps): ForgeComments {
  const { storage, events, clock, log, sessions, records, orders, rounds } = deps;
  const { db } = storage;
  const insert = db.prepare(
    'INSERT OR IGNORE INTO forge_comment (session_id, kind, created_at, next_at) VALUES (?, ?, ?, ?)',
  );
  const due = db.prepare<unknown[], Row>('SELECT * FROM forge_comment WHERE next_at <= ? ORDER BY next_at');
  const update = db.prepare(
    'UPDATE forge_comment SET next_at = ?, tries = tries + ? WHERE session_id = ? AND kind = ?',
  );
  const remove = db.prepare('DELETE FROM forge_comment WHERE session_id = ? AND kind = ?');
  const readPolicyOf = (session: Session) =>
    deps.readPolicy(deps.getTask(findFirstSession(sessions, session).taskId));

  function order({ sessionId }: Session, kind: CommentKind): void {
    insert.run(parseId('s', sessionId), kind, clock.now(), clock.now());
  }

  /** Finds the pull request of a session's branch, and where it is. */
  function findPull({ repository, branch }: Session) {
    const pull = repository === null || branch === null ? null : records.findOfBranch(repository, branch);
    const place = pull === null ? null : readPlace(pull.program, pull.url);
    return pull === null || place === null ? null : { pull, place };
  }

  async function writeReplyOf(
    session: Session,
    found: NonNullable<ReturnType<typeof findPull>>,
  ): Promise<Omit<WantedComment, 'mark' | 'since'> | null> {
    if (found.pull.state !== 'open') return null;
    const { repository, number } = found.place;
    const { headCommit, continues, baseCommit } = session;
    const former = continues === null ? baseCommit : sessions.get(continues).headCommit;
    const commit = headCommit === former ? null : headCommit;
    const text = writeReply(await deps.readEvidence(session.sessionId), commit);
    return { on: 'pull_request', repository, number, text };
  }

  function writeEndOf(
    session: Session,
    { pull, place }: NonNullable<ReturnType<typeof findPull>>,
  ): Omit<WantedComment, 'mark' | 'since'> | null {
    const { source, sourceRef, sourceUrl } = deps.getTask(findFirstSession(sessions, session).taskId);
    const issue = source === 'codehost' ? readIssue(sourceRef) : null;
    const isThere = sourceUrl !== null && new URL(sourceUrl).host === place.host;
    if (issue === null || !isThere || (pull.state !== 'merged' && pull.state !== 'closed')) return null;
    const text = writeEnd(pull.state, pull.url ?? place.reference);
    return { on: 'issue', repository: issue.path, number: Number(issue.number), text };
  }

  async function send({ session_id: id, kind, created_at: createdAt }: Row): Promise<void> {
    const session = sessions.get(formatId('s', id));
    const found = findPull(session);
    const wanted =
      found === null
        ? null
        : kind === 'reply'
          ? await writeReplyOf(session, found)
          : writeEndOf(session, found);
    if (found !== null && wanted !== null) {
      const mark = `${COMMENT_MARK}${hash('sha256', `${deps.dataId} ${id} ${kind}`).slice(0, 16)} -->`;
      const since = rfc3339(createdAt - OVERLAP_MS);
      await deps
        .openForge(found.place)
        .addComment({ ...wanted, text: `${wanted.text}\n\n${mark}`, mark, since });
    }
    await storage.write(() => remove.run(id, kind));
  }

  /** Keeps it for later; gives it up if the code host refuses it. */
  async function noteFailure(
    { session_id: id, kind, tries }: Row,
    error: ReturnType<typeof asSvcError>,
  ): Promise<void> {
    const { sessionId, taskId, title } = sessions.get(formatId('s', id));
    const { status } = error.data;
    // 401 is over once the person has logged in again.
    const isRefused = typeof status === 'number' && status !== 401;
    log.warn({ session: sessionId, problem: error.message }, 'a comment was not posted');
    await storage.write(() => {
      if (!isRefused) return update.run(clock.now() + findPauseMs(error, tries + 1, BACKOFF), 1, id, kind);
      remove.run(id, kind);
      const reason = `its comment was not posted: ${error.message}`;
      const data = { title, code: 'program_failed', reason };
      events.append({ kind: 'alert', taskId, sessionId, ...SVC, data });
    });
  }

  return {
    sessionEnded(session) {
      const { failure, taskId, branch } = session;
      if (failure !== null || branch === null || !readPolicyOf(session).isReplying) return;
      const first = findFirstSession(sessions, session).sessionId;
      const isAnswer = rounds.list(first).some((each) => each.kind === 'review' && each.taskId === taskId);
      if (isAnswer) order(session, 'reply');
    },
    pullRequestEnded(session) {
      if (readPolicyOf(session).isCommenting) order(session, 'end');
    },
    async sendDue(isForced) {
      for (const row of due.all(isForced ? Number.MAX_SAFE_INTEGER : clock.now())) {
        const { session_id: id, kind } = row;
        // An answer comes after its commits.
        if (kind === 'reply' && orders.find(formatId('s', id)) !== null)
          await storage.write(() => update.run(clock.now() + PUSH_LOOK_MS, 0, id, kind));
        else await send(row).catch((error: unknown) => noteFailure(row, asSvcError(error)));
      }
    },
  };
}
