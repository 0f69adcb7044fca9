import { Agent, createServer, type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { systemClock } from '../../engine/core/base/clock.ts';
import { locateProgram } from '../../engine/core/base/own-package.ts';
import { createKeys } from '../../engine/gateway/keys/index.ts';
import { openGateway } from '../../engine/gateway/server/gateway.ts';
import { openStorage } from '../../engine/storage/index.ts';
import { LIVE_ZONE } from '../support/gateway/gateway.ts';

// The programs that a call passes: the upstream, the minimal proxy that the gateway is compared with, and the gateway.

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

/** A server of the bench; it listens on loopback. */
export interface BenchServer {
  port: number;
  close(): void;
}

const listen = (server: ReturnType<typeof createServer>): Promise<BenchServer> =>
  new Promise((done) =>
    server.listen(0, '127.0.0.1', () =>
      done({
        port: (server.address() as AddressInfo).port,
        close() {
          server.close();
          server.closeAllConnections();
        },
      }),
    ),
  );

export function startUpstream(): Promise<BenchServer> {
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
  return listen(server);
}

/** Starts the minimal proxy; its key is `floor`. */
export function startFloor(target: number): Promise<BenchServer> {
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
  return listen(server);
}

/** Opens a gateway with its data in a folder; returns it with a run's key. */
export async function startBenchGateway(upstream: number, data: string) {
  const db = join(data, 'svc.db');
  const storage = openStorage({ path: db });
  // A run's key: with a person's key, the gateway does not shorten texts that the request cannot read back.
  const key = await storage.write(() =>
    createKeys({ storage, clock: systemClock }).issueKey({
      sessionId: 's-1',
      taskId: 't-1',
      budgetTokens: null,
      claimedTokens: 0,
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
          baseUrl: `http://127.0.0.1:${upstream}/v1`,
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
      liveZone: LIVE_ZONE,
    },
    shortener: locateProgram('shorten-output'),
    host: '127.0.0.1',
    port: 0,
    data,
    dataId: 'bench',
    db,
    version: '0',
    isAlone: true,
    log: { info: nothing, warn: nothing, error: nothing },
  });
  return { gateway, key };
}

/** The bulk of a body: a question, or a tool's output, which the live zone shortens; the same each time, or new. */
export type Bulk = 'question' | 'output' | 'new output';

/** A line of program output, escaped as in JSON. */
const LOG_LINE = '2026-11-23T11:00:00Z INFO served GET /v1/things/42 in 13 ms\\n';
let nextOutput = 1;

/** Returns a maker of request bodies of this size. */
export function createBodies({
  bodyBytes,
  isStream,
  protocol,
  says,
}: {
  bodyBytes: number;
  isStream: boolean;
  protocol: 'chat' | 'messages';
  says: Bulk;
}): () => string {
  const options = protocol === 'chat' ? '"stream_options":{"include_usage":true},' : '"max_tokens":100,';
  const head = `{"model":"m",${isStream ? '"stream":true,' : ''}${options}"messages":[`;
  const question = `${head}{"role":"user","content":"${'x '.repeat(bodyBytes / 2)}"}]}`;
  const lines = LOG_LINE.repeat(bodyBytes / LOG_LINE.length);
  const buildOutput = (name: number): string =>
    `${head}{"role":"user","content":"Go on."},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"run_shell","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"run ${name}\\n${lines}"}]}`;
  const known = buildOutput(0);
  return () => (says === 'question' ? question : says === 'output' ? known : buildOutput(nextOutput++));
}
