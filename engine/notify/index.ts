import type { Tasks } from '../board/tasks/index.ts';
import type { Clock } from '../core/base/clock.ts';
import { SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import { shownAddress } from '../core/http/shown-address.ts';
import type { EventLog, LoggedEvent, Storage } from '../storage/index.ts';
import { createDeliverer, type DeliverySecretLookup } from './deliver.ts';
import { buildEnvelope } from './envelope.ts';
import { EVENTS, type OutboundEvent } from './events.ts';
import {
  createOutbox,
  type DeliveryRow,
  type DeliveryState,
  type EventDelivery,
  toDelivery,
} from './rows.ts';

export type { OutboundEvent } from './events.ts';
export type { DeliveryState, EventDelivery } from './rows.ts';

/** One entry of `notify.webhooks`. */
export interface EventTarget {
  url: string;
  /** Defaults to all events. */
  events?: readonly OutboundEvent[] | undefined;
  secret_env?: string | undefined;
}

export interface NotifyDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  /** Read at every event, so a reloaded configuration takes effect immediately. */
  config(): { notify: { webhooks: readonly EventTarget[] }; webhook: { secret_env: unknown } };
  tasks: Pick<Tasks, 'get'>;
  workspaceName(): string;
  /** Looks up the value of a variable. */
  secret(name: string): string | undefined;
  log?: { error(facts: Record<string, unknown>, message: string): void };
  fetch?: typeof globalThis.fetch;
  /** Source of jitter, in [0, 1). */
  random?(): number;
}

export interface Notify {
  /** Newest first, at most `limit` (50). */
  /** Returns deliveries, newest first; with a cursor only those before that id. */
  list(filter?: {
    state?: DeliveryState | undefined;
    before?: number | undefined;
    limit?: number | undefined;
  }): EventDelivery[];
  /** Sends a delivery again now, under the same message id. Throws `not_found`. */
  redeliver(id: number): Promise<EventDelivery>;
  /**
   * Sends an `alert` titled `test` to every target, or to the one at `url`, and resolves after the first attempt of
   * each. Throws `not_found` if the target does not exist.
   */
  test(url?: string): Promise<EventDelivery[]>;
  counts(): Record<DeliveryState, number>;
  /** Aborts running attempts and leaves them pending for the next start. */
  close(): Promise<void>;
}

const PURGE_EVERY = 500;
// Longer than an attempt may take, since the target may be busy with an earlier event.
const TEST_MS = 25_000;

const isOutbound = (kind: string): kind is OutboundEvent => Object.hasOwn(EVENTS, kind);

/** Returns the secret that signs the events of a target; null for an address that is no longer configured. */
function findSecretLookup(
  url: string,
  { config, secret: findSecret }: Pick<NotifyDeps, 'config' | 'secret'>,
): DeliverySecretLookup | null {
  const target = config().notify.webhooks.find((each) => each.url === url);
  if (target === undefined) return null;
  const own = target.secret_env ?? '';
  const { secret_env: shared } = config().webhook;
  // A secret per route must not be used for events: their receivers could sign requests with it.
  const named = own !== '' ? own : typeof shared === 'string' ? shared : '';
  const names = named.split(',').map((name) => name.trim());
  for (const name of names) {
    const secret = name === '' ? undefined : findSecret(name);
    if (secret !== undefined && secret !== '') return { secret };
  }
  const known = names.filter((name) => name !== '').join(', ');
  return {
    missing: known === '' ? 'set secret_env of the entry, or webhook.secret_env' : `${known} is not set`,
  };
}

/** Returns the targets with an address, or all of them. Throws `not_found` for none. */
function listTargets(webhooks: readonly EventTarget[], url: string | undefined): EventTarget[] {
  const targets =
    url === undefined
      ? [...webhooks]
      : // As configured, or as displayed.
        webhooks.filter((each) => each.url === url || shownAddress(each.url) === url);
  if (targets.length > 0) return targets;
  throw new SvcError(
    'not_found',
    url === undefined ? 'notify.webhooks is empty' : `no target ${shownAddress(url)}`,
    {
      hint: 'notify.webhooks in svc.yaml lists the targets',
    },
  );
}

