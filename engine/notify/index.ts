import type { Tasks } from '../board/tasks/index.ts';
import type { Clock } from '../core/base/clock.ts';
import { SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import type { ProxySettings } from '../core/http/proxies.ts';
import type { EventLog, LoggedEvent, Storage } from '../storage/index.ts';
import type { PushEntry } from './config.ts';
import { createDeliverer } from './deliver.ts';
import { createDesktopNotices, type DesktopNoticeDeps, type DesktopNotices } from './desktop.ts';
import { buildEnvelope } from './envelope.ts';
import { EVENTS, type OutboundEvent } from './events.ts';
import type { PushFacts } from './push/compose-message.ts';
import { createPushTarget } from './push/index.ts';
import {
  createOutbox,
  type DeliveryProblem,
  type DeliveryRow,
  type DeliveryState,
  type EventDelivery,
  toDelivery,
} from './rows.ts';
import { shownTarget } from './shown-target.ts';
import type { DeliveryTarget } from './targets.ts';
import { createWebhookTarget, type EventTarget } from './webhook-target.ts';

export type { DeliveryProblem, DeliveryState, EventDelivery } from './rows.ts';
export type { EventTarget } from './webhook-target.ts';

export interface NotifyDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  /** Read at every event, so a reloaded configuration takes effect immediately. */
  config(): {
    notify: {
      webhooks: readonly EventTarget[];
      push: readonly PushEntry[];
      desktop: boolean;
      quiet: string;
    };
    webhook: { secret_env: unknown };
  };
  tasks: Pick<Tasks, 'get'>;
  workspaceName(): string;
  /** The data behind notices on a desktop; see `DesktopNoticeDeps`. */
  person: Pick<DesktopNoticeDeps, 'findQuestion' | 'isPending' | 'desktop'>;
  /** Returns what a message to a phone may say of an event; call it inside the event's transaction. */
  describeOutside(event: LoggedEvent): Omit<PushFacts, 'event' | 'workspace' | 'ask_id'>;
  proxies(): ProxySettings;
  /** Looks up the value of a variable. */
  secret(name: string): string | undefined;
  /** The same, as it is now. */
  currentSecret(name: string): string | undefined;
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
   * Sends an `alert` titled `test` to every target, or to the named one, and resolves after the first attempt of
   * each. Throws `not_found` if the target does not exist.
   */
  test(name?: string): Promise<EventDelivery[]>;
  counts(): Record<DeliveryState, number>;
  /** See `DesktopNotices`. */
  followNotices: DesktopNotices['follow'];
  /** Returns the targets whose pending deliveries have failed. */
  problems(): DeliveryProblem[];
  /** Aborts running attempts and leaves them pending for the next start. */
  close(): Promise<void>;
}

const PURGE_EVERY = 500;
// Longer than an attempt may take, since the target may be busy with an earlier event.
const TEST_MS = 25_000;

const isOutbound = (kind: string): kind is OutboundEvent => Object.hasOwn(EVENTS, kind);

/** Returns the targets that a person names, or all of them. Throws `not_found` for none. */
function chooseTargets(targets: readonly DeliveryTarget[], name: string | undefined): DeliveryTarget[] {
  const chosen =
    name === undefined
      ? [...targets]
      : // As configured, as displayed, or by the first word.
        targets.filter(({ key }) => [key, shownTarget(key), key.split(' ')[0]].includes(name));
  if (chosen.length > 0) return chosen;
  throw new SvcError(
    'not_found',
    name === undefined ? 'notify.webhooks and notify.push are empty' : `no target ${shownTarget(name)}`,
    { hint: 'notify.webhooks and notify.push in svc.yaml list the targets' },
  );
}

