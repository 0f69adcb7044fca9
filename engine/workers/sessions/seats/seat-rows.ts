import type { Storage } from '../../../storage/index.ts';
import type { SeatRow } from './rows.ts';

type Text = string | null;
/** In the order of the statement. */
type SeatValues = [
  ...[kind: string, name: Text, project: Text, agent: Text, title: Text],
  ...[pid: number | null, pidStart: Text, notifyBase: Text, openedAt: number, seenAt: number],
];
type RenewedValues = [
  ...[project: Text, agent: Text, title: Text, pid: number | null, pidStart: Text],
  ...[notifyBase: Text, seenAt: number, id: number],
];

/** Access to the table of seats. Statements that change it run inside `storage.write`. */
export function createSeatRows({ db }: Pick<Storage, 'db'>) {
  const byId = db.prepare<unknown[], SeatRow>("SELECT * FROM seat WHERE id = ? AND kind = 'chair'");
  const byName = db.prepare<unknown[], SeatRow>('SELECT * FROM seat WHERE name = ?');
  const byProcess = db.prepare<unknown[], SeatRow>(
    `SELECT * FROM seat WHERE pid = ? AND pid_start = ? AND kind = 'chair' AND closed_at IS NULL LIMIT 1`,
  );
  const open = db.prepare<unknown[], SeatRow>('SELECT * FROM seat WHERE closed_at IS NULL');
  const insert = db.prepare(`INSERT INTO seat
    (kind, name, project, agent, title, pid, pid_start, notify_base, opened_at, seen_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const renew =
    db.prepare(`UPDATE seat SET project = ?, agent = coalesce(?, agent), title = coalesce(?, title),
    pid = ?, pid_start = ?, notify_base = coalesce(?, notify_base), seen_at = ?, misses = 0, closed_at = NULL
    WHERE id = ?`);
  const setClosed = db.prepare(
    'UPDATE seat SET closed_at = ?, seen_at = ? WHERE id = ? AND closed_at IS NULL',
  );
  const setSeen = db.prepare('UPDATE seat SET seen_at = max(seen_at, ?) WHERE id = ?');
  const setMisses = db.prepare<unknown[], { misses: number }>(
    'UPDATE seat SET misses = CASE ? WHEN 1 THEN misses + 1 ELSE 0 END WHERE id = ? RETURNING misses',
  );
  const forgetClosed = db.prepare(`DELETE FROM seat WHERE closed_at < ? AND NOT EXISTS
    (SELECT 1 FROM message WHERE acked_at IS NULL AND to_session = coalesce(seat.name, 'chair-' || seat.id))`);

  function rowOf(sessionId: string): SeatRow | undefined {
    const chair = /^chair-([1-9]\d{0,14})$/.exec(sessionId);
    return chair ? byId.get(Number(chair[1])) : byName.get(sessionId);
  }

  return {
    rowOf,
    readChair: (id: number) => byId.get(id),
    findNamed: (name: string) => byName.get(name),
    findOfProcess: (pid: number, pidStart: string | null) => byProcess.get(pid, pidStart),
    listOpen: (): SeatRow[] => open.all(),
    /** Returns the id of the new row. */
    insert: (...values: SeatValues): number => Number(insert.run(...values).lastInsertRowid),
    renew: (...values: RenewedValues): void => void renew.run(...values),
    /** False if it was already closed. */
    setClosed: (id: number, at: number, seenAt: number): boolean => setClosed.run(at, seenAt, id).changes > 0,
    setSeen: (id: number, at: number): void => void setSeen.run(at, id),
    countMiss: (id: number, missed: boolean): number => setMisses.get(missed ? 1 : 0, id)?.misses ?? 0,
    forgetClosed: (before: number): void => void forgetClosed.run(before),
  };
}
