import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { GATEWAY_MALLOC, GATEWAY_NODE_OPTIONS } from '../../engine/gateway/spawn-gateway.ts';
import { until } from '../support/wait.ts';
import { type Figure, figure, median } from './figure.ts';
import type { GatewayLoad, GatewayLoadResult } from './gateway-child.ts';

const ROUNDS = 3;
/** Milliseconds in which an idle process frees unneeded memory, see engine/core/platform/idle-memory.ts. */
const IDLE_MS = 25_000;

const CASES = [1, 32].flatMap((connections) =>
  [1024, 100 * 1024].flatMap((bodyBytes) =>
    [false, true].map((isStream) => ({ connections, bodyBytes, isStream, says: 'question' as const })),
  ),
);

/** Tool outputs of 100 KB, on which the live zone works. */
const OUTPUT_CASES = [1, 32].flatMap((connections) =>
  (['output', 'new output'] as const).map((says) => ({
    connections,
    bodyBytes: 100 * 1024,
    isStream: false,
    says,
  })),
);

/** A target of calls and its protocol. */
interface Target {
  name: string;
  process: ChildProcess;
  port: number;
  protocol: 'chat' | 'messages';
  headers: Record<string, string>;
}

/** A third-party gateway from npm. */
interface GatewayPeer {
  name: string;
  program: string;
  protocol: Target['protocol'];
  args(port: number): string[];
  /** Writes its configuration to an empty home. */
  prepare(home: string, port: number, upstream: string): void;
  headers(upstream: string): Record<string, string>;
}

/**
 * `npm install --prefix FOLDER @portkey-ai/gateway @musistudio/claude-code-router@2.0.0`. Streams of the first one
 * fail unless the folder's package.json has `"overrides": { "@hono/node-server": "1.13.8" }`.
 */
const PEER_FOLDER = process.env.SVC_BENCH_PEERS ?? '';

