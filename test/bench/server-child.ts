/**
 * The programs of the linked server's bench, each in a separate process: `server`, `reference`, `load` and `polls`.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { Agent, request as send } from 'node:http';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import autocannon from 'autocannon';
import { Hono } from 'hono';
import { openOutputLog } from '../../engine/core/base/log.ts';
import { LONGEST_POLL_S } from '../../engine/core/link-protocol/messages.ts';
import { hashToken } from '../../engine/linked-server/secrets.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { authorizeLink, buildServerEvent, fillServer, openFilledServer } from './server-rows.ts';

/** Message of the bench's server once it listens. */
export interface ServerReady {
  port: number;
  tokens: string[];
}

export interface EventsLoad {
  port: number;
  tokens: readonly string[];
  connections: number;
  requests: number;
}

export interface EventsResult {
  seconds: number;
  requests: number;
  /** Answers other than 200. */
  failed: number;
}

/** Long polls that stay open, one for each token. */
export interface PollsLoad {
  port: number;
  tokens: readonly string[];
}

const say = (message: unknown): void => void process.send?.(message);

/** A whole server on a separate database; every answer follows its commit. */
async function server(): Promise<void> {
  const folder = temporaryFolder('svc-bench-');
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, 'data');
  mkdirSync(data);
  // Logs as a real server does.
  const log = openOutputLog('/dev/null');
  const running = await openFilledServer(data, process.env, log);
  const { tokens } = await fillServer(running, { workspaces: 400 });
  say({ port: running.port, tokens } satisfies ServerReady);
}

/** A bare hono server that checks the token, reads the same amount, and saves nothing. */
function reference(): void {
  process.once('message', (tokens: string[]) => {
    const known = new Set(tokens.map(hashToken));
    const app = new Hono();
    app.post('/v1/events', async (context) => {
      const token = context.req.header('authorization')?.slice('Bearer '.length) ?? '';
      if (!known.has(hashToken(token))) return context.json({ code: 'token_invalid' }, 401);
      const { events } = await context.req.json<{ events: unknown[] }>();
      return context.json({ kept: events.length, server_time: new Date().toISOString() });
    });
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => say({ port }));
  });
}

/** Autocannon with a new event in every request. */
async function load({ port, tokens, connections, requests }: EventsLoad): Promise<EventsResult> {
  const mark = process.hrtime.bigint();
  let next = 0;
  let answered = 0;
  let failed = 0;
  let ended = 0;
  const setUp = (request: autocannon.Request): autocannon.Request => {
    next += 1;
    return {
      ...request,
      headers: {
        'content-type': 'application/json',
        ...authorizeLink(tokens[next % tokens.length] ?? ''),
      },
      body: JSON.stringify({
        workspace: `workspace ${next % tokens.length}`,
        events: [buildServerEvent(`${mark}-${next}`)],
      }),
    };
  };
  const started = performance.now();
  const { errors } = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(
      {
        url: `http://127.0.0.1:${port}/v1/events`,
        connections,
        amount: requests,
        requests: [{ method: 'POST', setupRequest: setUp }],
      },
      (error, result) => (error ? reject(error) : resolve(result)),
    );
    run.on('response', (_client, status) => {
      answered += 1;
      if (status !== 200) failed += 1;
      ended = performance.now();
    });
  });
  return { seconds: (ended - started) / 1000, requests: answered, failed: failed + errors };
}

/** Keeps a long poll open for each token; reports when all of them are open. */
function polls({ port, tokens }: PollsLoad): void {
  const agent = new Agent({ keepAlive: true, maxSockets: tokens.length });
  let begun = 0;
  const poll = (token: string, wait: number): void => {
    const path = `/v1/commands?after=0&wait=${wait}&instance=bench`;
    const asked = send({ host: '127.0.0.1', port, path, agent, headers: authorizeLink(token) }, (answer) => {
      answer.resume();
      answer.on('end', () => poll(token, LONGEST_POLL_S));
    });
    asked.on('error', (error) => {
      throw error;
    });
    asked.end(() => {
      begun += 1;
      if (begun === tokens.length) say('open');
    });
  };
  // Like engines that were started at different times.
  for (const [index, token] of tokens.entries())
    poll(token, 1 + Math.floor((index * (LONGEST_POLL_S - 1)) / tokens.length));
}

const program = process.argv[2];
if (program === 'server') await server();
else if (program === 'reference') reference();
else if (program === 'load') process.on('message', (message) => void load(message as EventsLoad).then(say));
else if (program === 'polls') process.on('message', (message) => polls(message as PollsLoad));
// The parent is gone, or is done.
if (process.send) process.on('disconnect', () => process.exit(0));
