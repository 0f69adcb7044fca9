import type { CallAuthor, Caller, CallTransport } from '../../core/api/operation.ts';
import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import { createDueTimer } from '../../core/base/due-timer.ts';
import { asSvcError, SvcError, toHttpStatus } from '../../core/base/errors.ts';
import { formatId, parseId } from '../../core/base/ids.ts';
import type { Log } from '../../core/base/log.ts';
import { sentence } from '../../core/base/sentence.ts';
import { createSavepoint, type EventLog, type Storage } from '../../storage/index.ts';
import { nameSchedule } from '../tasks/describe-source.ts';
import type { NewTask, Tasks } from '../tasks/index.ts';
import type { Workflow } from '../workflow/index.ts';
import { parseTimetable, type Timetable } from './timetable.ts';

/** A schedule, which creates a task at each due time. Times are RFC 3339 UTC. */
export interface Schedule {
  id: number;
  /** Its cron expression. */
  every: string;
  /** The time zone of the expression, by name. */
  tz: string;
  title: string;
  createdAt: string;
  nextAt: string | null;
  /** The newest task that it has created. */
  lastTaskId: string | null;
  /** Why the last due time created no task, a clause; null if it did. */
  problem: string | null;
}

/** The template and input of the tasks that a schedule creates. */
interface ScheduleRequest<W> {
  wish: W;
  /** The caller who created it. */
  author: { actor: string; via: CallTransport; project: string | null; isTitleGiven: boolean };
}

export interface SchedulesDeps<W> {
  storage: Storage;
  events: Pick<EventLog, 'append'>;
  clock: Clock;
  log: Pick<Log, 'warn'>;
  tasks: Pick<Tasks, 'get'>;
  hasLiveSession(taskId: string): boolean;
  workflow: Pick<Workflow, 'submit'>;
  /** Returns the task of a wish, with its agent. Throws if it cannot be created. */
  buildTask(wish: W, caller: Caller): NewTask;
  /** Throws `consent_missing` until someone has agreed to svc.yaml. */
  requireConsent(): void;
}

/** Creates tasks at the times of cron expressions. Each of them waits for a person, as any other one does. */
export interface Schedules<W> {
  /** Creates the tasks that are due, from now on: one for all times that passed while no engine ran. */
  start(): void;
  /** Looks for tasks that are due, after something other than time has changed. */
  look(): void;
  /** Inside `storage.write`. Throws `usage`, and what the creation of its task would. */
  add(wanted: { every: string; tz: string; wish: W }, caller: Caller): Schedule;
  /** Inside `storage.write`: removes a schedule; its tasks stay. Throws `not_found`. */
  remove(id: number, by: CallAuthor): Schedule;
  list(): Schedule[];
  close(): void;
}

/** How often the clock is compared: it may be set, and the machine may sleep. */
const LOOK_MS = 5000;
/** Pause after a failure of the storage, ms. */
const RETRY_MS = 60_000;
/** A time that is settled for so long in advance was settled by a wrong clock, ms. */
const DAY_MS = 86_400_000;

interface Row {
  id: number;
  cron: string;
  zone: string;
  title: string;
  request: string;
  created_at: number;
  considered_at: number;
  last_task: number | null;
  problem: string | null;
}

