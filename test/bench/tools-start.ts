import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { SVC } from '../support/workspaces/workspace.ts';
import { type Figure, figure } from './figure.ts';
import { CHILD, type Rig, spread } from './tools-rig.ts';

const ROUNDS = 20;

interface Started {
  /** Milliseconds from the spawn to the answer. */
  initialize: number;
  list: number;
  /** Size of the answer to tools/list. */
  bytes: number;
}

/**
 * Starts a server as an agent program does, with input that is written before the server reads; the client costs
 * nothing here.
 */
async function start(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Started> {
  const begin = performance.now();
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const write = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  let text = '';
  let wanted: ((line: string) => void) | null = null;
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    const end = text.indexOf('\n');
    if (end < 0) return;
    const line = text.slice(0, end);
    text = text.slice(end + 1);
    wanted?.(line);
  });
  const answer = (): Promise<string> =>
    new Promise((resolve) => {
      wanted = resolve;
    });
  write({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
  });
  await answer();
  const initialize = performance.now() - begin;
  write({ method: 'notifications/initialized' });
  write({ id: 2, method: 'tools/list' });
  const { result } = JSON.parse(await answer()) as { result: object };
  const list = performance.now() - begin;
  child.stdin.end();
  await once(child, 'exit');
  return { initialize, list, bytes: Buffer.byteLength(JSON.stringify(result)) };
}

async function bare(cwd: string, env: NodeJS.ProcessEnv): Promise<number> {
  const begin = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { cwd, env, stdio: 'ignore' }), 'exit');
  return performance.now() - begin;
}

/**
 * Compares `svc mcp`, from its spawn to its first answers, with a trivial server on the same SDK and with `node -e
 * 0`.
 */
export async function starts({ ws, worker, file }: Rig): Promise<Figure[]> {
  const { root, env } = ws;
  const ours: Started[] = [];
  const trivial: Started[] = [];
  const nodes: number[] = [];
  let workers = 0;
  for (let round = 0; round < ROUNDS + 2; round += 1) {
    const mine = await start([SVC, 'mcp'], root, env);
    const theirs = await start([CHILD, 'stdio', file], root, env);
    const node = await bare(root, env);
    if (round < 2) {
      workers = (await start([SVC, 'mcp'], root, { ...env, ...worker })).bytes;
      continue;
    }
    ours.push(mine);
    trivial.push(theirs);
    nodes.push(node);
  }
  const of = (which: 'initialize' | 'list', from: readonly Started[]) => from.map((each) => each[which]);
  return [
    ...spread(
      'svc mcp, spawn to initialize answered',
      of('initialize', ours),
      of('initialize', trivial),
      'trivial server',
    ),
    ...spread('svc mcp, spawn to initialize answered', of('initialize', ours), nodes, 'node -e 0'),
    ...spread('svc mcp, spawn to tools listed', of('list', ours), of('list', trivial), 'trivial server'),
    figure('tools/list for a Chair', ours[0]?.bytes ?? Number.NaN, 'bytes'),
    figure('tools/list for a worker', workers, 'bytes'),
  ];
}
