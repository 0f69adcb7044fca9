import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../core/base/backoff.ts';
import type { Clock } from '../core/base/clock.ts';
import { asSvcError, type SvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import {
  type CommandOutcome,
  commandsAnswer,
  type DecisionsRequest,
  eventsAnswer,
  LARGEST_EVENTS_BYTES,
  type LinkCommand,
  type LinkEvent,
  LONGEST_POLL_S,
  MOST_EVENTS,
  timeAnswer,
} from '../core/link-protocol/messages.ts';
import type { OutgoingEvent } from './event-outbox.ts';
import { FIRST_CALL_MS, nothing, type ServerCalls } from './server-calls.ts';

const BACKOFF = { firstMs: 1000, longestMs: 60_000, shortestMs: 250 };
/** Interval of a displaced engine's checks, ms: while two alternate, neither receives a command. */
const DISPLACED_MS = 30_000;
/** An immediate, empty answer to a long poll must not cause an immediate new request. */
const SHORTEST_POLL_MS = 500;
/** Above this rate, which no person or automation reaches, commands are throttled: each is recorded here. */
const COMMANDS_AT_ONCE = 200;
const COMMAND_PAUSE_MS = 1000;
/** Room for the frame around the events of a call, bytes. */
const FRAME_BYTES = 4096;

/** The state of the link. */
export type LinkState = 'connecting' | 'connected' | 'unreachable' | 'displaced' | 'outdated' | 'revoked';

export interface LinkStanding {
  state: LinkState;
  /** Start of the state, Unix ms. */
  since: number;
  /** The last error of the server or the connection; null while all is well. */
  problem: string | null;
  /** How far the server's clock is ahead, ms; null before the first contact. */
  offsetMs: number | null;
}

export interface ClientDeps {
  calls: ServerCalls;
  clock: Clock;
  log: Pick<Log, 'warn' | 'info'>;
  /** Identifies this engine, so that a second one with the same token is noticed. */
  instance: string;
  workspaceName(): string;
  listPending(): DecisionsRequest;
  /** Returns pending events, oldest first. */
  nextEvents(limit: number): OutgoingEvent[];
  /** Removes events that were sent, or never will be. */
  settleEvents(ids: readonly number[], refused: string | null): Promise<void>;
  apply(command: LinkCommand, offsetMs: number): Promise<CommandOutcome>;
  /** Called before each poll; drops old events, and replaces an old token. */
  prepare(signal: AbortSignal): Promise<void>;
  onRevoked(): void;
  /** Called after each poll that reached the server without another engine there. */
  onConnected(): void;
  random?(): number;
}

/** Sends local events to the server and polls for commands, while it is open. */
export interface LinkClient {
  standing(): LinkStanding;
  /** Called if there may be events to send, and with `hasDecisions` a changed list of decisions. */
  wake(hasDecisions: boolean): void;
  close(): Promise<void>;
}

/** Reports whether the server will never accept a message. It must not block later ones. */
const isRefused = (thrown: unknown): boolean =>
  ['fields_invalid', 'body_too_large'].includes(asSvcError(thrown).code);

export function createLinkClient(deps: ClientDeps): LinkClient {
  const { calls, clock, log } = deps;
  const random = deps.random ?? Math.random;
  const closing = new AbortController();
  const { signal } = closing;
  let standing: LinkStanding = {
    state: 'connecting',
    since: clock.now(),
    problem: null,
    offsetMs: null,
  };
  let isPendingDue = true;
  /** The server's list, as text; null if unknown. */
  let told: string | null = null;
  let sending: Promise<void> | null = null;
  let failures = 0;
  let retryTimer: NodeJS.Timeout | null = null;
  /** Commands accepted before the next pause, and the start of the count. */
  let credit = COMMANDS_AT_ONCE;
  let creditAt = clock.monotonic();
  /** Ends the pause of the poll. */
  let endPause: (() => void) | null = null;

  function setState(state: LinkState, problem: string | null = null): void {
    if (state !== standing.state) {
      log.info({ state, problem }, 'the link has changed');
      standing = { ...standing, state, since: clock.now(), problem };
    } else standing = { ...standing, problem };
  }

  function noteTime(serverTime: string, askedAt: number): void {
    standing = { ...standing, offsetMs: Math.round(Date.parse(serverTime) - (askedAt + clock.now()) / 2) };
  }

  /** Evaluates a failed call. Returns the time to wait, or null for permanently. */
  function judgeFailure(error: SvcError, tries: number): number | null {
    if (error.code === 'revoked') {
      setState('revoked', error.message);
      deps.onRevoked();
      closing.abort();
      return null;
    }
    if (error.code === 'displaced') {
      setState('displaced', error.message);
      return DISPLACED_MS;
    }
    if (error.code === 'protocol_mismatch') {
      setState('outdated', error.message);
      return BACKOFF.longestMs;
    }
    setState('unreachable', error.message);
    const asked = error.data.retry_after_ms;
    return typeof asked === 'number' ? Math.max(1000, asked) : backoffMs(tries, { ...BACKOFF, random });
  }

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

  async function pollOnce(after: number, waitS: number): Promise<number> {
    const begun = clock.monotonic();
    const query = new URLSearchParams({
      after: String(after),
      wait: String(waitS),
      instance: deps.instance,
    });
    const { commands, contested, server_time } = await calls.call(`/v1/commands?${query}`, {
      answer: commandsAnswer,
      signal,
      patienceMs: (waitS + 15) * 1000,
    });
    // The answer was created just now, however long the poll has waited; and the local clock may have been set in the meantime.
    noteTime(server_time, clock.now());
    setState(contested ? 'displaced' : 'connected', contested ? 'another engine uses the same token' : null);
    if (!contested) deps.onConnected();
    let last = after;
    for (const command of commands) {
      const outcome = await deps.apply(command, standing.offsetMs ?? 0);
      log.info(
        { command: command.id, verb: command.verb, outcome: outcome.outcome },
        'a command was answered',
      );
      await calls
        .call(`/v1/commands/${encodeURIComponent(command.id)}`, {
          method: 'POST',
          body: outcome,
          answer: nothing,
          signal,
        })
        .catch((thrown: unknown) => {
          const { code, message } = asSvcError(thrown);
          // The server has forgotten its request.
          if (code === 'not_found') return;
          if (!isRefused(thrown)) throw thrown;
          log.warn({ command: command.id, refused: message }, 'the linked server rejected an outcome');
        });
      last = Math.max(last, command.seq);
    }
    await payForCommands(commands.length);
    if (commands.length === 0 && clock.monotonic() - begun < SHORTEST_POLL_MS && waitS > 0)
      await pause(SHORTEST_POLL_MS);
    return last;
  }

  /** Pauses after commands that arrive faster than one per second for long. */
  async function payForCommands(count: number): Promise<void> {
    const now = clock.monotonic();
    credit = Math.min(COMMANDS_AT_ONCE, credit + (now - creditAt) / COMMAND_PAUSE_MS) - count;
    creditAt = now;
    if (credit < 0) await pause(-credit * COMMAND_PAUSE_MS);
  }

  async function pause(ms: number): Promise<void> {
    const ending = new AbortController();
    endPause = () => ending.abort();
    const endPolling = (): void => ending.abort();
    signal.addEventListener('abort', endPolling);
    await delay(ms, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
    signal.removeEventListener('abort', endPolling);
    endPause = null;
  }

  async function poll(): Promise<void> {
    let after = 0;
    let tries = 0;
    let isFirst = true;
    while (!signal.aborted) {
      try {
        await deps.prepare(signal);
        // The first answer comes immediately, to learn the server's time and state.
        after = await pollOnce(after, isFirst ? 0 : LONGEST_POLL_S);
        if (isFirst) resume();
        isFirst = false;
        tries = 0;
      } catch (thrown) {
        if (signal.aborted) return;
        const error = asSvcError(thrown);
        if (error.code === 'internal') log.warn({ error: error.message }, 'a command was not applied');
        tries += 1;
        // Unanswered commands are sent again.
        after = 0;
        isFirst = true;
        const wait = judgeFailure(error, tries);
        if (wait !== null) await pause(wait);
      }
    }
  }

  const polling = pause(FIRST_CALL_MS).then(poll);

  return {
    standing: () => standing,
    wake(hasDecisions) {
      if (hasDecisions) isPendingDue = true;
      // The first poll must reach the server before anything is sent to it.
      if (standing.state !== 'connecting') sendDue();
    },
    async close() {
      closing.abort();
      endPause?.();
      if (retryTimer !== null) clearTimeout(retryTimer);
      await Promise.all([polling, sending]);
      await calls.close();
    },
  };
}
