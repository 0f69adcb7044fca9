import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../core/base/clock.ts';
import { asSvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import {
  type CommandOutcome,
  commandsAnswer,
  type LinkCommand,
  LONGEST_POLL_S,
} from '../core/link-protocol/messages.ts';
import { FIRST_CALL_MS, isRefused, nothing, type ServerCalls } from './server-calls.ts';
import type { createStanding } from './standing.ts';

/** An immediate, empty answer to a long poll must not cause an immediate new request. */
const SHORTEST_POLL_MS = 500;
/** Above this rate, which no person or automation reaches, commands are throttled: each is recorded here. */
const COMMANDS_AT_ONCE = 200;
const COMMAND_PAUSE_MS = 1000;

export interface PollerDeps {
  calls: ServerCalls;
  clock: Clock;
  log: Pick<Log, 'warn' | 'info'>;
  /** Identifies this engine, so that a second one with the same token is noticed. */
  instance: string;
  apply(command: LinkCommand, offsetMs: number): Promise<CommandOutcome>;
  /** Called before each poll; drops old events, and replaces an old token. */
  prepare(signal: AbortSignal): Promise<void>;
  /** Called after each poll that reached the server without another engine there. */
  onConnected(): void;
}

/** Polls for commands, applies them, and answers with their outcomes, until `signal` is aborted. */
export function startPolling(
  deps: PollerDeps & {
    /** Called after the first poll that reached the server, and the first after each failure. */
    onReached(): void;
  },
  standing: ReturnType<typeof createStanding>,
  signal: AbortSignal,
) {
  const { calls, clock, log } = deps;
  /** Commands accepted before the next pause, and the start of the count. */
  let credit = COMMANDS_AT_ONCE;
  let creditAt = clock.monotonic();
  /** Ends the pause of the poll. */
  let endPause: (() => void) | null = null;

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
    standing.noteTime(server_time, clock.now());
    standing.setState(
      contested ? 'displaced' : 'connected',
      contested ? 'another engine uses the same token' : null,
    );
    if (!contested) deps.onConnected();
    let last = after;
    for (const command of commands) {
      await answerCommand(deps, command, standing.read().offsetMs ?? 0, signal);
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
        if (isFirst) deps.onReached();
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
        const wait = standing.judgeFailure(error, tries);
        if (wait !== null) await pause(wait);
      }
    }
  }

  const polling = pause(FIRST_CALL_MS).then(poll);
  return {
    /** After `signal` was aborted: resolves when nothing is in progress. */
    async close() {
      endPause?.();
      await polling;
    },
  };
}

async function answerCommand(
  { calls, log, apply }: PollerDeps,
  command: LinkCommand,
  offsetMs: number,
  signal: AbortSignal,
): Promise<void> {
  const outcome = await apply(command, offsetMs);
  log.info({ command: command.id, verb: command.verb, outcome: outcome.outcome }, 'a command was answered');
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
}
