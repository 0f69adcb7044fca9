import { Agent, createServer, type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Pool } from 'undici';
import { systemClock } from '../../engine/core/base/clock.ts';
import { locateProgram } from '../../engine/core/base/own-package.ts';
import { createKeys } from '../../engine/gateway/keys/index.ts';
import { openGateway } from '../../engine/gateway/server/gateway.ts';
import { openStorage } from '../../engine/storage/index.ts';

// The processes of the gateway's bench: `upstream`, `floor` (a minimal proxy), `gateway` and `load`.

/** Options of `load`. */
export interface GatewayLoad {
  url: string;
  connections: number;
  requests: number;
  isStream: boolean;
  bodyBytes: number;
  /**
   * The bulk of the body: a question, or a tool's output, which the live zone shortens; the same each time, or new.
   */
  says: 'question' | 'output' | 'new output';
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

const USAGE = '"usage":{"prompt_tokens":12,"completion_tokens":20,"total_tokens":32}';
const JSON_ANSWER = `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"${'word '.repeat(160)}"},"finish_reason":"stop"}],${USAGE}}`;
const CHUNK = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}\n\n`;
const LAST = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[],${USAGE}}\n\ndata: [DONE]\n\n`;
const CHUNKS = 20;

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

const listen = (server: ReturnType<typeof createServer>): Promise<number> =>
  new Promise((done) => server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port)));

const PROGRAMS: Record<string, () => Promise<void>> = {
  async upstream() {
    const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
      const body = await readAll(request);
      if (!body.includes('"stream":true')) {
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON_ANSWER);
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let at = 0; at < CHUNKS; at += 1) {
        response.write(CHUNK);
        if (at % 5 === 0) await new Promise((next) => setImmediate(next));
      }
      response.end(LAST);
    });
    process.send?.({ port: await listen(server) });
  },

  async floor() {
    const target = Number(process.argv[3]);
    const agent = new Agent({ keepAlive: true, maxSockets: 512 });
    const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
      if (request.headers.authorization !== 'Bearer floor') return void response.writeHead(401).end();
      const body = await readAll(request);
      JSON.parse(body.toString());
      const headers = { ...request.headers, authorization: 'Bearer real', host: `127.0.0.1:${target}` };
      const call = send(
        { host: '127.0.0.1', port: target, path: request.url, method: 'POST', agent, headers },
        (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.on('data', (chunk: Buffer) => chunk.includes('"usage"'));
          answer.pipe(response);
        },
      );
      call.end(body);
    });
    process.send?.({ port: await listen(server), key: 'floor' });
  },

  async gateway() {
    // The bench removes it, because this process is killed.
    const data = process.argv[4] ?? '';
    const db = join(data, 'svc.db');
    const storage = openStorage({ path: db });
    // A run's key: with a person's key, the gateway does not shorten texts that the request cannot read back.
    const key = await storage.write(() =>
      createKeys({ storage, clock: systemClock }).issueKey({
        sessionId: 's-1',
        taskId: 't-1',
        budgetTokens: null,
      }),
    );
    storage.close();
    const nothing = (): void => undefined;
    const gateway = await openGateway({
      settings: {
        mode: 'live',
        providers: [
          {
            name: 'up',
            baseUrl: `http://127.0.0.1:${process.argv[3]}/v1`,
            key: 'real',
            takesClientKey: false,
            model: '',
            limits: { context: null, output: null },
            tier: 'paid',
            priority: 0,
            protocols: ['chat'],
          },
        ],
        budgetTokensDay: 1_000_000_000,
        cacheTtlSec: 0,
        cacheEntries: 0,
        longToolBytes: 4096,
        contentOf: [],
        probeIntervalSec: 0,
        liveZone: {
          onlyLast: true,
          crushes: true,
          stores: true,
          longBytes: 4096,
          protectedTools: [],
          idleMs: 1_800_000,
        },
      },
      shortener: pathToFileURL(locateProgram('shorten-output')).href,
      host: '127.0.0.1',
      port: 0,
      data,
      dataId: 'bench',
      db,
      version: '0',
      isAlone: true,
      log: { info: nothing, warn: nothing, error: nothing },
    });
    process.send?.({ port: gateway.port, key });
  },

  async load() {
    process.on('message', async (wish: GatewayLoad) => process.send?.(await run(wish)));
  },
};

/** Returns a line of program output, escaped as in JSON. */
const LOG_LINE = '2026-11-23T11:00:00Z INFO served GET /v1/things/42 in 13 ms\\n';
let nextOutput = 1;

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
  const options = protocol === 'chat' ? '"stream_options":{"include_usage":true},' : '"max_tokens":100,';
  const head = `{"model":"m",${isStream ? '"stream":true,' : ''}${options}"messages":[`;
  const question = `${head}{"role":"user","content":"${'x '.repeat(bodyBytes / 2)}"}]}`;
  const lines = LOG_LINE.repeat(bodyBytes / LOG_LINE.length);
  const buildOutput = (name: number): string =>
    `${head}{"role":"user","content":"Go on."},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"run_shell","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"run ${name}\\n${lines}"}]}`;
  const known = buildOutput(0);
  const nextBody = (): string =>
    says === 'question' ? question : says === 'output' ? known : buildOutput(nextOutput++);
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
