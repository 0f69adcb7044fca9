import { setTimeout as delay } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { Log } from '../../core/base/log.ts';
import { GIVE_UP_MS, idleMs, nextTryMs } from '../../notify/sending/index.ts';
import type { Tables, TargetDeliveryRow, TargetRow } from '../database/tables.ts';
import { createDueLoops } from '../due-loops.ts';
import type { AccountPlans } from '../plans/plans.ts';
import { capabilityOf } from './add-target.ts';
import type { AddressGuard } from './address-guard.ts';
import { createOutbox, type TargetOutbox, type TargetResult } from './outbox.ts';
import { createDeliveryQueue, type DeliveryQueue } from './queue-deliveries.ts';
import { buildSample } from './samples.ts';
import { type SendAttempt, sendEvent } from './send.ts';
import type { TargetStore } from './targets.ts';

// Events of linked workspaces on their way to the targets of their account. A delivery is written in the transaction
// of its event; each target has a separate loop.

/** Interval for checking a locked target. */
const LOCKED_MS = 3600_000;
export interface TargetDeliveries extends DeliveryQueue {
  /** Starts sending what is due. */
  start(): void;
  /** Called when something may have become due. */
  wake(): void;
  /** Resolves when nothing is in progress and nothing more is due. */
  settled(): Promise<void>;
  list: TargetOutbox['list'];
  /** False if the account has no such delivery. */
  sendAgain(id: number, account: string): Promise<boolean>;
  /** Sends an `alert` titled `test` to a target now, regardless of its events, and waits for the answer. */
  test(target: TargetRow): Promise<SendAttempt>;
  /** Ends requests in progress, and leaves them pending. */
  close(): Promise<void>;
}

export async function createDeliveries({
  db,
  clock,
  log,
  plans,
  guard,
  openTarget,
  random = Math.random,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  log: Log;
  plans: Pick<AccountPlans, 'entitlementsOf'>;
  guard: AddressGuard;
  openTarget: TargetStore['open'];
  random?(): number;
}): Promise<TargetDeliveries> {
  const outbox = createOutbox(db);
  const closing = new AbortController();
  /** When each target was last tried, or had its idle time subtracted, by the clock. */
  const triedAt = new Map<string, number>();
  const takeTurn = createPacing(closing.signal);
  const queue = createDeliveryQueue({ db, clock, newestId: await outbox.newestId() });
  const loops = createDueLoops({
    clock,
    log,
    what: 'a delivery',
    findNextDue: outbox.findNextDue,
    listDue: outbox.listDueTargets,
    run: sendDue,
  });

  /** Sends the due deliveries of one target sequentially. */
  async function sendDue(id: string): Promise<number | null> {
    while (!closing.signal.aborted) {
      const now = clock.now();
      const found = await outbox.findDue(id, now);
      if (found === null) return null;
      const { target, delivery } = found;
      const { capabilities } = await plans.entitlementsOf(target.account_id);
      if (!capabilities.includes(capabilityOf(target.kind))) {
        // Locked: it waits, and an upgraded plan releases it.
        return now + LOCKED_MS;
      }
      const idle = idleMs({ dueAt: delivery.next_at, triedAt: triedAt.get(id) ?? 0, now });
      if (idle > 0) {
        await outbox.postponeEnd(target, idle, now);
        triedAt.set(id, now);
        continue;
      }
      await takeTurn(id);
      const outcome = await sendEvent(
        { ...openTarget(target), body: delivery.body, messageId: delivery.message_id },
        { guard, now: clock.now(), signal: closing.signal },
      );
      if (outcome === null) return null;
      triedAt.set(id, clock.now());
      await outbox.settle(delivery, target, settleAttempt(delivery, target, outcome, clock.now(), random));
    }
    return null;
  }

  return {
    ...queue,
    start: loops.start,
    wake: loops.wake,
    settled: loops.settled,
    list: outbox.list,
    async sendAgain(id, account) {
      const isKnown = await outbox.sendAgain(id, account, clock.now());
      if (isKnown) loops.look();
      return isKnown;
    },
    async test(target) {
      await takeTurn(target.id);
      const sample = buildSample('alert', { at: clock.now(), isTest: true });
      const attempt = await sendEvent(
        { ...openTarget(target), body: JSON.stringify(sample), messageId: sample.id },
        { guard, now: clock.now(), signal: closing.signal },
      );
      return (
        attempt ?? {
          ok: false,
          gone: false,
          status: null,
          error: 'the server is closing',
          retryAfterMs: null,
          ms: 0,
        }
      );
    },
    async close() {
      closing.abort();
      await loops.close();
    },
  };
}

/**
 * Records the result of a delivery and its target: delivered; retried for a day; the target paused if it reports that
 * it is gone, or has failed for a day; dead if only this delivery has failed for that long.
 */
function settleAttempt(
  { first_at, tries }: TargetDeliveryRow,
  { failing_since }: TargetRow,
  { ok, gone, status, error, retryAfterMs, ms }: SendAttempt,
  now: number,
  random: () => number,
): TargetResult {
  const base = { nextAt: now, triedAt: now, status, ms, error };
  if (ok)
    return { ...base, state: 'delivered', target: { failingSince: null, pausedAt: null, pausedWhy: null } };
  const failingSince = failing_since ?? now;
  const pause = retryAfterMs ?? nextTryMs(tries + 1, random);
  const later = { ...base, state: 'waiting', nextAt: now + pause } as const;
  if (gone) return { ...later, target: { failingSince, pausedAt: now, pausedWhy: 'gone' } };
  if (now - failingSince >= GIVE_UP_MS)
    return { ...later, target: { failingSince, pausedAt: now, pausedWhy: 'failing' } };
  const target = { failingSince, pausedAt: null, pausedWhy: null };
  const end = first_at + GIVE_UP_MS;
  return now >= end
    ? { ...base, state: 'dead', target }
    : { ...later, nextAt: Math.min(end, now + pause), target };
}

/** Minimum interval per target: at most ten a second. */
const SPACING_MS = 100;

/** Returns a function that waits until a target may be sent to again. */
function createPacing(signal: AbortSignal): (target: string) => Promise<void> {
  /** When each target was last sent to, by the process's own clock. */
  const sentAt = new Map<string, number>();
  return async (target) => {
    const now = performance.now();
    const at = Math.max(now, (sentAt.get(target) ?? 0) + SPACING_MS);
    sentAt.set(target, at);
    if (at > now) await delay(at - now, undefined, { signal: signal });
  };
}
