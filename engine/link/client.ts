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
/** A displaced engine looks again so often, ms: while two alternate, neither is given a command. */
const DISPLACED_MS = 30_000;
/** An answer to a long poll that came at once and has nothing is no reason to ask at once again. */
const SHORTEST_POLL_MS = 500;
/** More commands than a person, or an automation, ever gives are taken one by one: each is written down here. */
const COMMANDS_AT_ONCE = 200;
const COMMAND_PAUSE_MS = 1000;
/** Room for the frame around the events of a call, bytes. */
const FRAME_BYTES = 4096;

/** How the link stands. */
export type LinkState = 'connecting' | 'connected' | 'unreachable' | 'displaced' | 'outdated' | 'revoked';

export interface LinkStanding {
  state: LinkState;
  /** Since when, Unix ms. */
  since: number;
  /** What the server, or the way to it, said last; null while all is well. */
  problem: string | null;
  /** How far the server's clock is ahead, ms; null before it was reached. */
  offsetMs: number | null;
}

export interface ClientDeps {
  calls: ServerCalls;
  clock: Clock;
  log: Pick<Log, 'warn' | 'info'>;
  /** Names this engine, so that a second one with the same token is noticed. */
  instance: string;
  workspaceName(): string;
  listPending(): DecisionsRequest;
  /** What waits to be told, oldest first. */
  nextEvents(limit: number): OutgoingEvent[];
  /** They were told, or will never be. */
  settleEvents(ids: readonly number[], refused: string | null): Promise<void>;
  apply(command: LinkCommand, offsetMs: number): Promise<CommandOutcome>;
  /** Called before each poll; drops old events, and replaces the token when it is old. */
  prepare(signal: AbortSignal): Promise<void>;
  onRevoked(): void;
  /** Called after each poll that found the server, and no other engine there. */
  onConnected(): void;
  random?(): number;
}

/** Tells the server what happens here and asks it for commands, for as long as it is open. */
export interface LinkClient {
  standing(): LinkStanding;
  /** There may be events to tell, and with `hasDecisions` another list of what waits. */
  wake(hasDecisions: boolean): void;
  close(): Promise<void>;
}

/** Whether the server will never take what it was told. That must not hold up what is behind it. */
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
  /** The list that the server has, as text; null when that is not known. */
  let told: string | null = null;
  let sending: Promise<void> | null = null;
  let failures = 0;
  let retryTimer: NodeJS.Timeout | null = null;
  /** How many commands may be taken before the next pause, and since when. */
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

  /** What a failed call means for the link. Returns how long to wait, or null for ever. */
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

  /** As many as one call takes. */
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

  function send(): void {
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
          send();
        }, pause);
        retryTimer.unref();
      })
      .finally(() => {
        sending = null;
        // Woken while it ended.
        if (isPendingDue && retryTimer === null) send();
      });
  }

  /** The server is back: what it was not told goes now, and the whole list of what waits. */
  function resume(): void {
    told = null;
    isPendingDue = true;
    failures = 0;
    if (retryTimer !== null) clearTimeout(retryTimer);
    retryTimer = null;
    send();
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
    // The answer was made just now, however long the poll has waited; and the clock here may have been set meanwhile.
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
          // It has forgotten what it asked for.
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

  /** Pauses after commands that come faster than a command a second for long. */
  async function payForCommands(count: number): Promise<void> {
    const now = clock.monotonic();
    credit = Math.min(COMMANDS_AT_ONCE, credit + (now - creditAt) / COMMAND_PAUSE_MS) - count;
    creditAt = now;
    if (credit < 0) await pause(-credit * COMMAND_PAUSE_MS);
  }

  async function pause(ms: number): Promise<void> {
    const ending = new AbortController();
    endPause = () => ending.abort();
    const end = (): void => ending.abort();
    signal.addEventListener('abort', end);
    await delay(ms, undefined, { signal: ending.signal, ref: false }).catch(() => undefined);
    signal.removeEventListener('abort', end);
    endPause = null;
  }

  async function poll(): Promise<void> {
    let after = 0;
    let tries = 0;
    let isFirst = true;
    while (!signal.aborted) {
      try {
        await deps.prepare(signal);
        // The first answer comes at once, so that the server's time and state are known.
        after = await pollOnce(after, isFirst ? 0 : LONGEST_POLL_S);
        if (isFirst) resume();
        isFirst = false;
        tries = 0;
      } catch (thrown) {
        if (signal.aborted) return;
        const error = asSvcError(thrown);
        if (error.code === 'internal') log.warn({ error: error.message }, 'a command was not applied');
        tries += 1;
        // Whatever was not answered comes again.
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
      // The first poll has to find the server before it is told anything.
      if (standing.state !== 'connecting') send();
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
