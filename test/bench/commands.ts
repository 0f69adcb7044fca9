import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { makeWorkspace, SVC } from '../support/workspaces/workspace.ts';
import { type Figure, figure, median, percentile } from './figure.ts';

const ROUNDS = 20;
const IDLE_MS = 2000;

/** Wall time of a whole process, ms. */
export async function wall(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<number> {
  const begin = performance.now();
  const child = spawn(process.execPath, args, { cwd, env, stdio: 'ignore' });
  await once(child, 'exit');
  return performance.now() - begin;
}

/** Memory of a process, bytes. */
export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024;

/** Compares `svc task list` with `node -e 0`, alternating. */
export async function commandLine(): Promise<Figure[]> {
  const ws = await makeWorkspace();
  try {
    for (let count = 0; count < 20; count += 1) await ws.program(['task', 'add', `task number ${count}`]);
    const ours: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      ours.push(await wall([SVC, 'task', 'list'], ws.root, ws.env));
      bare.push(await wall(['-e', '0'], ws.root, ws.env));
    }
    return [
      figure('svc task list, p50 (reference: node -e 0)', median(ours), 'ms', median(bare)),
      figure(
        'svc task list, p95 (reference: node -e 0)',
        percentile(ours, 0.95),
        'ms',
        percentile(bare, 0.95),
      ),
    ];
  } finally {
    await ws.close();
  }
}

/** Measures the time from spawn to listening, and idle resident memory, compared with a bare node:http server. */
export async function daemon(): Promise<Figure[]> {
  const ws = await makeWorkspace();
  const bareServer = `require('node:http').createServer((q,s)=>s.end()).listen(0,()=>require('node:fs').writeSync(3,'ready'))`;
  const until = async (
    args: readonly string[],
  ): Promise<{ ms: number; pid: number; stop(): Promise<void> }> => {
    const begin = performance.now();
    const child = spawn(process.execPath, args, {
      cwd: ws.root,
      env: ws.env,
      stdio: ['ignore', 'ignore', 'inherit', 'pipe'],
    });
    await once(child.stdio[3] as NodeJS.ReadableStream, 'data');
    const ms = performance.now() - begin;
    return {
      ms,
      pid: child.pid ?? 0,
      async stop() {
        child.kill('SIGTERM');
        await once(child, 'exit');
      },
    };
  };
  try {
    const starts: number[] = [];
    const bareStarts: number[] = [];
    let memory = 0;
    let bareMemory = 0;
    for (let round = 0; round < 7; round += 1) {
      const ours = await until([SVC, 'daemon', '--ready-fd', '3']);
      const bare = await until(['-e', bareServer]);
      starts.push(ours.ms);
      bareStarts.push(bare.ms);
      if (round === 0) {
        await delay(IDLE_MS);
        memory = residentMb(ours.pid);
        bareMemory = residentMb(bare.pid);
      }
      await ours.stop();
      await bare.stop();
    }
    return [
      figure(
        'daemon start to listening, p50 (reference: bare node:http)',
        median(starts),
        'ms',
        median(bareStarts),
      ),
      figure('daemon idle memory, resident (reference: bare node:http)', memory, 'MB', bareMemory),
    ];
  } finally {
    await ws.close();
  }
}
