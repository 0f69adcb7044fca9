import type { CallAuthor } from '../core/api/operation.ts';
import { type Clock, rfc3339 } from '../core/base/clock.ts';
import { formatId, parseId } from '../core/base/ids.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { Session, Sessions } from '../workers/sessions/index.ts';
import type { PullRequestProgram, PullRequestState, ToldPullRequest } from './programs.ts';

/** The checks of a commit together. */
export interface ChecksState {
  state: 'pending' | 'passed' | 'failed';
  /** The name of the first that failed, as the code host reports it. */
  failed: string | null;
}

/** Longest name of a check that is stored. */
const LONGEST_CHECK = 200;

/** Sums checks up: one that failed decides, then one that has not passed. Null without any. */
export function sumUpChecks(
  checks: readonly { name: string; state: ChecksState['state'] | 'cancelled' }[],
): ChecksState | null {
  if (checks.length === 0) return null;
  const failed = checks.find(({ state }) => state === 'failed');
  if (failed !== undefined) return { state: 'failed', failed: failed.name.slice(0, LONGEST_CHECK) };
  const havePassed = checks.every(({ state }) => state === 'passed');
  return { state: havePassed ? 'passed' : 'pending', failed: null };
}

/** The pull request of a session's branch; times are RFC 3339 UTC. */
export interface PullRequest extends ToldPullRequest {
  program: PullRequestProgram;
  remote: string;
  /** The name of its branch at the code host. */
  branch: string;
  /** The commit that was pushed. */
  head: string;
  createdAt: string;
  /** When its state was last queried. */
  askedAt: string | null;
  /** True once the base branch of this machine has the merged work. */
  isInBase: boolean;
  /** The checks of `head` as they were seen last; null if they were not. */
  checks: ChecksState | null;
}

interface Row {
  session_id: number;
  program: PullRequestProgram;
  remote: string;
  branch: string;
  number: number | null;
  url: string | null;
  state: PullRequestState | null;
  head: string;
  created_at: number;
  asked_at: number | null;
  in_base: 0 | 1;
  checks: ChecksState['state'] | null;
  failed_check: string | null;
}

const toPullRequest = (row: Row): PullRequest => ({
  program: row.program,
  remote: row.remote,
  branch: row.branch,
  number: row.number,
  url: row.url,
  state: row.state,
  head: row.head,
  createdAt: rfc3339(row.created_at),
  askedAt: row.asked_at === null ? null : rfc3339(row.asked_at),
  isInBase: row.in_base === 1,
  checks: row.checks === null ? null : { state: row.checks, failed: row.failed_check },
});

/** The pull requests of sessions. Mutating methods are called inside `storage.write`. */
export interface PullRequestRecords {
  find(sessionId: string): PullRequest | null;
  /** Finds that of a branch, opened for this session or an earlier one on it; the newest. */
  findOfBranch(repository: string, branch: string): PullRequest | null;
  /** Returns those that were open when they were last queried, by session. */
  listOpen(): ReadonlyMap<string, PullRequest>;
  /** Returns all, by session. */
  list(): ReadonlyMap<string, PullRequest>;
  /** Records an opened one; a later one replaces it. */
  add(
    sessionId: string,
    made: ToldPullRequest & Pick<PullRequest, 'program' | 'remote' | 'branch' | 'head'>,
    actor: string,
  ): void;
  setState(sessionId: string, told: ToldPullRequest): void;
  /** Records the checks of the pushed commit. Returns false if they are known. */
  setChecks(sessionId: string, checks: ChecksState | null): boolean;
  /** The base branch of this machine has the merged work. */
  noteArrival(sessionId: string): void;
}

export function createPullRequestRecords(
  { db }: Pick<Storage, 'db'>,
  clock: Pick<Clock, 'now'>,
): PullRequestRecords {
  // Before a branch could have another name at the code host, it had that of the session's.
  const rows = `SELECT own.*, coalesce(own.pushed_to, session.branch) AS branch FROM pull_request AS own
    JOIN session ON session.id = own.session_id`;
  const of = db.prepare<unknown[], Row>(`${rows} WHERE own.session_id = ?`);
  const ofBranch = db.prepare<unknown[], Row>(
    `${rows} WHERE session.branch = ? AND session.repository = ? ORDER BY own.session_id DESC LIMIT 1`,
  );
  const all = db.prepare<unknown[], Row>(rows);
  const open = db.prepare<unknown[], Row>(`${rows} WHERE own.state = 'open'`);
  const mapRows = (found: readonly Row[]) =>
    new Map(found.map((row) => [formatId('s', row.session_id), toPullRequest(row)]));
  const insert = db.prepare(`INSERT OR REPLACE INTO pull_request
    (session_id, program, remote, pushed_to, number, url, state, head, actor, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const update =
    db.prepare(`UPDATE pull_request SET number = coalesce(?, number), url = coalesce(?, url), state = ?,
    asked_at = ? WHERE session_id = ?`);
  const updateChecks = db.prepare(
    `UPDATE pull_request SET checks = ?, failed_check = ?
     WHERE session_id = ? AND (checks IS NOT ? OR failed_check IS NOT ?)`,
  );
  const arrive = db.prepare('UPDATE pull_request SET in_base = 1 WHERE session_id = ?');
  return {
    find(sessionId) {
      const row = of.get(parseId('s', sessionId));
      return row === undefined ? null : toPullRequest(row);
    },
    findOfBranch(repository, branch) {
      const row = ofBranch.get(branch, repository);
      return row === undefined ? null : toPullRequest(row);
    },
    listOpen: () => mapRows(open.all()),
    list: () => mapRows(all.all()),
    add(sessionId, { program, remote, branch, number, url, state, head }, actor) {
      insert.run(
        parseId('s', sessionId),
        program,
        remote,
        branch,
        number,
        url,
        state,
        head,
        actor,
        clock.now(),
      );
    },
    setChecks(sessionId, checks) {
      const { state, failed } = checks ?? { state: null, failed: null };
      return updateChecks.run(state, failed, parseId('s', sessionId), state, failed).changes > 0;
    },
    noteArrival(sessionId) {
      arrive.run(parseId('s', sessionId));
    },
    setState(sessionId, { number, url, state }) {
      update.run(number, url, state, clock.now(), parseId('s', sessionId));
    },
  };
}

/** Records the state of the pull request of some work, for each session that has worked on its branch. Inside `storage.write`. */
export function recordStateOfWork(
  { sessions, records }: { sessions: Pick<Sessions, 'get'>; records: PullRequestRecords },
  session: Session,
  told: ToldPullRequest,
): void {
  for (let each: Session | null = session; each !== null; ) {
    if (records.find(each.sessionId) !== null) records.setState(each.sessionId, told);
    each = each.continues === null ? null : sessions.get(each.continues);
  }
}

/** Reports a pull request, inside `storage.write`. @param isOpened true if svc or a person has just opened it */
export function appendPullRequest(
  events: Pick<EventLog, 'append'>,
  { sessionId, taskId, title }: Pick<Session, 'sessionId' | 'taskId' | 'title'>,
  { number, state, url, checks }: PullRequest,
  isOpened: boolean,
  by: CallAuthor,
): void {
  const detail = `${number === null ? 'pull request' : `#${number}`} ${state ?? ''}`.trimEnd();
  events.append({
    kind: 'pull_request',
    taskId,
    sessionId,
    ...by,
    data: { title, number, state, url, checks, detail, opened: isOpened },
  });
}
