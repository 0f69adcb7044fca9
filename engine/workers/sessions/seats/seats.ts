import type { Clock } from '../../../core/base/clock.ts';
import { SvcError } from '../../../core/base/errors.ts';
import type { EventLog, Storage } from '../../../storage/index.ts';
import { createAttendance } from './attendance.ts';
import { type SeatKind, type SeatRow, type SeatSession, seatSessionId, toSeatSession } from './rows.ts';
import { createSeatRows } from './seat-rows.ts';

export interface NewSeat {
  kind: SeatKind;
  /** The name of a plain session; Chairs are numbered. */
  name: string | null;
  project: string | null;
  agent: string | null;
  title: string | null;
  notifyBase: string | null;
  /** The process that holds the seat; null if only its calls show that it is alive. */
  process: { pid: number; pidStart: string } | null;
}

/** The register of sessions that are not runs: Chairs and plain sessions. */
export interface SeatRegistry {
  /**
   * Opens a seat, or returns the existing one of the same process or name. Call inside `storage.write`. Throws `fields_invalid`
   * for a reserved name.
   */
  open(seat: NewSeat): SeatSession;
  /** Closes a seat. Call inside `storage.write`. False if it was already closed. */
  close(sessionId: string, why: string): boolean;
  /** Records activity of a seat in memory, for `flush` to save. */
  seen(sessionId: string): void;
  /** Reports whether `flush` has anything to save. */
  isHeard(): boolean;
  /** Saves recorded activity. Call inside `storage.write`. */
  flush(): void;
  /** Attaches a connected client to a session. Call the returned function when it disconnects. */
  hold(sessionId: string): () => void;
  /** Counts the attached clients: agents of the same name share a session. */
  holders(sessionId: string): number;
  /** Deletes seats closed before `at`, Unix ms, unless they have unread mail. Call inside `storage.write`. */
  forget(at: number): void;
  find(sessionId: string): SeatSession | null;
  /** Lists open seats, most recently active first. */
  live(filter?: { kind?: SeatKind; project?: string | null }): SeatSession[];
  /** Counts a check that missed the seat (R6), or resets the count, and returns it. Call inside `storage.write`. */
  miss(sessionId: string, missed: boolean): number;
  /** Lists open seats with their process and last activity, Unix ms. */
  watched(): {
    sessionId: string;
    pid: number | null;
    pidStart: string | null;
    seenAt: number;
    misses: number;
    /** Reports whether a client is attached to it. */
    isAttended: boolean;
  }[];
}

/** Names reserved for other kinds of sessions. */
const RESERVED = /^(?:me|chair(?:[-@].*)?|[swtd]-\d+)$/i;
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Reports whether a plain session may have this name. */
export const isPlainName = (name: string): boolean => NAME.test(name) && !RESERVED.test(name);

export function createSeats({
  storage,
  events,
  clock,
  atClose,
}: {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  /** Releases what a seat's session held, inside the transaction that closes it. */
  atClose(sessionId: string): void;
}): SeatRegistry {
  const rows = createSeatRows(storage);
  const attendance = createAttendance();
  /** Unsaved activity by session id, Unix ms. */
  const heard = new Map<string, number>();
  const seenAt = (row: SeatRow): number => Math.max(row.seen_at, heard.get(seatSessionId(row)) ?? 0);

  return {
    open(seat) {
      const { kind, name, project, agent, title, notifyBase, process } = seat;
      if (name !== null && !isPlainName(name)) {
        throw new SvcError('fields_invalid', `a plain session cannot be called ${JSON.stringify(name)}`, {
          hint: 'letters, digits, . _ - and not a name like s-1 or chair-1',
        });
      }
      const now = clock.now();
      const pid = process?.pid ?? null;
      const pidStart = process?.pidStart ?? null;
      const known =
        name !== null ? rows.findNamed(name) : pid !== null ? rows.findOfProcess(pid, pidStart) : undefined;
      const isNew = known === undefined || known.closed_at !== null;
      if (known) rows.renew(project, agent, title, pid, pidStart, notifyBase, now, known.id);
      const id =
        known?.id ?? rows.insert(kind, name, project, agent, title, pid, pidStart, notifyBase, now, now);
      const session = toSeatSession((name === null ? rows.readChair(id) : rows.findNamed(name)) as SeatRow);
      if (isNew) {
        const data = { session: session.sessionId, seat: kind, agent, project };
        events.append({ kind: 'session_joined', via: 'engine', data });
      }
      return session;
    },
    close(sessionId, why) {
      const row = rows.rowOf(sessionId);
      if (row === undefined || !rows.setClosed(row.id, clock.now(), seenAt(row))) return false;
      heard.delete(sessionId);
      atClose(sessionId);
      const data = { session: sessionId, seat: row.kind, reason: why };
      events.append({ kind: 'session_left', via: 'engine', data });
      return true;
    },
    seen(sessionId) {
      heard.set(sessionId, clock.now());
    },
    isHeard: () => heard.size > 0,
    hold: attendance.hold,
    holders: attendance.holders,
    forget(at) {
      rows.forgetClosed(at);
    },
    flush() {
      for (const [sessionId, at] of heard) {
        const row = rows.rowOf(sessionId);
        if (row) rows.setSeen(row.id, at);
      }
      heard.clear();
    },
    find(sessionId) {
      const row = rows.rowOf(sessionId);
      return row === undefined ? null : toSeatSession({ ...row, seen_at: seenAt(row) });
    },
    live({ kind, project } = {}) {
      return rows
        .listOpen()
        .filter(
          (row) =>
            (kind === undefined || row.kind === kind) && (project === undefined || row.project === project),
        )
        .map((row) => ({ ...row, seen_at: seenAt(row) }))
        .sort((one, other) => other.seen_at - one.seen_at || other.id - one.id)
        .map(toSeatSession);
    },
    miss(sessionId, missed) {
      const row = rows.rowOf(sessionId);
      return row === undefined ? 0 : rows.countMiss(row.id, missed);
    },
    watched: () =>
      rows.listOpen().map((row) => ({
        sessionId: seatSessionId(row),
        pid: row.pid,
        pidStart: row.pid_start,
        seenAt: seenAt(row),
        misses: row.misses,
        isAttended: attendance.holders(seatSessionId(row)) > 0,
      })),
  };
}
