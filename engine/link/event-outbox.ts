import type { Tasks } from '../board/tasks/index.ts';
import type { Clock } from '../core/base/clock.ts';
import type { Log } from '../core/base/log.ts';
import { formatCount } from '../core/base/text.ts';
import type { LinkEvent } from '../core/link-protocol/messages.ts';
import { outboundEvent } from '../notify/config.ts';
import type { EventKind, EventLog, LoggedEvent, Storage } from '../storage/index.ts';
import type { ServerConfig } from './config.ts';
import { buildLinkEvent, outgoingTitle } from './outgoing.ts';
import type { LinkRows } from './rows.ts';

/** How long events wait for a server that does not answer. */
const KEEP_EVENTS_MS = 7 * 86_400_000;

/** Events that change the list of decisions, or of live sessions. */
const CHANGES_LIST: readonly EventKind[] = [
  'needs_approval',
  'approved',
  'denied',
  'decision_expired',
  'task_changed',
  'config_reloaded',
  'config_written',
  'config_trusted',
  'dispatched',
  'session_started',
  'session_paused',
  'session_resumed',
  'session_dropped',
  'run_lost',
  'sealed',
  'failed',
  'pull_request',
];

/** A pending event. */
export interface OutgoingEvent {
  id: number;
  /** Null for an event that must not be sent any more. */
  event: LinkEvent | null;
}

/** Events for the linked server, each written in the transaction in which it happens. */
export interface EventOutbox {
  /**
   * Returns pending events, oldest first, filtered by the current settings (which may be stricter than when the event
   * occurred).
   */
  next(limit: number): OutgoingEvent[];
  /** Removes events that were sent, or never will be. */
  settle(ids: readonly number[], refused: string | null): Promise<void>;
  /** Drops events that have waited for a week. */
  dropOld(): Promise<void>;
  close(): void;
}

export function createEventOutbox(deps: {
  storage: Storage;
  events: EventLog;
  tasks: Tasks;
  clock: Clock;
  log: Log;
  rows: LinkRows;
  config(): { server: ServerConfig };
  /** Reports whether there is a server to notify, even if it does not answer now. */
  isOn(): boolean;
  /** Called after a commit with events to send, or with a changed list of decisions. */
  wake(hasDecisions: boolean): void;
}): EventOutbox {
  const { storage, events, tasks, clock, log, rows, config } = deps;
  let hasEvents = false;
  let hasDecisions = false;

  function isWanted(kind: string): boolean {
    const { events: wanted } = config().server;
    const listed: readonly string[] = wanted.length > 0 ? wanted : outboundEvent.options;
    // A pull request is what becomes of a sealed session.
    return listed.includes(kind === 'pull_request' ? 'sealed' : kind);
  }

  /** Returns the title of its task as allowed now; null if the task is gone. */
  function readTitle(taskId: string): string | null {
    try {
      return outgoingTitle(tasks.get(taskId), tasks.readOrigin(taskId), config().server.titles);
    } catch {
      return null;
    }
  }

  events.onAppend((event: LoggedEvent) => {
    if (!deps.isOn()) return;
    if (CHANGES_LIST.includes(event.kind)) hasDecisions = true;
    if (!isWanted(event.kind)) return;
    const { titles } = config().server;
    const task = event.taskId === null ? null : tasks.get(event.taskId);
    const origin = task === null ? null : tasks.readOrigin(task.taskId);
    const id = `${events.logId}-${event.seq}`;
    const told = buildLinkEvent(event, task, origin, { id, titles });
    // Without a page there is nothing to open.
    if (event.kind === 'pull_request' && told.pull_request === undefined) return;
    rows.addEvent(told, clock.now());
    hasEvents = true;
  });
  const stopListening = storage.onCommit(() => {
    if (!hasEvents && !hasDecisions) return;
    const changed = hasDecisions;
    hasEvents = false;
    hasDecisions = false;
    deps.wake(changed);
  });

  return {
    next: (limit) =>
      rows.nextEvents(limit).map(({ id, body }) => {
        const event = JSON.parse(body) as LinkEvent;
        if (!isWanted(event.event)) return { id, event: null };
        const title = event.task_id === null ? event.title : readTitle(event.task_id);
        return { id, event: { ...event, title } };
      }),
    async settle(ids, refused) {
      if (refused !== null) log.warn({ refused }, 'the linked server rejected an event');
      await storage.write(() => rows.dropEvents(ids));
    },
    async dropOld() {
      if (rows.countEvents() === 0) return;
      const dropped = await storage.write(() => {
        const count = rows.dropOldEvents(clock.now() - KEEP_EVENTS_MS);
        if (count > 0)
          events.append({
            kind: 'alert',
            via: 'engine',
            data: {
              code: 'link_events_dropped',
              title: 'the linked server was not notified',
              reason: `${formatCount(count, 'event')} waited for a week and will not be sent`,
            },
          });
        return count;
      });
      if (dropped > 0) log.warn({ dropped }, 'events for the linked server were dropped');
    },
    close: stopListening,
  };
}
