import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Figure, figure, median } from './figure.ts';
import type { GatewayLoad, GatewayLoadResult } from './gateway-child.ts';

const ROUNDS = 3;

const CASES = [1, 32].flatMap((connections) =>
  [1024, 100 * 1024].flatMap((bodyBytes) =>
    [false, true].map((isStream) => ({ connections, bodyBytes, isStream })),
  ),
);

interface Target {
  process: ChildProcess;
  port: number;
  key: string;
}

/**
 * What the gateway adds to a call, beside the upstream itself and the least that a proxy on node:http does, in turns: added
 * p50, p99 and first byte, throughput as a share of the floor's, processor time a request and memory.
 */
export async function gatewayBench(): Promise<Figure[]> {
  const started: ChildProcess[] = [];
  const start = async (name: string, ...args: string[]): Promise<Target> => {
    const child = fork(fileURLToPath(new URL('./gateway-child.js', import.meta.url)), [name, ...args]);
    started.push(child);
    const said = name === 'load' ? {} : ((await once(child, 'message'))[0] as object);
    return { port: 0, key: 'none', ...said, process: child };
  };
  try {
    const upstream = await start('upstream');
    const floor = await start('floor', String(upstream.port));
    const gateway = await start('gateway', String(upstream.port));
    const load = await start('load');
    const idleMb = (await readCost(gateway)).rss / 1024 ** 2;
    const measure = async (
      target: Target,
      wish: Omit<GatewayLoad, 'url' | 'key'>,
    ): Promise<GatewayLoadResult> => {
      load.process.send({
        ...wish,
        url: `http://127.0.0.1:${target.port}`,
        key: target.key,
      } satisfies GatewayLoad);
      const [result] = (await once(load.process, 'message')) as [GatewayLoadResult];
      if (result.failed > 0) throw new Error(`${result.failed} requests of the bench failed`);
      return result;
    };
    const figures: Figure[] = [figure('gateway: memory before the first call', idleMb, 'MB')];
    const targets = [upstream, floor, gateway];
    for (const target of targets)
      for (const isStream of [false, true])
        await measure(target, { connections: 32, bodyBytes: 1024, isStream, requests: 1000 });
    for (const { connections, bodyBytes, isStream } of CASES) {
      const requests = connections === 1 ? 200 : bodyBytes > 10_000 ? 300 : 1500;
      const rounds = targets.map((): GatewayLoadResult[] => []);
      const costs: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1)
        for (const [at, target] of targets.entries()) {
          const before = target === gateway ? (await readCost(gateway)).cpuUs : 0;
          rounds[at]?.push(await measure(target, { connections, bodyBytes, isStream, requests }));
          if (target === gateway) costs.push(((await readCost(gateway)).cpuUs - before) / requests);
        }
      const of = (at: number, pick: (result: GatewayLoadResult) => number): number =>
        median((rounds[at] ?? []).map(pick));
      const name = `gateway: ${connections} conn, ${bodyBytes / 1024} KB, ${isStream ? 'stream' : 'JSON'}`;
      const added = (what: string, pick: (result: GatewayLoadResult) => number): Figure =>
        figure(`${name}, added ${what}`, of(2, pick) - of(0, pick), 'ms', of(1, pick) - of(0, pick));
      if (connections === 1)
        figures.push(
          added('p50', (result) => result.p50),
          added('p99', (result) => result.p99),
        );
      if (connections === 1 && isStream) figures.push(added('first byte p50', (result) => result.firstP50));
      if (connections > 1)
        figures.push(
          figure(
            `${name}, throughput`,
            of(2, ({ perSecond }) => perSecond),
            'requests/s',
            of(1, ({ perSecond }) => perSecond),
          ),
        );
      figures.push(figure(`${name}, processor time`, median(costs), 'µs/request'));
    }
    return figures;
  } finally {
    for (const child of started) if (child.connected) child.disconnect();
  }
}

async function readCost({ process: child }: Target): Promise<{ cpuUs: number; rss: number }> {
  child.send({});
  return (await once(child, 'message'))[0] as { cpuUs: number; rss: number };
}
