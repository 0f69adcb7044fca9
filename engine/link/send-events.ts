import type { Clock } from '../core/base/clock.ts';
import { asSvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import {
  type DecisionsRequest,
  eventsAnswer,
  LARGEST_EVENTS_BYTES,
  type LinkEvent,
  MOST_EVENTS,
  timeAnswer,
} from '../core/link-protocol/messages.ts';
import type { OutgoingEvent } from './event-outbox.ts';
import { isRefused, type ServerCalls } from './server-calls.ts';
import type { createStanding } from './standing.ts';

/** Room for the frame around the events of a call, bytes. */
const FRAME_BYTES = 4096;

export interface SenderDeps {
  calls: ServerCalls;
  clock: Clock;
  log: Pick<Log, 'warn'>;
  workspaceName(): string;
  listPending(): DecisionsRequest;
  /** Returns pending events, oldest first. */
  nextEvents(limit: number): OutgoingEvent[];
  /** Removes events that were sent, or never will be. */
  settleEvents(ids: readonly number[], refused: string | null): Promise<void>;
}

/** Sends the list of decisions when it has changed, and events as they occur. */
export function createEventSender(
  deps: SenderDeps,
  { noteTime, judgeFailure }: ReturnType<typeof createStanding>,
  signal: AbortSignal,
) {
  const { calls, clock, log } = deps;
  let isPendingDue = true;
  /** The server's list, as text; null if unknown. */
  let told: string | null = null;
  let sending: Promise<void> | null = null;
  let failures = 0;
  let retryTimer: NodeJS.Timeout | null = null;

  async function sendPending(): Promise<void> {
    isPendingDue = false;
    const list = deps.listPending();
    const text = JSON.stringify(list);
    if (text === told) return;
    told = null;
    const askedAt = clock.now();
    const request = { method: 'PUT', body: list, answer: timeAnswer, signal } as const;
    try {
      noteTime((await calls.call('/v1/decisions', request)).server_time, askedAt);
    } catch (thrown) {
      if (!isRefused(thrown)) throw thrown;
      log.warn({ refused: asSvcError(thrown).message }, 'the linked server rejected the list of decisions');
    }
    told = text;
  }

  /** Picks a batch, limited to one call. */
  function pickBatch(limit: number): OutgoingEvent[] {
    const batch: OutgoingEvent[] = [];
    let bytes = FRAME_BYTES;
    for (const waiting of deps.nextEvents(limit)) {
      bytes += Buffer.byteLength(JSON.stringify(waiting.event)) + 1;
      if (bytes > LARGEST_EVENTS_BYTES && batch.length > 0) break;
      batch.push(waiting);
    }
    return batch;
  }

  async function postEvents(events: LinkEvent[]): Promise<void> {
    const askedAt = clock.now();
    const body = { workspace: deps.workspaceName(), events };
    const { server_time } = await calls.call('/v1/events', {
      method: 'POST',
      body,
      answer: eventsAnswer,
      signal,
    });
    noteTime(server_time, askedAt);
  }

  async function sendEvents(limit: number): Promise<number> {
    const batch = pickBatch(limit);
    if (batch.length === 0) return 0;
    const ids = batch.map(({ id }) => id);
    const events = batch.map(({ event }) => event).filter((event) => event !== null);
    try {
      if (events.length > 0) await postEvents(events);
      await deps.settleEvents(ids, null);
    } catch (thrown) {
      if (!isRefused(thrown)) throw thrown;
      if (batch.length === 1) await deps.settleEvents(ids, asSvcError(thrown).message);
      else for (const _ of batch) await sendEvents(1);
    }
    return batch.length;
  }

  async function sendAll(): Promise<void> {
    for (;;) {
      if (signal.aborted) return;
      if (isPendingDue) await sendPending();
      if ((await sendEvents(MOST_EVENTS)) === 0 && !isPendingDue) return;
    }
  }

  function sendDue(): void {
    if (sending !== null || retryTimer !== null || signal.aborted) return;
    sending = sendAll()
      .then(() => {
        failures = 0;
      })
      .catch((thrown: unknown) => {
        if (signal.aborted) return;
        failures += 1;
        isPendingDue = true;
        told = null;
        const error = asSvcError(thrown);
        if (error.code === 'internal')
          log.warn({ error: error.message }, 'the linked server was not notified');
        const pause = judgeFailure(error, failures);
        if (pause === null) return;
        retryTimer = setTimeout(() => {
          retryTimer = null;
          sendDue();
        }, pause);
        retryTimer.unref();
      })
      .finally(() => {
        sending = null;
        // Woken while it ended.
        if (isPendingDue && retryTimer === null) sendDue();
      });
  }

  /** Resumes when the server is back: unsent events go now, and the whole list of decisions. */
  function resume(): void {
    told = null;
    isPendingDue = true;
    failures = 0;
    if (retryTimer !== null) clearTimeout(retryTimer);
    retryTimer = null;
    sendDue();
  }

  return {
    sendDue,
    resume,
    markPending() {
      isPendingDue = true;
    },
    /** After `signal` was aborted: resolves when nothing is in progress. */
    async close() {
      if (retryTimer !== null) clearTimeout(retryTimer);
      await sending;
    },
  };
}
