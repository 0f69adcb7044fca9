import type { Clock } from '../../core/base/clock.ts';
import { createDueTimer } from '../../core/base/due-timer.ts';
import { asSvcError } from '../../core/base/errors.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { AgentNotify } from '../../workers/agents/index.ts';
import type { SessionPeers } from '../../workers/sessions/index.ts';
import type { MessageRow } from '../messages/rows.ts';
import { type DeliveryOutcome, MOST_TRIES, retryDelayMs } from './outcome.ts';
import { createPendingRows, type SettledDelivery } from './rows.ts';
import { createNoticeSender, type NoticeSenderDeps } from './send-notices.ts';
import { findTargets } from './targets.ts';

export interface DeliveryDeps extends NoticeSenderDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  peers: SessionPeers;
  entries(): Readonly<Record<string, AgentNotify>>;
  onError(message: string): void;
}

/** Delivers notices of committed messages. The inbox stays authoritative, regardless of notices. */
export interface BusDelivery {
  /** Marks that a message was written; it is delivered after the commit. */
  pending(): void;
  start(): void;
  /** Aborts deliveries in progress and leaves them pending for the next start. */
  close(): Promise<void>;
}

const STALLED_MS = 5000;
/** Events after which a new session may be live. */
const ARRIVALS = new Set(['session_joined', 'dispatched', 'session_started']);

export function createDelivery(deps: DeliveryDeps): BusDelivery {
  const { storage, clock, templates } = deps;
  const rows = createPendingRows(storage);
  const closing = new AbortController();
  /** Messages that are being delivered. */
  const deliveries = new Map<number, Promise<void>>();
  const sender = createNoticeSender(deps, rows, closing.signal);
  let isStarted = false;
  let mayBeDue = true;
  let mayHaveArrived = true;
  const timer = createDueTimer({ clock, onDue: scheduleDelivery });
  let woken: NodeJS.Immediate | undefined;

  deps.events.onAppend(({ kind }) => {
    if (ARRIVALS.has(kind)) mayHaveArrived = true;
  });
  const stopListening = storage.onCommit(() => {
    if (mayBeDue || mayHaveArrived || timer.isDue()) scheduleDelivery();
  });

  /** Schedules a delivery for after the answers to the writers, which are sent first. */
  function scheduleDelivery(): void {
    if (isStarted) woken ??= setImmediate(deliverDue);
  }

  function deliverDue(): void {
    woken = undefined;
    if (closing.signal.aborted || !storage.db.open) return;
    try {
      const now = clock.now();
      const ids = mayHaveArrived ? [...rows.waiting(), ...rows.due(now)] : rows.due(now);
      mayBeDue = false;
      mayHaveArrived = false;
      for (const id of ids) if (!deliveries.has(id)) startDelivery(id);
      timer.sleepUntil(rows.nextAfter(now));
    } catch (error) {
      deps.onError(asSvcError(error).message);
      timer.sleepUntil(clock.now() + STALLED_MS);
    }
  }

  function startDelivery(id: number): void {
    const row = rows.get(id);
    if (row === undefined) return;
    const targets = findTargets(row, { ...deps, ...templates });
    if (targets.length === 0 && row.next_at === null) return;
    // Files are written synchronously, in message order; only what can hang takes a lane.
    const outcomes = targets.map((target) => sender.notify(row, target));
    const flight = Promise.all(outcomes)
      .then((all) => recordOutcomes(id, all))
      .catch(async (error: unknown) => {
        deps.onError(`the delivery of message ${id} was not recorded: ${asSvcError(error).message}`);
        // An immediate retry would fail the same way.
        await waitUnlessAborted(STALLED_MS, closing.signal);
      })
      .finally(() => {
        deliveries.delete(id);
        mayBeDue = true;
        scheduleDelivery();
      });
    deliveries.set(id, flight);
  }

  async function recordOutcomes(id: number, outcomes: readonly (DeliveryOutcome | null)[]): Promise<void> {
    const known = outcomes.filter((outcome) => outcome !== null);
    if (closing.signal.aborted || known.length < outcomes.length) return;
    const row = rows.get(id);
    if (row === undefined) {
      sender.forget(id);
      return;
    }
    const settled = judgeOutcomes(row, known, clock.now());
    await storage.write(() => rows.settle(id, settled));
    if (settled.state !== 'pending') sender.forget(id);
  }

  return {
    pending() {
      mayBeDue = true;
    },
    start() {
      isStarted = true;
      scheduleDelivery();
    },
    async close() {
      closing.abort();
      stopListening();
      timer.close();
      clearImmediate(woken);
      await Promise.all(deliveries.values());
    },
  };
}

/** Derives a message's delivery state from the outcomes for its sessions. */
function judgeOutcomes(row: MessageRow, outcomes: readonly DeliveryOutcome[], now: number): SettledDelivery {
  const base = { nextAt: null, deliveredAt: null, error: null, tried: true };
  if (outcomes.length === 0) {
    const who = row.to_worker === null ? `agent ${row.to_agent}` : `worker ${row.to_worker}`;
    return { ...base, state: 'pending', error: `waits for a live session of ${who}`, tried: false };
  }
  const failures = outcomes.filter((outcome) => outcome.state === 'failed');
  const again = failures.filter(({ retry }) => retry);
  const tries = row.attempts + 1;
  const error = failures[0]?.error ?? null;
  if (again.length > 0 && tries < MOST_TRIES) {
    const until = Math.max(...again.map((outcome) => outcome.until ?? 0));
    return { ...base, state: 'pending', error, nextAt: until > now ? until : now + retryDelayMs(tries) };
  }
  const told = outcomes.filter((outcome) => outcome.state === 'told');
  if (told.length > 0) {
    return { ...base, state: 'delivered', deliveredAt: now, error: error ?? told[0]?.note ?? null };
  }
  return { ...base, state: failures.length > 0 ? 'failed' : 'none', error };
}

function waitUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const endWait = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', endWait);
      resolve();
    };
    const timer = setTimeout(endWait, ms);
    timer.unref();
    signal.addEventListener('abort', endWait);
  });
}
