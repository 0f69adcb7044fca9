import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { asWorkerSession, parseId } from '../../core/base/ids.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import { chairAddress, projectOfAddress, type SessionPeers } from '../../workers/sessions/index.ts';
import type { MessageRecipient } from './address.ts';
import { type MessageKind, type MessageRow, readRecipient } from './rows.ts';

export type { Message } from './rows.ts';

export interface NewMessage {
  kind: MessageKind;
  body: string;
  payloadPath: string | null;
  fromSession: string | null;
  fromAgent: string | null;
  fromName: string | null;
  parentId: number | null;
  taskId: string | null;
  /** The subject, e.g. `ask 3`, which is sent once to each recipient; null for none. */
  origin: string | null;
}

/** The author of a change, for the event log. */
export interface MessageAuthor {
  actor: string | null;
  via: string;
}

/** The owner of an inbox: a session (or a Chair's address), and the agent whose mail it may take. */
export interface MessageReader {
  session: string | null;
  agent: string | null;
}

export interface MessageFilter {
  ids?: readonly number[] | undefined;
  before?: number | undefined;
  limit?: number | undefined;
  unread?: boolean | undefined;
}

/** Owns the messages and their acknowledgements. */
export interface Messages {
  /** Throws `not_found`. */
  get(id: number): MessageRow;
  /** Writes one message per recipient and returns them in that order. Call inside `storage.write`. */
  send(message: NewMessage, to: readonly MessageRecipient[], by: MessageAuthor): MessageRow[];
  /** Rewrites sent messages from a session, of one kind. Call inside `storage.write`. */
  amend(
    from: { session: string; kind: MessageKind },
    change: (body: string) => string,
    by: MessageAuthor,
  ): void;
  /** Lists messages about `origin`. */
  ofOrigin(origin: string): MessageRow[];
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
  /** Throws `not_found`, `holder_mismatch` for anyone but a recipient, `conflict`. Call inside `storage.write`. */
  ack(id: number, reader: MessageReader, by: MessageAuthor): MessageRow;
  /** Acknowledges for the person at the dashboard, who may take any message. Call inside `storage.write`. */
  ackAs(id: number, name: string, by: MessageAuthor): MessageRow;
  /** Unread alerts from before `at`, ms, to or from `whose`, null for everyone; oldest first, with their number. */
  alertsBefore(
    at: number,
    part: { limit: number; whose: MessageReader | null },
  ): { rows: MessageRow[]; count: number };
  count(only: { unread?: boolean | undefined }): number;
  /** Newest first. */
  list(filter: MessageFilter): MessageRow[];
  /** Counts unread ones to the Chairs of the workspace. */
  counts(): { unread: number; alerts: number };
}

export interface MessagesDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  peers: SessionPeers;
  /** Called inside the transaction that writes something to deliver. */
  onPending(): void;
}

const MINE = `(to_session IN (SELECT value FROM json_each(?)) OR to_worker = ?
  OR (to_agent = ? AND (acked_at IS NULL OR acked_by IN (SELECT value FROM json_each(?)))))`;
const TO_CHAIRS = `(to_session = 'chair' OR to_session LIKE 'chair@%' OR to_session LIKE 'chair-%')`;

