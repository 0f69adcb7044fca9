import { Pool } from 'undici';
import { type Bulk, createBodies, startBenchGateway, startFloor, startUpstream } from './gateway-parts.ts';

// The processes of the gateway's bench: `upstream`, `floor` (a minimal proxy), `gateway` and `load`.

/** Options of `load`. */
export interface GatewayLoad {
  url: string;
  connections: number;
  requests: number;
  isStream: boolean;
  bodyBytes: number;
  says: Bulk;
  /** The protocol of the target. */
  protocol: 'chat' | 'messages';
  headers: Record<string, string>;
}

export interface GatewayLoadResult {
  /** Milliseconds to the end of the answer, and to its first byte. */
  p50: number;
  p99: number;
  firstP50: number;
  perSecond: number;
  failed: number;
}

const PROGRAMS: Record<string, () => Promise<void>> = {
  async upstream() {
    const { port } = await startUpstream();
    process.send?.({ port });
  },

  async floor() {
    const { port } = await startFloor(Number(process.argv[3]));
    process.send?.({ port, key: 'floor' });
  },

  async gateway() {
    // The bench removes its folder, because this process is killed.
    const { gateway, key } = await startBenchGateway(Number(process.argv[3]), process.argv[4] ?? '');
    process.send?.({ port: gateway.port, key });
  },

  async load() {
    process.on('message', async (wish: GatewayLoad) => process.send?.(await run(wish)));
  },
};

async function run({
  url,
  connections,
  requests,
  isStream,
  bodyBytes,
  says,
  protocol,
  headers: own,
}: GatewayLoad): Promise<GatewayLoadResult> {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const nextBody = createBodies({ bodyBytes, isStream, protocol, says });
  const path = protocol === 'chat' ? '/v1/chat/completions' : '/v1/messages';
  const headers = { 'content-type': 'application/json', ...own };
  const whole: number[] = [];
  const first: number[] = [];
  let failed = 0;
  let left = requests;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (left > 0) {
        left -= 1;
        const begun = performance.now();
        const answer = await pool.request({ method: 'POST', path, headers, body: nextBody() });
        let firstAt = 0;
        for await (const chunk of answer.body) {
          if (firstAt === 0 && (chunk as Buffer).length > 0) firstAt = performance.now();
        }
        if (answer.statusCode !== 200) failed += 1;
        whole.push(performance.now() - begun);
        first.push(firstAt - begun);
      }
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  await pool.close();
  const at = (list: number[], share: number): number =>
    list.sort((one, other) => one - other)[Math.min(list.length - 1, Math.floor(share * list.length))] ?? 0;
  return {
    p50: at(whole, 0.5),
    p99: at(whole, 0.99),
    firstP50: at(first, 0.5),
    perSecond: requests / seconds,
    failed,
  };
}

process.on('disconnect', () => process.exit(0));
await PROGRAMS[process.argv[2] ?? '']?.();
