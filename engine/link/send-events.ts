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

/** Sends the list of decisions, if it is not the one that the server has. */
function createDecisionsSender(
  { calls, clock, log, listPending }: SenderDeps,
  standing: ReturnType<typeof createStanding>,
  signal: AbortSignal,
) {
  let isDue = true;
  /** The server's list, as text; null if unknown. */
  let told: string | null = null;

  async function sendDecisions(): Promise<void> {
    isDue = false;
    const list = listPending();
    const text = JSON.stringify(list);
    if (text === told) return;
    told = null;
    const askedAt = clock.now();
    const request = { method: 'PUT', body: list, answer: timeAnswer, signal } as const;
    try {
      standing.noteTime((await calls.call('/v1/decisions', request)).server_time, askedAt);
    } catch (thrown) {
      if (!isRefused(thrown)) throw thrown;
      log.warn({ refused: asSvcError(thrown).message }, 'the linked server rejected the list of decisions');
    }
    told = text;
  }

  return {
    isDue: () => isDue,
    send: sendDecisions,
    markDue(): void {
      isDue = true;
    },
    /** The server may not have the list any more. */
    forget(): void {
      told = null;
      isDue = true;
    },
  };
}

/** Picks a batch, limited to one call. */
function pickBatch(all: readonly OutgoingEvent[]): OutgoingEvent[] {
  const batch: OutgoingEvent[] = [];
  let bytes = FRAME_BYTES;
  for (const waiting of all) {
    bytes += Buffer.byteLength(JSON.stringify(waiting.event)) + 1;
    if (bytes > LARGEST_EVENTS_BYTES && batch.length > 0) break;
    batch.push(waiting);
  }
  return batch;
}

/** Sends the list of decisions when it has changed, and events as they occur. */
export function createEventSender(
  deps: SenderDeps,
  standing: ReturnType<typeof createStanding>,
  signal: AbortSignal,
) {
  const { calls, clock, log } = deps;
  const decisions = createDecisionsSender(deps, standing, signal);
  let sending: Promise<void> | null = null;
  let failures = 0;
  let retryTimer: NodeJS.Timeout | null = null;

  async function postEvents(events: LinkEvent[]): Promise<void> {
    const askedAt = clock.now();
    const body = { workspace: deps.workspaceName(), events };
    const { server_time } = await calls.call('/v1/events', {
      method: 'POST',
      body,
      answer: eventsAnswer,
      signal,
    });
    standing.noteTime(server_time, askedAt);
  }

  async function sendEvents(limit: number): Promise<number> {
    const batch = pickBatch(deps.nextEvents(limit));
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
      if (decisions.isDue()) await decisions.send();
      if ((await sendEvents(MOST_EVENTS)) === 0 && !decisions.isDue()) return;
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
        decisions.forget();
        const error = asSvcError(thrown);
        if (error.code === 'internal')
          log.warn({ error: error.message }, 'the linked server was not notified');
        const pause = standing.judgeFailure(error, failures);
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
        if (decisions.isDue() && retryTimer === null) sendDue();
      });
  }

  /** Resumes when the server is back: unsent events go now, and the whole list of decisions. */
  function resume(): void {
    decisions.forget();
    failures = 0;
    if (retryTimer !== null) clearTimeout(retryTimer);
    retryTimer = null;
    sendDue();
  }

  return {
    sendDue,
    resume,
    markPending: decisions.markDue,
    /** After `signal` was aborted: resolves when nothing is in progress. */
    async close() {
      if (retryTimer !== null) clearTimeout(retryTimer);
      await sending;
    },
  };
}
