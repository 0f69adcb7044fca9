import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { SvcError } from '../../../base/errors.ts';
import type { ThreadAnswer, ThreadCalls, ThreadSettings } from './messages.ts';

/** Speaks with the thread that compares code; starts it when it is first asked. */
export interface GuardThread {
  /** Rejects with `internal` when the thread has failed, which it has not done for other calls. */
  call<Call extends keyof ThreadCalls>(
    call: Call,
    takes: ThreadCalls[Call]['takes'],
  ): Promise<ThreadCalls[Call]['answers']>;
  close(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('./main.js', import.meta.url));
/** Without a call for so long, its memory is given back; the next call has it read its file again. */
const IDLE_MS = 10 * 60_000;
const CLOSING_MS = 1000;
const MOST_HEAP_MB = 256;

interface Running {
  worker: Worker;
  settings: string;
  waiting: Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>;
}

export function createGuardThread(settings: () => ThreadSettings): GuardThread {
  let running: Running | null = null;
  let lastId = 0;
  let idle: NodeJS.Timeout | undefined;

  function start(given: ThreadSettings): Running {
    const worker = new Worker(PROGRAM, {
      workerData: given,
      // What it prints is nothing that anybody asked for.
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MB },
    });
    const started: Running = { worker, settings: JSON.stringify(given), waiting: new Map() };
    const fail = (why: string): void => {
      if (running === started) running = null;
      for (const { reject } of started.waiting.values())
        reject(new SvcError('internal', `the comparison of code has ended: ${why}`));
      started.waiting.clear();
    };
    worker.on('message', (message: ThreadAnswer) => {
      const asked = started.waiting.get(message.id);
      started.waiting.delete(message.id);
      if (started.waiting.size === 0) worker.unref();
      if ('error' in message) asked?.reject(new SvcError('internal', message.error));
      else asked?.resolve(message.answer);
    });
    worker.on('error', (error) => fail(error.message));
    worker.on('exit', () => fail('its thread is gone'));
    worker.unref();
    return started;
  }

  function ask({ worker, waiting }: Running, call: string, takes: unknown): Promise<unknown> {
    lastId += 1;
    const id = lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.ref();
      worker.postMessage({ id, call, takes });
    });
  }

  async function stop(): Promise<void> {
    clearTimeout(idle);
    const stopped = running;
    running = null;
    if (stopped === null) return;
    const late = new Promise((resolve) => setTimeout(resolve, CLOSING_MS).unref());
    await Promise.race([ask(stopped, 'close', null).catch(() => undefined), late]);
    await stopped.worker.terminate();
  }

  return {
    async call(call, takes) {
      const now = settings();
      if (running !== null && running.settings !== JSON.stringify(now)) await stop();
      running ??= start(now);
      clearTimeout(idle);
      idle = setTimeout(() => void stop(), IDLE_MS);
      idle.unref();
      return (await ask(running, call, takes)) as never;
    },
    close: stop,
  };
}