const GATEWAY_PEERS: readonly GatewayPeer[] = [
  {
    name: 'portkey',
    program: join('@portkey-ai', 'gateway', 'build', 'start-server.js'),
    protocol: 'chat',
    args: (port) => [`--port=${port}`, '--headless'],
    prepare: () => undefined,
    headers: (upstream) => ({
      authorization: 'Bearer bench',
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstream}/v1`,
    }),
  },
  {
    // This peer speaks only the messages protocol, so it is compared with our translation.
    name: 'claude-code-router',
    program: join('@musistudio', 'claude-code-router', 'dist', 'cli.js'),
    protocol: 'messages',
    args: () => ['start'],
    prepare(home, port, upstream) {
      const folder = join(home, '.claude-code-router');
      mkdirSync(folder);
      const provider = {
        name: 'up',
        api_base_url: `${upstream}/v1/chat/completions`,
        api_key: 'real',
        models: ['m'],
      };
      const config = {
        PORT: port,
        LOG: false,
        NON_INTERACTIVE_MODE: true,
        Providers: [provider],
        Router: { default: 'up,m' },
      };
      writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
    },
    headers: () => ({}),
  },
];

/**
 * Measures what the gateway adds to a call, passed through or translated, with the live zone on as by default,
 * compared with a minimal node:http proxy and with gateways from npm, alternating with the upstream: added p50, p99
 * and first byte, requests a second, CPU time and memory.
 */
export async function gatewayBench(): Promise<Figure[]> {
  const started: ChildProcess[] = [];
  const homes: string[] = [];
  const start = async (name: string, args: string[] = [], execArgv: string[] = []): Promise<Target> => {
    const program = fileURLToPath(new URL('./gateway-child.js', import.meta.url));
    const child = fork(program, [name, ...args], {
      execArgv,
      env: { ...process.env, ...GATEWAY_MALLOC },
    });
    started.push(child);
    const said =
      name === 'load' ? {} : ((await once(child, 'message'))[0] as { port?: number; key?: string });
    const { port = 0, key = 'none' } = said as { port?: number; key?: string };
    return { name, process: child, port, protocol: 'chat', headers: { authorization: `Bearer ${key}` } };
  };
  try {
    const upstream = await start('upstream');
    const load = await start('load');
    const floor = await start('floor', [String(upstream.port)]);
    const data = mkdtempSync(join(tmpdir(), 'svc-bench-gateway-'));
    homes.push(data);
    const gateway = await start('gateway', [String(upstream.port), data], GATEWAY_NODE_OPTIONS);
    const translating: Target = { ...gateway, name: 'translated', protocol: 'messages' };
    const peers: Target[] = [];
    for (const peer of GATEWAY_PEERS) {
      const program = join(PEER_FOLDER, 'node_modules', peer.program);
      if (PEER_FOLDER === '' || !existsSync(program)) {
        console.error(`gateway: not compared with ${peer.name}, which is missing (SVC_BENCH_PEERS)`);
        continue;
      }
      const home = mkdtempSync(join(tmpdir(), 'svc-bench-peer-'));
      homes.push(home);
      peers.push(await startPeer(peer, program, home, `http://127.0.0.1:${upstream.port}`, started));
    }
    const figures: Figure[] = [
      figure('gateway: memory before the first call', readCost(gateway).rss / 1024 ** 2, 'MB'),
    ];
    const measure = async (target: Target, wish: Omit<GatewayLoad, 'url' | 'protocol' | 'headers'>) => {
      const { port, protocol, headers } = target;
      const url = `http://127.0.0.1:${port}`;
      load.process.send({ ...wish, url, protocol, headers } satisfies GatewayLoad);
      const [result] = (await once(load.process, 'message')) as [GatewayLoadResult];
      if (result.failed > 0 && !peers.includes(target))
        throw new Error(`${result.failed} requests to ${target.name} failed`);
      return result;
    };
    const targets = [upstream, floor, gateway, translating, ...peers];
    /** Cases that a peer does not support. */
    const broken = new Set<string>();
    const nameBroken = ({ name }: Target, isStream: boolean): string => `${name} ${isStream}`;
    for (const target of targets)
      for (const bodyBytes of [1024, 100 * 1024])
        for (const isStream of [false, true]) {
          const requests = bodyBytes > 1024 ? 60 : 800;
          const says = 'question';
          const { failed } = await measure(target, { connections: 8, bodyBytes, isStream, says, requests });
          if (failed === 0) continue;
          broken.add(nameBroken(target, isStream));
          const what = isStream ? 'streams' : 'JSON';
          console.error(`gateway: ${what} not compared with ${target.name}: ${failed} of ${requests} failed`);
        }
    for (const wish of [...CASES, ...OUTPUT_CASES]) {
      const { connections, bodyBytes, isStream, says } = wish;
      const measured = says === 'question' ? targets : [upstream, floor, gateway];
      const results = new Map<Target, (GatewayLoadResult & { cpuUs: number })[]>();
      for (let round = 0; round < ROUNDS; round += 1)
        for (const target of measured) {
          if (broken.has(nameBroken(target, isStream))) continue;
          const most = connections === 1 ? 300 : bodyBytes > 1024 ? 300 : 1500;
          const requests = peers.includes(target) ? most / 3 : most;
          // A process that was idle during other turns has freed memory and compiled code.
          await measure(target, { ...wish, requests: Math.ceil(requests / 5) });
          const before = readCost(target).cpuUs;
          const result = await measure(target, { ...wish, requests });
          const cpuUs = (readCost(target).cpuUs - before) / requests;
          results.set(target, [...(results.get(target) ?? []), { ...result, cpuUs }]);
        }
      const of = (target: Target, pick: (result: GatewayLoadResult & { cpuUs: number }) => number): number =>
        median((results.get(target) ?? []).map(pick));
      const what = says === 'question' ? (isStream ? 'stream' : 'JSON') : `${says} of a tool`;
      const title = `${connections} conn, ${bodyBytes / 1024} KB, ${what}`;
      const pairs: [Target, Target][] = [
        [gateway, floor],
        ...(measured.includes(translating) ? [[translating, floor] as [Target, Target]] : []),
        ...peers
          .filter((peer) => measured.includes(peer) && !broken.has(nameBroken(peer, isStream)))
          .map((peer): [Target, Target] => [peer.protocol === 'chat' ? gateway : translating, peer]),
      ];
      for (const [own, other] of pairs) {
        const name = `gateway: ${own === translating ? 'translated, ' : ''}${title}`;
        const compare = (
          what: string,
          unit: string,
          pick: (result: GatewayLoadResult & { cpuUs: number }) => number,
          less = 0,
        ): Figure =>
          figure(
            `${name}, ${what} (reference: ${other.name})`,
            of(own, pick) - less,
            unit,
            of(other, pick) - less,
          );
        if (connections === 1) {
          figures.push(
            compare(
              'added p50',
              'ms',
              ({ p50 }) => p50,
              of(upstream, ({ p50 }) => p50),
            ),
            compare(
              'added p99',
              'ms',
              ({ p99 }) => p99,
              of(upstream, ({ p99 }) => p99),
            ),
          );
          if (isStream)
            figures.push(
              compare(
                'added first byte p50',
                'ms',
                ({ firstP50 }) => firstP50,
                of(upstream, ({ firstP50 }) => firstP50),
              ),
            );
        } else figures.push(compare('throughput', 'requests/s', ({ perSecond }) => perSecond));
        figures.push(compare('processor time', 'µs/request', ({ cpuUs }) => cpuUs));
      }
    }
    figures.push(figure('gateway: memory after the last call', readCost(gateway).rss / 1024 ** 2, 'MB'));
    await delay(IDLE_MS);
    figures.push(figure('gateway: memory when idle', readCost(gateway).rss / 1024 ** 2, 'MB'));
    return figures;
  } finally {
    for (const child of started) child.kill('SIGKILL');
    for (const home of homes) rmSync(home, { recursive: true, force: true });
  }
}

async function startPeer(
  peer: GatewayPeer,
  program: string,
  home: string,
  upstream: string,
  started: ChildProcess[],
): Promise<Target> {
  const free = createServer().listen(0, '127.0.0.1');
  await once(free, 'listening');
  const { port } = free.address() as AddressInfo;
  free.close();
  await once(free, 'close');
  peer.prepare(home, port, upstream);
  const child = spawn(process.execPath, [program, ...peer.args(port)], {
    env: { PATH: process.env.PATH, HOME: home },
    cwd: home,
    stdio: 'ignore',
  });
  started.push(child);
  await until(
    () =>
      fetch(`http://127.0.0.1:${port}/`)
        .then(() => true)
        .catch(() => false),
    `${peer.name} to listen`,
  );
  return { name: peer.name, process: child, port, protocol: peer.protocol, headers: peer.headers(upstream) };
}

/** Returns the CPU time of all threads in µs and the resident memory in bytes, as Linux counts them. */
function readCost({ process: child }: Target): { cpuUs: number; rss: number } {
  const folder = `/proc/${child.pid}`;
  const spent = readdirSync(`${folder}/task`).map(
    (task) => Number(readFileSync(`${folder}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1000,
  );
  const pages = Number(readFileSync(`${folder}/statm`, 'utf8').split(' ')[1]);
  return { cpuUs: spent.reduce((sum, each) => sum + each, 0), rss: pages * 4096 };
}
