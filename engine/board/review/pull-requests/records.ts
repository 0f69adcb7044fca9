import { type Clock, rfc3339 } from '../../../core/base/clock.ts';
import { formatId, parseId } from '../../../core/base/ids.ts';
import type { Storage } from '../../../storage/index.ts';
import type { PullRequestProgram, PullRequestState, ToldPullRequest } from './programs.ts';

/** The pull request of a session's branch; times are RFC 3339 UTC. */
export interface PullRequest extends ToldPullRequest {
  program: PullRequestProgram;
  remote: string;
  /** The commit that was pushed. */
  head: string;
  createdAt: string;
  /** When its state was last queried. */
  askedAt: string | null;
}

interface Row {
  session_id: number;
  program: PullRequestProgram;
  remote: string;
  number: number | null;
  url: string | null;
  state: PullRequestState | null;
  head: string;
  created_at: number;
  asked_at: number | null;
}

const toPullRequest = (row: Row): PullRequest => ({
  program: row.program,
  remote: row.remote,
  number: row.number,
  url: row.url,
  state: row.state,
  head: row.head,
  createdAt: rfc3339(row.created_at),
  askedAt: row.asked_at === null ? null : rfc3339(row.asked_at),
});

/** The pull requests of sessions. Mutating methods are called inside `storage.write`. */
export interface PullRequestRecords {
  find(sessionId: string): PullRequest | null;
  /** Returns all, by session. */
  list(): ReadonlyMap<string, PullRequest>;
  /** Records an opened one; a later one replaces it. */
  add(
    sessionId: string,
    made: ToldPullRequest & Pick<PullRequest, 'program' | 'remote' | 'head'>,
    actor: string,
  ): void;
  setState(sessionId: string, told: ToldPullRequest): void;
}

export function createPullRequestRecords(
  { db }: Pick<Storage, 'db'>,
  clock: Pick<Clock, 'now'>,
): PullRequestRecords {
  const of = db.prepare<unknown[], Row>('SELECT * FROM pull_request WHERE session_id = ?');
  const all = db.prepare<unknown[], Row>('SELECT * FROM pull_request');
  const insert = db.prepare(`INSERT OR REPLACE INTO pull_request
    (session_id, program, remote, number, url, state, head, actor, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const update =
    db.prepare(`UPDATE pull_request SET number = coalesce(?, number), url = coalesce(?, url), state = ?,
    asked_at = ? WHERE session_id = ?`);
  return {
    find(sessionId) {
      const row = of.get(parseId('s', sessionId));
      return row === undefined ? null : toPullRequest(row);
    },
    list: () => new Map(all.all().map((row) => [formatId('s', row.session_id), toPullRequest(row)])),
    add(sessionId, { program, remote, number, url, state, head }, actor) {
      insert.run(parseId('s', sessionId), program, remote, number, url, state, head, actor, clock.now());
    },
    setState(sessionId, { number, url, state }) {
      update.run(number, url, state, clock.now(), parseId('s', sessionId));
    },
  };
}
