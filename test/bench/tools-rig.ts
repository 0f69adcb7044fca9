import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { httpClient, type McpClient, mcpClient, stdioClient } from '../support/agents/mcp.ts';
import { awaitEvent } from '../support/workspaces/events.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';
import { type Figure, figure, percentile } from './figure.ts';

export const CHILD = fileURLToPath(new URL('./tools-child.js', import.meta.url));

/** A workspace with an engine, and the servers that its clients are compared with. */
export interface Rig {
  ws: TestWorkspace;
  /** Clients of the workspace: a Chair over a pipe, and one over HTTP. */
  stdio: McpClient;
  http: McpClient;
  /** Clients of the trivial servers. */
  plainStdio: McpClient;
  plainHttp: McpClient;
  /** URL of the trivial HTTP server. */
  plainUrl: URL;
  /** Environment of a worker that keeps running. */
  worker: Record<string, string>;
  /** The file that the trivial servers write to. */
  file: string;
  close(): Promise<void>;
}

export async function makeRig(): Promise<Rig> {
  // The limit keeps one notice file for the whole run.
  const ws = await makeWorkspace({ yaml: 'bus: { log_max_bytes: 100000000 }\n' });
  const file = join(ws.repository.folder, 'reference.log');
  const engine = await ws.connect();
  const { task_id: id } = await engine.call('task.add', {
    title: 'a worker that stays',
    agent: 'scripted',
    body: '#agent: hang',
  });
  const started = awaitEvent(engine, (event) => event.kind === 'session_started' && event.task_id === id);
  await engine.call('task.run', { id });
  const { session_id } = await started;

  const server = fork(CHILD, ['http', file], { stdio: 'inherit' });
  const [{ port }] = (await once(server, 'message')) as [{ port: number }];
  const clients: McpClient[] = [];
  const kept = async (opening: Promise<McpClient>): Promise<McpClient> => {
    const client = await opening;
    clients.push(client);
    return client;
  };
  const plainUrl = new URL(`http://127.0.0.1:${port}/mcp`);
  const command = { command: process.execPath, args: [CHILD, 'stdio', file] };
  return {
    ws,
    stdio: await kept(stdioClient(ws)),
    http: await kept(httpClient(ws)),
    plainStdio: await kept(mcpClient(new StdioClientTransport(command))),
    plainHttp: await kept(mcpClient(new StreamableHTTPClientTransport(plainUrl))),
    plainUrl,
    worker: { SVC_SESSION: session_id ?? '' },
    file,
    async close() {
      await Promise.all(clients.map((client) => client.close()));
      server.disconnect();
      await ws.close();
    },
  };
}

/** Reports when a mark reached a file. */
export interface Watcher {
  /** Marks since the last call, by number, ns. */
  seen(): Promise<Map<number, number>>;
  close(): void;
}

export async function watchFile(file: string): Promise<Watcher> {
  mkdirSync(dirname(file), { recursive: true });
  const child: ChildProcess = fork(CHILD, ['watch', file], { stdio: 'inherit' });
  await once(child, 'message');
  return {
    async seen() {
      child.send('seen');
      const [seen] = (await once(child, 'message')) as [[number, number][]];
      return new Map(seen);
    },
    close: () => child.disconnect(),
  };
}

/** Nanoseconds of the machine's clock, as the watcher counts them. */
export const now = (): number => Number(process.hrtime.bigint());

/** Duration of one call, ms. */
export async function time(call: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await call();
  return performance.now() - begin;
}

/** Takes samples of several things in ms, alternating so that slow spells of the machine affect all of them. */
export async function inTurns(
  things: readonly (() => Promise<unknown>)[],
  { rounds = 10, calls = 50, warm = 500 } = {},
): Promise<number[][]> {
  const samples = things.map((): number[] => []);
  for (const thing of things) for (let call = 0; call < warm; call += 1) await thing();
  for (let round = 0; round < rounds; round += 1) {
    for (const [at, thing] of things.entries()) {
      for (let call = 0; call < calls; call += 1) samples[at]?.push(await time(thing));
    }
  }
  return samples;
}

/** Returns median and 95th percentile, with the reference's. */
export const spread = (
  name: string,
  samples: readonly number[] = [],
  reference: readonly number[] | null = null,
  beside = '',
): Figure[] =>
  [0.5, 0.95].map((p) =>
    figure(
      `${name}, p${p * 100}${beside === '' ? '' : ` (reference: ${beside})`}`,
      percentile(samples, p),
      'ms',
      reference === null ? null : percentile(reference, p),
    ),
  );