/** Creates the outbound notifier: each event that a target wants becomes an outbox row, in the event's own transaction. */
export function createNotify(deps: NotifyDeps): Notify {
  const { storage, events, clock, config, tasks } = deps;
  const outbox = createOutbox(storage);
  const waiting = new Map<number, (row: DeliveryRow) => void>();
  let added = 0;
  let mayBeDue = false;
  /** Set while `test` appends its event, which also goes to targets that did not subscribe to alerts. */
  let testTargets: readonly EventTarget[] | null = null;

  const deliverer = createDeliverer({
    storage,
    events,
    clock,
    outbox,
    fetch: deps.fetch ?? globalThis.fetch,
    random: deps.random ?? Math.random,
    findSecretLookup: (url) => findSecretLookup(url, deps),
    onTried(row) {
      waiting.get(row.id)?.(row);
    },
    onError: (message) => deps.log?.error({}, message),
  });

  /** Adds outbox rows for `event` and returns their ids. Call inside the event's transaction. */
  function enqueueEvent(event: LoggedEvent, targets: readonly EventTarget[]): number[] {
    const id = `${events.logId}-${event.seq}`;
    const task = event.taskId === null ? null : tasks.get(event.taskId);
    const body = JSON.stringify(buildEnvelope(event, task, { id, workspace: deps.workspaceName() }));
    const now = clock.now();
    // Entries with the same address are one target.
    const ids = [...new Set(targets.map((target) => target.url))].map((url) =>
      outbox.add({ seq: event.seq, event: event.kind, messageId: id, url, body, now }),
    );
    mayBeDue = true;
    added += ids.length;
    if (added >= PURGE_EVERY) {
      added = 0;
      outbox.purge(now);
    }
    return ids;
  }

  events.onAppend((event) => {
    const { webhooks } = config().notify;
    const { kind } = event;
    if (webhooks.length === 0 || testTargets !== null || !isOutbound(kind)) return;
    const targets = webhooks.filter((target) => target.events === undefined || target.events.includes(kind));
    if (targets.length > 0) enqueueEvent(event, targets);
  });

  const stopListening = storage.onCommit(() => {
    if (!mayBeDue && !deliverer.isDue()) return;
    const hasNew = mayBeDue;
    mayBeDue = false;
    deliverer.wake(hasNew);
  });
  // Deliveries left by an earlier host are attempted as soon as the engine is composed.
  const first = setImmediate(() => deliverer.wake());

  /** Waits for a row's next attempt and returns the row, or its current state after a timeout. */
  function reportTry(id: number): Promise<EventDelivery> {
    return new Promise((resolve) => {
      const reportDone = (row: DeliveryRow) => {
        clearTimeout(tooLong);
        waiting.delete(id);
        resolve(toDelivery(row));
      };
      const tooLong = setTimeout(() => {
        const row = outbox.get(id);
        if (row !== undefined) reportDone(row);
      }, TEST_MS);
      tooLong.unref();
      waiting.set(id, reportDone);
    });
  }

  return {
    list: ({ state, before = Number.MAX_SAFE_INTEGER, limit = 50 } = {}) =>
      outbox.list(state, before, limit).map(toDelivery),

    async redeliver(id) {
      const row = await storage.write(() => {
        outbox.again(id, clock.now());
        mayBeDue = true;
        return outbox.get(id);
      });
      if (row !== undefined) return toDelivery(row);
      throw new SvcError('not_found', `no delivery ${id}`, {
        hint: sentence`{notify.deliveries} lists them`,
      });
    },

    async test(url) {
      const targets = listTargets(config().notify.webhooks, url);
      const tried = await storage.write(() => {
        testTargets = targets;
        try {
          const data = { title: 'test', reason: 'svc notify test' };
          const event = events.append({ kind: 'alert', via: 'engine', data });
          // Registered before the commit, so no attempt can end unnoticed.
          return enqueueEvent(event, targets).map(reportTry);
        } finally {
          testTargets = null;
        }
      });
      return Promise.all(tried);
    },

    counts: outbox.counts,

    async close() {
      clearImmediate(first);
      stopListening();
      await deliverer.close();
      for (const [id, done] of waiting) {
        const row = outbox.get(id);
        if (row !== undefined) done(row);
      }
    },
  };
}
