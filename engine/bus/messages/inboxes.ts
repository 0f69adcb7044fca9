import type { Db } from '../../storage/index.ts';
import { chairAddress, projectOfAddress, type SessionPeers } from '../../workers/sessions/index.ts';
import type { MessageRow } from './rows.ts';

/** The owner of an inbox: a session (or a Chair's address), and the agent whose mail it may take. */
export interface MessageReader {
  session: string | null;
  agent: string | null;
}

/** Reads messages by their recipient. */
export interface MessageInboxes {
  /**
   * Lists unread ones, oldest first, or all of them, newest first: at most `limit` after the one that `cursor` names.
   * With the number of each, on all pages.
   */
  inbox(
    reader: MessageReader,
    part: { limit: number; unread: boolean; cursor?: number | undefined },
  ): { rows: MessageRow[]; unread: number; read: number };
  /** Counts the messages of an inbox after a given one. */
  countAfter(reader: MessageReader, part: { unread: boolean; cursor: number }): number;
  /** Reports whether a message is addressed to that reader. */
  isTo(row: MessageRow, reader: MessageReader): boolean;
  /** Reports whether any stored message is addressed to that session. */
  isAddressed(session: string): boolean;
  /** Unread alerts from before `at`, ms, to or from `whose`, null for everyone; oldest first, with their number. */
  alertsBefore(
    at: number,
    part: { limit: number; whose: MessageReader | null },
  ): { rows: MessageRow[]; count: number };
}

const MINE = `(to_session IN (SELECT value FROM json_each(?)) OR to_worker = ?
  OR (to_agent = ? AND (acked_at IS NULL OR acked_by IN (SELECT value FROM json_each(?)))))`;
export function createInboxes(db: Db, peers: SessionPeers): MessageInboxes {
  const unreadOf = db.prepare<unknown[], MessageRow>(
    `SELECT * FROM message WHERE acked_at IS NULL AND ${MINE} AND id > ? ORDER BY id LIMIT +?`,
  );
  const newestOf = db.prepare<unknown[], MessageRow>(
    `SELECT * FROM message WHERE ${MINE} AND id < ? ORDER BY id DESC LIMIT +?`,
  );
  const countUnreadAfter = db.prepare<unknown[], { n: number }>(
    `SELECT count(*) AS n FROM message WHERE acked_at IS NULL AND ${MINE} AND id > ?`,
  );
  const countBefore = db.prepare<unknown[], { n: number }>(
    `SELECT count(*) AS n FROM message WHERE ${MINE} AND id < ?`,
  );
  const unreadCount = db.prepare<unknown[], { n: number }>(
    `SELECT count(*) AS n FROM message WHERE acked_at IS NULL AND ${MINE}`,
  );
  const readCount = db.prepare<unknown[], { n: number }>(
    `SELECT count(*) AS n FROM message WHERE acked_at IS NOT NULL AND ${MINE}`,
  );
  const addressed = db.prepare<unknown[], { one: number }>(
    'SELECT 1 AS one FROM message WHERE to_session = ? LIMIT 1',
  );
  const alerts = db.prepare<unknown[], MessageRow>(
    `SELECT * FROM message WHERE acked_at IS NULL AND kind = 'alert' AND created_at <= ? ORDER BY +id LIMIT +?`,
  );
  const alertsOf = db.prepare<unknown[], MessageRow>(
    `SELECT * FROM message WHERE acked_at IS NULL AND kind = 'alert' AND created_at <= ?
     AND (from_session = ? OR ${MINE}) ORDER BY +id LIMIT +?`,
  );
  const alertCount = db.prepare<unknown[], { n: number }>(
    `SELECT count(*) AS n FROM message WHERE acked_at IS NULL AND kind = 'alert' AND created_at <= ?`,
  );
  const alertCountOf = db.prepare<unknown[], { n: number }>(
    `SELECT count(*) AS n FROM message WHERE acked_at IS NULL AND kind = 'alert' AND created_at <= ?
     AND (from_session = ? OR ${MINE})`,
  );
  const toChairs = db
    .prepare<unknown[], string>(
      `SELECT DISTINCT to_session FROM message
       WHERE to_session >= 'chair-' AND to_session < 'chair.' AND acked_at IS NULL`,
    )
    .pluck();

  /** Lists Chairs who left unread mail behind; the seat's current holder takes it over. */
  function listUnclaimedSeats(project: string | null): string[] {
    return toChairs.all().filter((session) => {
      const chair = peers.find(session);
      return chair?.state === 'ended' && chair.project === project;
    });
  }

  /** Lists the addresses of a reader; a Chair also reads the mail of its seat. */
  function listReaderAddresses({ session }: MessageReader): {
    sessions: string[];
    worker: string | null;
    agent: string | null;
  } {
    if (session === null) return { sessions: [], worker: null, agent: null };
    const seat = projectOfAddress(session);
    if (seat !== undefined)
      return { sessions: [session, ...listUnclaimedSeats(seat)], worker: null, agent: null };
    const peer = peers.find(session);
    const sessions =
      peer?.seat === 'chair' ? [chairAddress(peer.project), ...listUnclaimedSeats(peer.project)] : [];
    return { sessions: [session, ...sessions], worker: peer?.workerId ?? null, agent: peer?.agent ?? null };
  }

  function buildReaderParameters(reader: MessageReader): unknown[] {
    const { sessions, worker, agent } = listReaderAddresses(reader);
    const takers = JSON.stringify([reader.session, reader.agent].filter((each) => each !== null));
    return [JSON.stringify(sessions), worker, reader.agent ?? agent, takers];
  }

  function isTo(row: MessageRow, reader: MessageReader): boolean {
    const { sessions, worker, agent } = listReaderAddresses(reader);
    return (
      (row.to_session !== null && sessions.includes(row.to_session)) ||
      (row.to_worker !== null && row.to_worker === worker) ||
      (row.to_agent !== null && row.to_agent === (reader.agent ?? agent))
    );
  }

  return {
    inbox(reader, { limit, unread, cursor }) {
      const whose = buildReaderParameters(reader);
      const rows = unread
        ? unreadOf.all(...whose, cursor ?? 0, limit)
        : newestOf.all(...whose, cursor ?? Number.MAX_SAFE_INTEGER, limit);
      const countOf = (of: typeof unreadCount): number => of.get(...whose)?.n ?? 0;
      return { rows, unread: countOf(unreadCount), read: countOf(readCount) };
    },
    countAfter: (reader, { unread, cursor }) =>
      (unread ? countUnreadAfter : countBefore).get(...buildReaderParameters(reader), cursor)?.n ?? 0,
    isTo,
    isAddressed: (session) => addressed.get(session) !== undefined,
    alertsBefore(at, { limit, whose }) {
      if (whose === null) return { rows: alerts.all(at, limit), count: alertCount.get(at)?.n ?? 0 };
      const part = [at, whose.session, ...buildReaderParameters(whose)];
      return { rows: alertsOf.all(...part, limit), count: alertCountOf.get(...part)?.n ?? 0 };
    },
  };
}
