import type { ResourceLimits, Worker } from 'node:worker_threads';
import { SvcError } from './errors.ts';
import { settleWithin } from './settle-within.ts';

/** The calls of a thread by name: arguments, results, and progress reports. */
type CallTable<Calls> = { [Name in keyof Calls]: { takes: unknown; answers: unknown; tells?: unknown } };
type Tells<Call> = Call extends { tells: infer Told } ? Told : never;

interface ThreadRequest {
  id: number;
  /** Null before the thread is ended. */
  call: string | null;
  takes: unknown;
  /** True if the caller listens to progress reports. */
  isHeard: boolean;
}

type ThreadReply =
  | { id: number; progress: unknown }
  | { id: number; answer: unknown }
  | { id: number; failed: string };

export interface ThreadOptions {
  /** The file of the thread. */
  program: string | URL;
  /** Its task, as the start of a sentence about its failure. */
  name: string;
  /** Idle time after which it ends and releases its memory; the next call starts another one. */
  idleMs: number;
  /** Time limit for its cleanup before it is ended. */
  closingMs: number;
  limits: ResourceLimits;
  env?: NodeJS.ProcessEnv;
  /** Returns its `workerData`. A thread that was started with different data is ended first. */
  settings?(): unknown;
}

/** Calls a thread that is started on first use. */
export interface ThreadClient<Calls extends CallTable<Calls>> {
  /** Rejects with `internal` if the call fails or the thread is gone, with `cancelled` if it is closed. */
  call<Name extends keyof Calls & string>(
    name: Name,
    takes: Calls[Name]['takes'],
    onProgress?: (progress: Tells<Calls[Name]>) => void,
  ): Promise<Calls[Name]['answers']>;
  /** Does the same with a time limit; null if it takes longer, even if it fails later. */
  callInTime<Name extends keyof Calls & string>(
    name: Name,
    takes: Calls[Name]['takes'],
    deadlineMs: number,
  ): Promise<Calls[Name]['answers'] | null>;
  /** Ends the thread, and with it all calls. */
  close(): Promise<void>;
}

interface WaitingCall {
  resolve(answer: unknown): void;
  reject(error: Error): void;
  progress(progress: unknown): void;
}

interface RunningThread {
  worker: Worker;
  /** As JSON. */
  settings: string;
  waiting: Map<number, WaitingCall>;
}

export function createThreadClient<Calls extends CallTable<Calls>>(
  options: ThreadOptions,
): ThreadClient<Calls> {
  const { program, name, idleMs, closingMs, limits, env, settings } = options;
  let running: RunningThread | null = null;
  let lastId = 0;
  let idle: NodeJS.Timeout | undefined;

  function rejectAll({ waiting }: RunningThread, error: SvcError): void {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  }

  function startThread(given: unknown): RunningThread {
    // Not imported: half a millisecond of each start.
    const threads = process.getBuiltinModule('node:worker_threads');
    const worker = new threads.Worker(program, {
      workerData: given,
      // Ignores its output.
      stdout: true,
      stderr: true,
      resourceLimits: limits,
      ...(env === undefined ? {} : { env: { ...env } as NodeJS.ProcessEnv }),
    });
    const started: RunningThread = { worker, settings: JSON.stringify(given) ?? '', waiting: new Map() };
    const failThread = (why: string): void => {
      if (running === started) running = null;
      rejectAll(started, new SvcError('internal', `${name} has ended: ${why}`));
    };
    worker.on('message', (reply: ThreadReply) => {
      const asked = started.waiting.get(reply.id);
      if ('progress' in reply) return asked?.progress(reply.progress);
      started.waiting.delete(reply.id);
      if (started.waiting.size === 0) worker.unref();
      if ('failed' in reply) asked?.reject(new SvcError('internal', `${name} failed: ${reply.failed}`));
      else asked?.resolve(reply.answer);
    });
    worker.on('error', (error) => failThread(error.message));
    worker.on('exit', () => failThread('its thread is gone'));
    worker.unref();
    return started;
  }

  function postCall(
    { worker, waiting }: RunningThread,
    call: string | null,
    takes: unknown,
    progress?: (progress: unknown) => void,
  ): Promise<unknown> {
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject, progress: progress ?? (() => undefined) });
      worker.ref();
      worker.postMessage({ id, call, takes, isHeard: progress !== undefined } satisfies ThreadRequest);
    });
  }

  async function stopThread(): Promise<void> {
    clearTimeout(idle);
    const stopped = running;
    running = null;
    if (stopped === null) return;
    if (closingMs > 0)
      await settleWithin(
        closingMs,
        postCall(stopped, null, null).catch(() => undefined),
      );
    rejectAll(stopped, new SvcError('cancelled', `${name} was ended`));
    await stopped.worker.terminate();
  }

  function waitForRest(): void {
    clearTimeout(idle);
    idle = setTimeout(() => {
      if (running !== null && running.waiting.size > 0) waitForRest();
      else void stopThread();
    }, idleMs);
    idle.unref();
  }

  const client: ThreadClient<Calls> = {
    async call(call, takes, onProgress) {
      const given = settings?.();
      if (running !== null && running.settings !== (JSON.stringify(given) ?? '')) await stopThread();
      running ??= startThread(given);
      waitForRest();
      const progress = onProgress as ((progress: unknown) => void) | undefined;
      return (await postCall(running, call, takes, progress)) as never;
    },
    async callInTime(call, takes, deadlineMs) {
      const asked = client.call(call, takes);
      // A later failure concerns no one.
      asked.catch(() => undefined);
      return settleWithin(deadlineMs, asked);
    },
    close: stopThread,
  };
  return client;
}

/** Runs the thread's side: answers calls concurrently, each when it is done. */
export function answerThreadCalls<Calls extends CallTable<Calls>>(
  calls: {
    [Name in keyof Calls]: (
      takes: Calls[Name]['takes'],
      tell: (progress: Tells<Calls[Name]>) => void,
    ) => Calls[Name]['answers'] | Promise<Calls[Name]['answers']>;
  },
  /** Releases its resources. */
  close: () => void = () => undefined,
): void {
  const port = process.getBuiltinModule('node:worker_threads').parentPort!;
  const sendReply = (reply: ThreadReply): void => port.postMessage(reply);
  port.on('message', async ({ id, call, takes, isHeard }: ThreadRequest) => {
    const sendProgress = (progress: unknown): void => void (isHeard && sendReply({ id, progress }));
    try {
      const answer = call === null ? close() : await calls[call as keyof Calls](takes, sendProgress);
      sendReply({ id, answer });
    } catch (error) {
      sendReply({ id, failed: error instanceof Error ? error.message : String(error) });
    }
  });
}
