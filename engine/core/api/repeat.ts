import { hash } from 'node:crypto';
import { SvcError } from '../base/errors.ts';
import type { Call, Caller } from './operation.ts';

/** Which call it is: a key counts for the operation and for whoever gave it. */
export interface CallName {
  caller: string;
  operation: string;
  key: string;
}

/** What is remembered of a call that has changed something. */
export interface KeptCall {
  /** A digest of what it asked for. */
  input: string;
  /** `value` is its answer in wire form; else it is what the call needs to go on from there. */
  isAnswer: boolean;
  /** JSON. */
  value: unknown;
}

/** Where calls are remembered: what a call changes and the record of it are one transaction. */
export interface CallLog {
  write<T>(work: () => T): Promise<T>;
  find(name: CallName): KeptCall | null;
  /** Inside `write`. */
  keep(name: CallName, kept: KeptCall): void;
}

/** One run, for all who have called under its key. */
interface SharedRun {
  input: string;
  answer: Promise<unknown>;
  /** Heard by the run; aborted when the last one has given up. */
  abandoned: AbortController;
  listeners: Set<Call['progress']>;
  lastMessage: string | null;
}

interface Repeated {
  name: CallName;
  /** As it was parsed. */
  input: unknown;
  call: Call;
  /** Whether the answer may be written down. */
  isSecret: boolean;
  run(call: Call): unknown;
  toAnswer(value: unknown): unknown;
}

/** The Chairs of one person are one caller: a Chair that comes back may be another session. */
export const nameCaller = ({ seat, actor, sessionId }: Caller): string =>
  seat === 'chair' ? `chair ${actor}` : `${seat} ${sessionId ?? actor}`;

/** Answers a call that is sent again under its key: what it changed is not changed again. */
export function createRepeats(log: CallLog) {
  const running = new Map<string, SharedRun>();

  async function joinRun(shared: SharedRun, { signal, progress }: Call): Promise<unknown> {
    const { listeners, abandoned, lastMessage } = shared;
    listeners.add(progress);
    if (lastMessage !== null) progress(lastMessage);
    const gone = Promise.withResolvers<never>();
    const giveUp = (): void => {
      listeners.delete(progress);
      if (listeners.size === 0) abandoned.abort();
      else gone.reject(new SvcError('cancelled', 'the call was cancelled; others still wait for its answer'));
    };
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    try {
      return await Promise.race([shared.answer, gone.promise]);
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** Runs it, from where an earlier run of it has come to. */
  async function performRun(
    repeated: Repeated,
    input: string,
    begun: KeptCall | null,
    call: Call,
  ): Promise<unknown> {
    const { name, toAnswer } = repeated;
    let isKept = begun !== null;
    let finished: { value: unknown; answer: unknown } | null = null;
    const value = await repeated.run({
      ...call,
      begun: <T>() => begun?.value as T | undefined,
      async begin<T>(work: () => T): Promise<T> {
        if (begun !== null) return begun.value as T;
        const made = await log.write(() => {
          const value = work();
          log.keep(name, { input, isAnswer: false, value });
          return value;
        });
        isKept = true;
        return made;
      },
      async finish<T>(work: () => T): Promise<T> {
        const made = await log.write(() => {
          const value = work();
          finished = { value, answer: toAnswer(value) };
          log.keep(name, { input, isAnswer: true, value: finished.answer });
          return value;
        });
        isKept = true;
        return made;
      },
    });
    const done = finished as { value: unknown; answer: unknown } | null;
    if (done !== null && done.value !== value)
      throw new Error(`${name.operation} returned a different result than it finished with`);
    const answer = done === null ? toAnswer(value) : done.answer;
    if (!isKept && !repeated.isSecret)
      await log.write(() => log.keep(name, { input, isAnswer: true, value: answer }));
    return answer;
  }

  function startRun(id: string, repeated: Repeated, input: string, begun: KeptCall | null): SharedRun {
    const abandoned = new AbortController();
    const listeners: SharedRun['listeners'] = new Set();
    const shared = { input, abandoned, listeners, lastMessage: null } as Omit<
      SharedRun,
      'answer'
    > as SharedRun;
    const call = {
      ...repeated.call,
      signal: abandoned.signal,
      progress(message: string) {
        shared.lastMessage = message;
        for (const listener of listeners) listener(message);
      },
    };
    running.set(id, shared);
    shared.answer = performRun(repeated, input, begun, call).finally(() => running.delete(id));
    return shared;
  }

  /**
   * Throws `idempotency_conflict` for a key under which something else was asked for. Calls that are there at the same time
   * share one run; it is told to stop when none of them waits any more.
   */
  return async function runOnce(repeated: Repeated): Promise<unknown> {
    const { name, call } = repeated;
    const id = JSON.stringify([name.caller, name.operation, name.key]);
    const input = hash('sha256', JSON.stringify(repeated.input) ?? '');
    const checkSame = (earlier: { input: string }): void => {
      if (earlier.input !== input)
        throw new SvcError(
          'idempotency_conflict',
          `the key of this call was used for another ${name.operation}`,
          {
            hint: 'use each key for one call, with the same input every time',
          },
        );
    };
    for (;;) {
      const shared = running.get(id);
      if (shared === undefined) break;
      checkSame(shared);
      if (!shared.abandoned.signal.aborted) return joinRun(shared, call);
      // It was told to stop, and may have come to its end nevertheless.
      await shared.answer.catch(() => undefined);
    }
    const kept = log.find(name);
    if (kept !== null) checkSame(kept);
    return kept?.isAnswer === true ? kept.value : joinRun(startRun(id, repeated, input, kept), call);
  };
}
