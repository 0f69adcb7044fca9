import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { takePart } from '../support/workspaces/seats.ts';
import { makeWorkspace, SVC } from '../support/workspaces/workspace.ts';
import { type Figure, figure, median, percentile } from './figure.ts';

const ROUNDS = 60;

/** Wall time in ms of a whole process that reads `input`. */
async function wall(
  args: readonly string[],
  input: string,
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<number> {
  const begin = performance.now();
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['pipe', 'ignore', 'ignore'] });
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  await once(child, 'exit');
  return performance.now() - begin;
}

/**
 * Measures an agent's wait at each write: `svc hook pre-write`, alternating with plain Node and with Node plus a
 * socket.
 */
export async function hooks(): Promise<Figure[]> {
  const ws = await makeWorkspace();
  try {
    const client = await ws.connect();
    await takePart(ws, 'bob');
    await client.call('lock.acquire', { holder: 'bob', path: 'held.ts' });
    const socket = JSON.stringify(join(ws.root, '.svc', 'svc.sock'));
    const bareSocket = `require('node:net').connect(${socket}).on('connect',()=>process.exit())`;
    const sent = (path: string): string =>
      JSON.stringify({
        cwd: ws.root,
        tool_name: 'Write',
        tool_input: { file_path: join(ws.root, path), content: 'x'.repeat(4000) },
      });
    const place = { cwd: ws.root, env: { ...ws.env, SVC_SESSION: 'ada' } };
    const command = [SVC, 'hook', 'pre-write', '--agent', 'claude'];
    const times: Record<'free' | 'held' | 'bare' | 'socket', number[]> = {
      free: [],
      held: [],
      bare: [],
      socket: [],
    };
    // The first run fills the compile cache.
    for (let round = -1; round < ROUNDS; round += 1) {
      const free = await wall(command, sent('free.ts'), place);
      const held = await wall(command, sent('held.ts'), place);
      const bare = await wall(['-e', '0'], '', place);
      const withSocket = await wall(['-e', bareSocket], '', place);
      if (round < 0) continue;
      times.free.push(free);
      times.held.push(held);
      times.bare.push(bare);
      times.socket.push(withSocket);
    }
    const { free, held, bare, socket: open } = times;
    return [
      figure('svc hook pre-write, free path, p50 (reference: node -e 0)', median(free), 'ms', median(bare)),
      figure(
        'svc hook pre-write, free path, p95 (reference: node -e 0)',
        percentile(free, 0.95),
        'ms',
        percentile(bare, 0.95),
      ),
      figure(
        'svc hook pre-write, refused, p50 (reference: node and a socket)',
        median(held),
        'ms',
        median(open),
      ),
      figure(
        'svc hook pre-write, refused, p95 (reference: node and a socket)',
        percentile(held, 0.95),
        'ms',
        percentile(open, 0.95),
      ),
    ];
  } finally {
    await ws.close();
  }
}
