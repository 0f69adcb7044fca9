import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Runner } from '../../../engine/workers/runner/runs/runner.ts';
import { settled } from '../wait.ts';

const CHILD = fileURLToPath(new URL('./runner-host-child.js', import.meta.url));

/** A moment of a run's start, around the processes that are started and the files that mark what is done. */
export type HostMoment =
  | `${'before' | 'after'} ${'first' | 'second' | 'agent' | 'mark'}`
  | 'within shim'
  | 'after shim';

export interface HostOptions {
  /** The repository. */
  root: string;
  /** The machine home. */
  home: string;
  /** The folder of the sessions' folders. */
  agents: string;
  /** The setup commands of the project. */
  setup: readonly string[];
  /** The moment when it kills itself with SIGKILL; null for none. */
  moment: HostMoment | null;
}

type Method = Exclude<keyof Runner, 'watch' | 'close'>;

/** A process that hosts a runner, and a caller that may lose its answers. */
export interface RunnerHost {
  /** Rejects with `{code, message, isRaw}`, or with null if the host died before it answered. */
  call<M extends Method>(method: M, ...args: Parameters<Runner[M]>): Promise<Awaited<ReturnType<Runner[M]>>>;
  watch(order: Parameters<Runner['watch']>[0]): ReturnType<Runner['watch']>;
  /** Kills it with SIGKILL. */
  kill(): Promise<void>;
}

export function startRunnerHost(options: HostOptions): RunnerHost {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const open = new Map<number, { resolve(answer: unknown): void; reject(error: unknown): void }>();
  let count = 0;
  child.stdin.on('error', () => undefined);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, answer, error } = JSON.parse(line);
    const call = open.get(id);
    open.delete(id);
    if (error === undefined) call?.resolve(answer);
    else call?.reject(error);
  });
  void ended.then(() => {
    for (const { reject } of open.values()) reject(null);
  });
  const send = (method: string, args: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      count += 1;
      open.set(count, { resolve, reject });
      child.stdin.write(`${JSON.stringify({ id: count, method, args })}\n`);
    });
  return {
    call: (method, ...args) => send(method, args) as never,
    watch: (order) => send('watch', [order]) as ReturnType<Runner['watch']>,
    async kill() {
      child.kill('SIGKILL');
      await settled(ended, 'the end of the host');
    },
  };
}
