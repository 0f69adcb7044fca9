import { hash } from 'node:crypto';
import { SvcError } from '../base/errors.ts';
import type { Caller, OperationCall } from './operation.ts';

/** The identity of a call: a key is scoped to the operation and the caller. */
export interface CallName {
  caller: string;
  operation: string;
  key: string;
}

/** The record of a call that changed something. */
export interface KeptCall {
  /** A digest of its input. */
  input: string;
  /** `value` is its answer in wire form; otherwise the state that the call needs to continue. */
  isAnswer: boolean;
  /** JSON. */
  value: unknown;
}

/** The store of call records: a call's changes and its record are one transaction. */
export interface CallLog {
  write<T>(work: () => T): Promise<T>;
  find(name: CallName): KeptCall | null;
  /** Returns the newest call of this caller and operation whose key starts with `prefix`; `at` in ms. */
  findLast(of: Omit<CallName, 'key'> & { prefix: string }): { key: string; at: number } | null;
  /** Runs inside `write`. */
  keep(name: CallName, kept: KeptCall): void;
}

/** One run, shared by all calls under its key. */
interface SharedRun {
  input: string;
  answer: Promise<unknown>;
  /** The run's signal; aborted when the last caller has cancelled. */
  abandoned: AbortController;
  listeners: Set<OperationCall['progress']>;
  lastMessage: string | null;
}

interface Repeated {
  name: CallName;
  /** The parsed input. */
  input: unknown;
  call: OperationCall;
  /** True if the answer may be stored. */
  isSecret: boolean;
  run(call: OperationCall): unknown;
  toAnswer(value: unknown): unknown;
}

/** Names a caller. The Chairs of one person are one caller: a returning Chair may have another session. */
export const nameCaller = ({ seat, actor, sessionId }: Caller): string =>
  seat === 'chair' ? `chair ${actor}` : `${seat} ${sessionId ?? actor}`;

/** Waits for a run; the last caller that cancels aborts it. */
async function joinRun(shared: SharedRun, { signal, progress }: OperationCall): Promise<unknown> {
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

/** Runs a call, starting from the state of an earlier run. */
async function performRun(
  log: CallLog,
  repeated: Repeated,
  input: string,
  begun: KeptCall | null,
  call: OperationCall,
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

/** Answers a repeated call under its key without repeating its changes. */
export function createRepeats(log: CallLog) {
  const running = new Map<string, SharedRun>();

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
    shared.answer = performRun(log, repeated, input, begun, call).finally(() => running.delete(id));
    return shared;
  }

  /**
   * Throws `idempotency_conflict` for a key that was used with a different input. Simultaneous calls share one run,
   * which is aborted when none of them waits any more.
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
      // It was aborted, but may have finished nevertheless.
      await shared.answer.catch(() => undefined);
    }
    const kept = log.find(name);
    if (kept !== null) checkSame(kept);
    return kept?.isAnswer === true ? kept.value : joinRun(startRun(id, repeated, input, kept), call);
  };
}
