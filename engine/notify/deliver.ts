import type { Clock } from '../core/base/clock.ts';
import { createDueTimer } from '../core/base/due-timer.ts';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { EventEnvelope } from './events.ts';
import type { DeliveryResult, DeliveryRow, EventOutbox } from './rows.ts';
import { GIVE_UP_MS, idleMs, nextTryMs, type SendOutcome } from './sending/index.ts';
import { shownTarget } from './shown-target.ts';
import type { DeliveryTarget, SendEvents } from './targets.ts';

export interface DeliverDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  outbox: EventOutbox;
  /** In [0, 1). */
  random(): number;
  /** Returns null if the target is no longer configured. */
  findTarget(key: string): DeliveryTarget | null;
  /** Called after each attempt with the updated row. */
  onTried(row: DeliveryRow): void;
  onError(message: string): void;
}

export interface EventDeliverer {
  /** Attempts due deliveries; cheap if there are none. With `hasNew`, also retries targets whose secret was just missing. */
  wake(hasNew?: boolean): void;
  /** Ends the pause of a target after a failure: a person wants to know now. */
  retryNow(key: string): void;
  /** Reports whether the next attempt is due (timers run late, and clocks are adjusted). */
  isDue(): boolean;
  /** Aborts running attempts and leaves them pending. */
  close(): Promise<void>;
}

const STALLED_MS = 5000;
/** Interval for checking again for a missing secret, which may be added to a file at any time, ms. */
const HELD_MS = 60_000;

