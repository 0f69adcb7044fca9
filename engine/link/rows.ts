import type { CommandOutcome, LinkEvent } from '../core/link-protocol/messages.ts';
import type { Storage } from '../storage/index.ts';

/** The server of this workspace's token. Times are Unix ms. */
export interface LinkRow {
  server: string;
  /** The server's id for this workspace. */
  workspace: string;
  account: string;
  person: string;
  /** The public key of its leases at the time of linking. */
  leaseKey: string;
  linkedAt: number;
  tokenAt: number;
  revokedAt: number | null;
}

interface StoredLink {
  server: string;
  workspace: string;
  account: string;
  person: string;
  lease_key: string;
  linked_at: number;
  token_at: number;
  revoked_at: number | null;
}

/** Data that was not sent to the server yet. */
export interface WaitingEvent {
  id: number;
  body: string;
}

/** The secret of one-time codes and the number of attempts. */
export interface CodeRow {
  secret: Buffer;
  last_step: number;
  failures: number;
  closed_until: number;
}

/** Retention of outcomes: far longer than a command may be applied. */
const KEEP_OUTCOME_MS = 30 * 86_400_000;

export type LinkRows = ReturnType<typeof createLinkRows>;

/** Access to the tables of the link. Methods that change them are called inside `storage.write`. */
export function createLinkRows({ db }: Pick<Storage, 'db'>) {
  const readLink = db.prepare<unknown[], StoredLink>('SELECT * FROM link');
  const putLink = db.prepare(
    `INSERT OR REPLACE INTO link (one, server, workspace, account, person, lease_key, linked_at, token_at)
     VALUES (1, @server, @workspace, @account, @person, @leaseKey, @linkedAt, @tokenAt)`,
  );
  const setRevoked = db.prepare('UPDATE link SET revoked_at = ? WHERE revoked_at IS NULL');
  const setTokenAt = db.prepare('UPDATE link SET token_at = ?');
  const clear = ['link', 'link_event', 'link_code', 'telemetry', 'telemetry_day'].map((table) =>
    db.prepare(`DELETE FROM ${table}`),
  );
  const addEvent = db.prepare(
    'INSERT OR IGNORE INTO link_event (message_id, body, created_at) VALUES (?, ?, ?)',
  );
  const nextEvents = db.prepare<unknown[], WaitingEvent>(
    'SELECT id, body FROM link_event ORDER BY id LIMIT +?',
  );
  const dropEvents = db.prepare('DELETE FROM link_event WHERE id IN (SELECT value FROM json_each(?))');
  const dropOld = db.prepare(
    'DELETE FROM link_event WHERE id IN (SELECT id FROM link_event WHERE created_at < ? ORDER BY id LIMIT 1000)',
  );
  const countEvents = db.prepare<unknown[], { n: number }>('SELECT count(*) AS n FROM link_event');
  const readOutcome = db.prepare<unknown[], { outcome: string }>(
    'SELECT outcome FROM link_command WHERE id = ?',
  );
  const addOutcome = db.prepare('INSERT INTO link_command (id, outcome, at) VALUES (?, ?, ?)');
  const dropOutcomes = db.prepare('DELETE FROM link_command WHERE at < ?');
  const readCode = db.prepare<unknown[], CodeRow>(
    'SELECT secret, last_step, failures, closed_until FROM link_code',
  );
  const putCode = db.prepare('INSERT OR REPLACE INTO link_code (one, secret, made_at) VALUES (1, ?, ?)');
  const markCodeUsed = db.prepare('UPDATE link_code SET last_step = ?, failures = 0');
  const failCode = db.prepare('UPDATE link_code SET failures = ?, closed_until = ?');

  return {
    readLink(): LinkRow | null {
      const row = readLink.get();
      if (row === undefined) return null;
      const { lease_key, linked_at, token_at, revoked_at, ...rest } = row;
      return { ...rest, leaseKey: lease_key, linkedAt: linked_at, tokenAt: token_at, revokedAt: revoked_at };
    },
    putLink: (row: Omit<LinkRow, 'revokedAt'>): void => void putLink.run(row),
    /** False if it was known. */
    setRevoked: (at: number): boolean => setRevoked.run(at).changes === 1,
    setTokenAt: (at: number): void => void setTokenAt.run(at),
    /** Forgets the server, sent and pending data, and the secret of codes; not the applied commands. */
    clear(): void {
      for (const each of clear) each.run();
    },
    addEvent: (event: LinkEvent, now: number): void =>
      void addEvent.run(event.id, JSON.stringify(event), now),
    nextEvents: (limit: number): WaitingEvent[] => nextEvents.all(limit),
    dropEvents: (ids: readonly number[]): void => void dropEvents.run(JSON.stringify(ids)),
    /** Deletes entries before that time, at most a thousand, and returns their number. */
    dropOldEvents: (before: number): number => dropOld.run(before).changes,
    countEvents: (): number => countEvents.get()?.n ?? 0,
    findOutcome(id: string): CommandOutcome | null {
      const row = readOutcome.get(id);
      return row === undefined ? null : (JSON.parse(row.outcome) as CommandOutcome);
    },
    keepOutcome(id: string, outcome: CommandOutcome, now: number): void {
      addOutcome.run(id, JSON.stringify(outcome), now);
      dropOutcomes.run(now - KEEP_OUTCOME_MS);
    },
    readCode: (): CodeRow | null => readCode.get() ?? null,
    putCode: (secret: Buffer, now: number): void => void putCode.run(secret, now),
    markCodeUsed: (step: number): void => void markCodeUsed.run(step),
    failCode: (failures: number, closedUntil: number): void => void failCode.run(failures, closedUntil),
  };
}
