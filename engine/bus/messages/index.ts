import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { asWorkerSession, parseId } from '../../core/base/ids.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { SessionPeers } from '../../workers/sessions/index.ts';
import type { MessageRecipient } from './address.ts';
import { createInboxes, type MessageInboxes, type MessageReader } from './inboxes.ts';
import { type MessageKind, type MessageRow, readRecipient } from './rows.ts';

export type { MessageReader } from './inboxes.ts';
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

export interface MessageFilter {
  ids?: readonly number[] | undefined;
  before?: number | undefined;
  limit?: number | undefined;
  unread?: boolean | undefined;
}

/** Owns the messages and their acknowledgements. */
export interface Messages extends MessageInboxes {
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
  /** Throws `not_found`, `holder_mismatch` for anyone but a recipient, `conflict`. Call inside `storage.write`. */
  ack(id: number, reader: MessageReader, by: MessageAuthor): MessageRow;
  /** Acknowledges for the person at the dashboard, who may take any message. Call inside `storage.write`. */
  ackAs(id: number, name: string, by: MessageAuthor): MessageRow;
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

const TO_CHAIRS = `(to_session = 'chair' OR to_session LIKE 'chair@%' OR to_session LIKE 'chair-%')`;

export function createMessages({ storage, events, clock, peers, onPending }: MessagesDeps): Messages {
  const { db } = storage;
  const inboxes = createInboxes(db, peers);
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
  // A read message needs no notice.
  const setAcked = db.prepare(`UPDATE message SET acked_at = ?, acked_by = ?,
    delivery = CASE delivery WHEN 'pending' THEN 'none' ELSE delivery END WHERE id = ? AND acked_at IS NULL`);
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

  function get(id: number): MessageRow {
    const row = byId.get(id);
    if (row !== undefined) return row;
    throw new SvcError('not_found', `no message ${id}`, {
      hint: sentence`{msg.inbox} lists the kept messages; acknowledged ones are removed after some time`,
    });
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
    ...inboxes,
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
    ack(id, reader, by) {
      const row = get(id);
      const taker = reader.session ?? (reader.agent as string);
      if (row.acked_by === taker) return row;
      if (!inboxes.isTo(row, reader)) {
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
    count: ({ unread = false }) => count.get(unread ? 1 : 0)?.n ?? 0,
    list({ ids, before = Number.MAX_SAFE_INTEGER, limit = ids?.length ?? 100, unread = false }) {
      const rest = [before, unread ? 1 : 0, limit];
      return ids === undefined ? newest.all(...rest) : among.all(JSON.stringify(ids), ...rest);
    },
    counts: () => chairUnread.get() ?? { unread: 0, alerts: 0 },
  };
}