export function createMessages({ storage, events, clock, peers, onPending }: MessagesDeps): Messages {
  const { db } = storage;
  const byId = db.prepare<unknown[], MessageRow>('SELECT * FROM message WHERE id = ?');
  const byOrigin = db.prepare<unknown[], MessageRow>('SELECT * FROM message WHERE call_key = +? ORDER BY id');
  const insert = db.prepare<unknown[], MessageRow>(`INSERT INTO message
    (kind, body, payload_path, from_session, from_agent, from_name, to_session, to_worker, to_agent,
     parent_id, task_id, call_key, created_at, delivery, next_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?) RETURNING *`);
  const sentFrom = db.prepare<unknown[], MessageRow>(
    'SELECT * FROM message WHERE from_session = ? AND kind = ? ORDER BY id',
  );
  const setBody = db.prepare('UPDATE message SET body = ? WHERE id = ?');
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
  // A read message needs no notice.
  const setAcked = db.prepare(`UPDATE message SET acked_at = ?, acked_by = ?,
    delivery = CASE delivery WHEN 'pending' THEN 'none' ELSE delivery END WHERE id = ? AND acked_at IS NULL`);
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
  const count = db.prepare<unknown[], { n: number }>(
    'SELECT count(*) AS n FROM message WHERE ? = 0 OR acked_at IS NULL',
  );
  const newest = db.prepare<unknown[], MessageRow>(
    'SELECT * FROM message WHERE id < ? AND (? = 0 OR acked_at IS NULL) ORDER BY id DESC LIMIT +?',
  );
  const among = db.prepare<unknown[], MessageRow>(
    `SELECT * FROM message WHERE id IN (SELECT value FROM json_each(?)) AND id < ?
     AND (? = 0 OR acked_at IS NULL) ORDER BY id DESC LIMIT +?`,
  );
  const chairUnread = db.prepare<unknown[], { unread: number; alerts: number }>(
    `SELECT count(*) AS unread, coalesce(sum(kind = 'alert'), 0) AS alerts FROM message
     WHERE acked_at IS NULL AND ${TO_CHAIRS}`,
  );

  const toChairs = db
    .prepare<unknown[], string>(
      `SELECT DISTINCT to_session FROM message
       WHERE to_session >= 'chair-' AND to_session < 'chair.' AND acked_at IS NULL`,
    )
    .pluck();

  function get(id: number): MessageRow {
    const row = byId.get(id);
    if (row !== undefined) return row;
    throw new SvcError('not_found', `no message ${id}`, {
      hint: sentence`{msg.inbox} lists the kept messages; acknowledged ones are removed after some time`,
    });
  }

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

  function markAcknowledged(row: MessageRow, taker: string, by: MessageAuthor): MessageRow {
    if (setAcked.run(clock.now(), taker, row.id).changes === 0) {
      if (row.acked_by === taker) return row;
      throw new SvcError('conflict', `message ${row.id} was already acknowledged by ${row.acked_by}`, {
        hint: 'leave it to that session',
        data: { acked_by: row.acked_by },
      });
    }
    events.append({
      kind: 'message_acked',
      sessionId: asWorkerSession(taker),
      ...by,
      data: { messageId: row.id, by: taker },
    });
    return get(row.id);
  }

  return {
    get,
    amend({ session, kind }, change, by) {
      for (const { id, body } of sentFrom.all(session, kind)) {
        const changed = change(body);
        if (changed === body) continue;
        setBody.run(changed, id);
        const data = { messageId: id, kind };
        events.append({ kind: 'message_amended', sessionId: asWorkerSession(session), ...by, data });
      }
    },
    send(message, to, by) {
      const now = clock.now();
      const rows = to.map(
        ({ toSession, toWorker, toAgent }) =>
          insert.get(
            message.kind,
            message.body,
            message.payloadPath,
            message.fromSession,
            message.fromAgent,
            message.fromName,
            toSession,
            toWorker,
            toAgent,
            message.parentId,
            message.taskId === null ? null : parseId('t', message.taskId),
            message.origin,
            now,
            now,
          ) as MessageRow,
      );
      const from = message.fromSession ?? message.fromAgent;
      const about = { taskId: message.taskId, sessionId: asWorkerSession(message.fromSession), ...by };
      for (const row of rows) {
        const [kind, address] = readRecipient(row);
        const data = { messageId: row.id, kind: row.kind, from, to: address, toKind: kind };
        events.append({ ...about, kind: 'message_sent', data });
        if (row.kind !== 'alert') continue;
        // This event leaves the machine: it names the sender, never the text.
        const title = `alert from ${message.fromSession ?? 'an agent'}`;
        events.append({ ...about, kind: 'alert', data: { title, messageId: row.id } });
      }
      onPending();
      return rows;
    },
    ofOrigin: (origin) => byOrigin.all(origin),
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
    ack(id, reader, by) {
      const row = get(id);
      const taker = reader.session ?? (reader.agent as string);
      if (row.acked_by === taker) return row;
      if (!isTo(row, reader)) {
        const who = reader.session ?? `agent ${reader.agent}`;
        throw new SvcError(
          'holder_mismatch',
          `message ${id} is addressed to ${readRecipient(row)[1]}, not to ${who}`,
          {
            hint: 'only its recipient can acknowledge a message',
          },
        );
      }
      return markAcknowledged(row, taker, by);
    },
    ackAs: (id, name, by) => markAcknowledged(get(id), name, by),
    alertsBefore(at, { limit, whose }) {
      if (whose === null) return { rows: alerts.all(at, limit), count: alertCount.get(at)?.n ?? 0 };
      const part = [at, whose.session, ...buildReaderParameters(whose)];
      return { rows: alertsOf.all(...part, limit), count: alertCountOf.get(...part)?.n ?? 0 };
    },
    count: ({ unread = false }) => count.get(unread ? 1 : 0)?.n ?? 0,
    list({ ids, before = Number.MAX_SAFE_INTEGER, limit = ids?.length ?? 100, unread = false }) {
      const rest = [before, unread ? 1 : 0, limit];
      return ids === undefined ? newest.all(...rest) : among.all(JSON.stringify(ids), ...rest);
    },
    counts: () => chairUnread.get() ?? { unread: 0, alerts: 0 },
  };
}