export function createSchedules<W>(deps: SchedulesDeps<W>): Schedules<W> {
  const { storage, events, clock, tasks, log } = deps;
  const { db } = storage;
  const insert = db.prepare(
    'INSERT INTO schedule (cron, zone, title, request, created_at, considered_at) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const all = db.prepare<unknown[], Row>('SELECT * FROM schedule ORDER BY +id');
  const byId = db.prepare<unknown[], Row>('SELECT * FROM schedule WHERE id = ?');
  const drop = db.prepare('DELETE FROM schedule WHERE id = ?');
  const settle = db.prepare(
    'UPDATE schedule SET considered_at = ?, last_task = coalesce(?, last_task), problem = ? WHERE id = ?',
  );
  const savepoint = createSavepoint(db);
  // The clock that is never set, so that setting it back does not delay the next look.
  const timer = createDueTimer({ clock: { now: clock.monotonic }, onDue: look, longestSleepMs: LOOK_MS });
  const timetables = new Map<number, Timetable>();
  let isStarted = false;
  let isClosed = false;
  let isLooking = false;

  function findTimetable({ id, cron, zone }: Row): Timetable {
    const known = timetables.get(id) ?? parseTimetable(cron, zone, clock.now());
    timetables.set(id, known);
    return known;
  }

  /** Reports whether the clock was wrong when a schedule was settled last. */
  const isAhead = (row: Row): boolean => row.considered_at - clock.now() > DAY_MS;

  function findNext(row: Row): number | null {
    try {
      return findTimetable(row).findNext(isAhead(row) ? clock.now() : row.considered_at);
    } catch (error) {
      log.warn(
        { schedule: row.id, error: asSvcError(error).message },
        'the times of a schedule are not known',
      );
      return null;
    }
  }

  function describeSchedule(row: Row): Schedule {
    const next = findNext(row);
    return {
      id: row.id,
      every: row.cron,
      tz: row.zone,
      title: row.title,
      createdAt: rfc3339(row.created_at),
      nextAt: next === null ? null : rfc3339(next),
      lastTaskId: row.last_task === null ? null : formatId('t', row.last_task),
      problem: row.problem,
    };
  }

  /** Returns the last task of a schedule until it has ended; null otherwise. */
  function findOpenTask({ last_task: last }: Row): string | null {
    if (last === null) return null;
    const taskId = formatId('t', last);
    try {
      const { status } = tasks.get(taskId);
      return (status === 'done' || status === 'failed') && !deps.hasLiveSession(taskId) ? null : taskId;
    } catch {
      return null;
    }
  }

  /** Creates the task of a due time. Returns its id. */
  function createTask(row: Row): string {
    const { wish, author } = JSON.parse(row.request) as ScheduleRequest<W>;
    const { actor, via, project, isTitleGiven } = author;
    const caller: Caller = { seat: 'chair', actor, via, sessionId: null, project, env: {} };
    const task = deps.buildTask(wish, caller);
    const { task: created } = deps.workflow.submit(
      { ...task, sourceRef: nameSchedule(row.id), origin: { ...task.origin, isTitleGiven } },
      {
        ...{ dispatch: true, approved: false, by: { actor, via } },
        why: `${nameSchedule(row.id)} created it, and a person approves each of its tasks`,
      },
    );
    return created.taskId;
  }

  /** Inside `storage.write`: settles the due times of a schedule, together. */
  function settleDue(row: Row): void {
    const now = clock.now();
    if (isAhead(row)) {
      settle.run(now, null, row.problem, row.id);
      return;
    }
    const open = findOpenTask(row);
    if (open !== null) {
      const problem = `skipped, since ${open} has not ended`;
      if (row.problem !== problem)
        events.append({
          ...{ kind: 'schedule_skipped', taskId: open, via: 'engine' },
          data: {
            schedule: row.id,
            reason: `${nameSchedule(row.id)} creates no task until ${open} has ended`,
          },
        });
      settle.run(now, null, problem, row.id);
      return;
    }
    try {
      const taskId = savepoint(() => createTask(row));
      settle.run(now, parseId('t', taskId), null, row.id);
    } catch (thrown) {
      const error = asSvcError(thrown);
      // A full disk concerns all of them.
      if (toHttpStatus(error.code) >= 500) throw error;
      const { code, message } = error;
      if (row.problem !== message)
        events.append({
          ...{ kind: 'alert', via: 'engine' },
          data: { code, reason: `${nameSchedule(row.id)} (${row.title}) created no task: ${message}` },
        });
      settle.run(now, null, message, row.id);
    }
  }

  const isDue = (row: Row): boolean =>
    isAhead(row) || (findNext(row) ?? Number.POSITIVE_INFINITY) <= clock.now();

  function mayCreate(): boolean {
    try {
      deps.requireConsent();
      return true;
    } catch {
      return false;
    }
  }

  async function settleAll(): Promise<void> {
    if (!mayCreate() || !all.all().some(isDue)) return;
    await storage.write(() => {
      for (const row of all.all()) if (isDue(row)) settleDue(row);
    });
  }

  function sleepOn(): void {
    if (isClosed) return;
    const next = Math.min(...all.all().map((row) => findNext(row) ?? Number.POSITIVE_INFINITY));
    const inMs = Math.min(LOOK_MS, Math.max(0, next - clock.now()));
    // A due schedule that waits for a consent is checked again after a while.
    timer.sleepUntil(next === Number.POSITIVE_INFINITY ? null : clock.monotonic() + (inMs || LOOK_MS));
  }

  async function lookOnce(): Promise<void> {
    try {
      await settleAll();
      sleepOn();
    } catch (error) {
      if (isClosed) return;
      log.warn({ error: asSvcError(error).message }, 'due tasks were not created yet');
      timer.sleepUntil(clock.monotonic() + RETRY_MS);
    } finally {
      isLooking = false;
    }
  }

  function look(): void {
    if (!isStarted || isClosed || isLooking) return;
    isLooking = true;
    void lookOnce();
  }

  return {
    start() {
      isStarted = true;
      look();
    },
    look,
    add({ every, tz, wish }, caller) {
      const now = clock.now();
      const { zone } = parseTimetable(every, tz, now);
      const task = deps.buildTask(wish, caller);
      const request: ScheduleRequest<W> = {
        wish,
        author: {
          ...{ actor: caller.actor, via: caller.via, project: caller.project },
          isTitleGiven: task.origin?.isTitleGiven === true,
        },
      };
      const { lastInsertRowid } = insert.run(every, zone, task.title, JSON.stringify(request), now, now);
      const id = Number(lastInsertRowid);
      const { actor, via } = caller;
      events.append({
        kind: 'schedule_added',
        actor,
        via,
        data: { schedule: id, title: task.title, every, tz: zone },
      });
      storage.afterCommit(look);
      return describeSchedule(byId.get(id) as Row);
    },
    remove(id, by) {
      const row = byId.get(id);
      if (row === undefined)
        throw new SvcError('not_found', `no schedule ${id}`, { hint: sentence`{schedule.list} lists them` });
      drop.run(id);
      timetables.delete(id);
      events.append({ kind: 'schedule_removed', ...by, data: { schedule: id, title: row.title } });
      storage.afterCommit(look);
      return describeSchedule(row);
    },
    list: () => all.all().map(describeSchedule),
    close() {
      isClosed = true;
      timer.close();
    },
  };
}