/** Creates the outbound notifier: each event that a target wants becomes an outbox row, in the event's own transaction. */
export function createNotify(deps: NotifyDeps): Notify {
  const { storage, events, clock, config, tasks } = deps;
  const outbox = createOutbox(storage);
  const notices = createDesktopNotices({
    ...deps,
    ...deps.person,
    readTitle: (taskId) => tasks.get(taskId).title,
  });
  const waiting = new Map<number, (row: DeliveryRow) => void>();
  let added = 0;
  let mayBeDue = false;
  /** Set while `test` appends its event, which also goes to targets that did not subscribe to alerts. */
  let isTesting = false;

  const deliverer = createDeliverer({
    storage,
    events,
    clock,
    outbox,
    random: deps.random ?? Math.random,
    findTarget: (key) => listTargets().find((target) => target.key === key) ?? null,
    onTried(row) {
      waiting.get(row.id)?.(row);
    },
    onError: (message) => deps.log?.error({}, message),
  });

  function buildWebhookBody(event: LoggedEvent, id: string): string {
    const task = event.taskId === null ? null : tasks.get(event.taskId);
    return JSON.stringify(buildEnvelope(event, task, { id, workspace: deps.workspaceName() }));
  }

  function buildPushBody(event: LoggedEvent): string {
    const facts = deps.describeOutside(event);
    const kind = isTesting ? 'test' : event.kind;
    const ask = typeof event.data.ask_id === 'number' ? event.data.ask_id : null;
    return JSON.stringify({ ...facts, ask_id: ask, event: kind, workspace: deps.workspaceName() });
  }

  /** Lists the targets of the current configuration. Entries with the same key are one target. */
  function listTargets(): DeliveryTarget[] {
    const { notify, webhook } = config();
    const fetch = deps.fetch ?? globalThis.fetch;
    const targets = [
      ...notify.webhooks.map((entry) =>
        createWebhookTarget(entry, {
          ...deps,
          fetch,
          shared: webhook.secret_env,
          buildBody: buildWebhookBody,
        }),
      ),
      ...notify.push.map((entry) =>
        createPushTarget(entry, {
          ...deps,
          ...deps.person,
          secret: deps.currentSecret,
          quiet: notify.quiet,
          buildBody: buildPushBody,
        }),
      ),
    ];
    return targets.filter(({ key }, at) => targets.findIndex((each) => each.key === key) === at);
  }

  /** Adds outbox rows for `event` and returns their ids. Call inside the event's transaction. */
  function enqueueEvent(event: LoggedEvent, targets: readonly DeliveryTarget[]): number[] {
    const id = `${events.logId}-${event.seq}`;
    const now = clock.now();
    const ids = targets.map((target) =>
      outbox.add({
        seq: event.seq,
        event: event.kind,
        messageId: id,
        url: target.key,
        body: target.buildBody(event, id),
        now,
        // A person waits for a test.
        dueAt: isTesting ? now : target.postpone(now),
      }),
    );
    mayBeDue = true;
    added += ids.length;
    if (added >= PURGE_EVERY) {
      added = 0;
      outbox.purge(now);
    }
    return ids;
  }

  /** Holds what waits for the quiet hours of the current configuration, inside the transaction that reports it. */
  function followQuietHours(): void {
    for (const target of listTargets().filter(({ isPaced }) => isPaced))
      outbox.moveUntried(target.key, target.postpone(clock.now()));
    mayBeDue = true;
  }

  events.onAppend((event) => {
    notices.add(event);
    if (event.kind === 'config_reloaded') followQuietHours();
    const { webhooks, push } = config().notify;
    const { kind } = event;
    if (webhooks.length + push.length === 0 || isTesting || !isOutbound(kind)) return;
    const targets = listTargets().filter((target) => target.wants(event, kind));
    if (targets.length > 0) enqueueEvent(event, targets);
  });

  const stopListening = storage.onCommit(() => {
    notices.wake();
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
      if (row !== undefined) {
        deliverer.retryNow(row.url);
        deliverer.wake();
        return toDelivery(row);
      }
      throw new SvcError('not_found', `no delivery ${id}`, {
        hint: sentence`{notify.deliveries} lists them`,
      });
    },

    async test(name) {
      const targets = chooseTargets(listTargets(), name);
      for (const { key } of targets) deliverer.retryNow(key);
      const tried = await storage.write(() => {
        isTesting = true;
        try {
          const data = { title: 'test', reason: 'svc notify test' };
          const event = events.append({ kind: 'alert', via: 'engine', data });
          // Registered before the commit, so no attempt can end unnoticed.
          return enqueueEvent(event, targets).map(reportTry);
        } finally {
          isTesting = false;
        }
      });
      return Promise.all(tried);
    },

    counts: outbox.counts,
    problems: outbox.listProblems,
    followNotices: notices.follow,

    async close() {
      clearImmediate(first);
      stopListening();
      notices.close();
      await deliverer.close();
      for (const [id, done] of waiting) {
        const row = outbox.get(id);
        if (row !== undefined) done(row);
      }
    },
  };
}