/** Runs one loop per target, so that a dead one delays no other. Rows are sent in the order they are due. */
export function createDeliverer(deps: DeliverDeps): EventDeliverer {
  const { storage, clock, outbox } = deps;
  const closing = new AbortController();
  const loops = new Map<string, Promise<void>>();
  /**
   * Targets that are not tried before a time: the last outcome could not be saved, so that sending again would only
   * repeat the event, or a paced target failed.
   */
  const stalled = new Map<string, number>();
  /** Targets without a secret: their events wait indefinitely and are never sent unsigned. */
  const held = new Map<string, number>();
  /** The time of each target's last attempt, or of the last removal of its idle time. */
  const tried = new Map<string, number>();
  const timer = createDueTimer({ clock, onDue: () => wakeLoops() });

  async function runLoop(url: string): Promise<void> {
    for (;;) {
      const now = clock.now();
      const target = deps.findTarget(url);
      const [row, ...others] = outbox.due(url, now, target?.mostAtOnce ?? 1);
      if (row === undefined) return;
      stalled.delete(url);
      const found = target?.open() ?? null;
      if (found !== null && 'missing' in found) {
        await holdTarget(url, found.missing);
        return;
      }
      const rows = [row, ...others] as const;
      held.delete(url);
      const idle = idleMs({ dueAt: row.next_at, triedAt: tried.get(url) ?? 0, now });
      if (idle > 0) {
        await storage.write(() => outbox.postponeEnd(url, idle, now));
        tried.set(url, now);
        continue;
      }
      const outcome = await tryOnce(rows, found);
      tried.set(url, clock.now());
      if (outcome === null || closing.signal.aborted) return;
      try {
        await storage.write(() => {
          for (const each of rows) recordOutcome(each, outcome, target);
        });
      } catch (error) {
        stalled.set(url, clock.now() + STALLED_MS);
        deps.onError(`the outcome of delivery ${row.id} was not saved: ${asSvcError(error).message}`);
        return;
      }
      const settled = rows.flatMap(({ id }) => outbox.get(id) ?? []);
      const pending = settled.filter(({ state }) => state === 'pending');
      const isFailing = target?.isPaced === true && pending.length > 0;
      if (isFailing) stalled.set(url, Math.min(...pending.map(({ next_at }) => next_at)));
      for (const each of settled) deps.onTried(each);
      if (isFailing) return;
    }
  }

  async function holdTarget(url: string, missing: string): Promise<void> {
    const now = clock.now();
    held.set(url, now + HELD_MS);
    const ids = await storage.write(() => outbox.hold(url, `secret_missing: ${missing}`, now));
    for (const id of ids) {
      const row = outbox.get(id);
      if (row !== undefined) deps.onTried(row);
    }
  }

  async function tryOnce(
    rows: Parameters<SendEvents>[0],
    found: { send: SendEvents } | null,
  ): Promise<SendOutcome | null> {
    const failed = { ok: false, gone: false, status: null, retryAfterMs: null };
    if (found === null) return { ...failed, error: 'the target is no longer in svc.yaml' };
    try {
      return await found.send(rows, closing.signal);
    } catch (error) {
      if (closing.signal.aborted) return null;
      // Only own errors are repeated: others may contain an address with a secret.
      return { ...failed, error: error instanceof SvcError ? error.message : 'svc could not send it' };
    }
  }

  function recordOutcome(row: DeliveryRow, outcome: SendOutcome, target: DeliveryTarget | null): void {
    const settled = settleTry(row, outcome, target, clock.now(), deps.random);
    if (!outbox.settle(row.id, settled) || settled.state !== 'dead') return;
    const { task_id, decision_id, session_id, title } = JSON.parse(row.body) as EventEnvelope;
    deps.events.append({
      kind: 'delivery_dead',
      taskId: task_id,
      decisionId: decision_id,
      sessionId: session_id,
      via: 'engine',
      data: { title, event: row.event, delivery: row.id, url: shownTarget(row.url), reason: settled.error },
    });
  }

  function startLoop(url: string): void {
    const running = runLoop(url)
      .catch((error: unknown) => {
        // Reading the outbox failed; the database may recover.
        stalled.set(url, clock.now() + STALLED_MS);
        if (!closing.signal.aborted) deps.onError(asSvcError(error).message);
      })
      .finally(() => {
        loops.delete(url);
        wakeLoops();
      });
    loops.set(url, running);
  }

  /** Starts due deliveries and sets the timer for the next one, from a single clock reading. */
  function wakeLoops(hasNew = false): void {
    timer.sleepUntil(null);
    if (closing.signal.aborted || !storage.db.open) return;
    if (hasNew) held.clear();
    let nextAt = Number.POSITIVE_INFINITY;
    const now = clock.now();
    for (const url of outbox.dueUrls(now)) {
      const stalledUntil = Math.max(stalled.get(url) ?? 0, held.get(url) ?? 0);
      if (stalledUntil > now) nextAt = Math.min(nextAt, stalledUntil);
      else if (!loops.has(url)) startLoop(url);
    }
    timer.sleepUntil(Math.min(nextAt, outbox.nextAfter(now) ?? nextAt));
  }

  return {
    wake: wakeLoops,
    retryNow: (key) => void stalled.delete(key),
    isDue: timer.isDue,
    async close() {
      closing.abort();
      timer.close();
      await Promise.all(loops.values());
    },
  };
}

/** Returns the state of a delivery after an attempt: delivered, dead after 24 h or without its target, otherwise pending. */
function settleTry(
  row: DeliveryRow,
  outcome: SendOutcome,
  target: DeliveryTarget | null,
  now: number,
  random: () => number,
): DeliveryResult {
  const { status, error } = outcome;
  const base = { status, error, deliveredAt: null, nextAt: now };
  if (outcome.ok) return { ...base, state: 'delivered', deliveredAt: now };
  const end = row.first_at + GIVE_UP_MS;
  if (target === null || now >= end) return { ...base, state: 'dead' };
  const pause = outcome.retryAfterMs ?? nextTryMs(row.attempts + 1, random);
  // The last attempt is at the end of the 24 hours, not up to an hour earlier.
  return { ...base, state: 'pending', nextAt: target.postpone(Math.min(end, now + pause)) };
}
