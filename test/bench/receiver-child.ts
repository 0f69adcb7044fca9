/** The programs of the receiver's bench, each in a separate process: `receiver`, `reference` and `load`. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import autocannon from 'autocannon';
import Database from 'better-sqlite3';
import { systemClock } from '../../engine/core/base/clock.ts';
import { isLoopback } from '../../engine/core/base/values/address.ts';
import { createReceiver } from '../../engine/receiver/index.ts';
import { CONFIG, lookup, SECRET, svcHeaders } from '../engine/receiver/rig.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { openSpine } from '../support/workspaces/spine.ts';

/** Options and results of the load generator. */
export interface Load {
  port: number;
  connections: number;
  requests: number;
}

export interface LoadResult {
  seconds: number;
  requests: number;
  /** Latencies, ms. */
  p50: number;
  p99: number;
  /** Answers other than 201. */
  failed: number;
}

const say = (message: unknown): void => void process.send?.(message);

/** The whole receiver on a separate database; every answer follows its commit. */
async function receiver(): Promise<void> {
  const folder = temporaryFolder('svc-bench-');
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const spine = openSpine(join(folder, 'svc.db'), systemClock);
  const { listen } = createReceiver({
    ...spine,
    clock: systemClock,
    config: () => ({ webhook: CONFIG, policy: { actors: [] } }),
    agents: lookup(),
    isLoopback,
    workspace: { id: 'a1', name: () => 'bench' },
    lookAtPullRequests: () => false,
  });
  const { address } = await listen({
    host: '127.0.0.1',
    port: 0,
    secrets: [SECRET],
    onAccess: () => undefined,
  });
  say({ port: address.port });
}

/**
 * A bare server that checks the same HMAC, commits one row for each request, those that arrive together in one
 * transaction, and sends answers of the same size.
 */
function reference(): void {
  const folder = temporaryFolder('svc-bench-');
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const db = new Database(join(folder, 'reference.db'));
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE request (id INTEGER PRIMARY KEY, body TEXT NOT NULL)');
  const insert = db.prepare('INSERT INTO request (body) VALUES (?)');
  const answer = JSON.stringify({
    task_id: 't-100000',
    status: 'assigned',
    dispatched: false,
    session_id: null,
    decision_id: 'd-100000',
  });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) };
  let group: { body: Buffer; response: ServerResponse }[] = [];
  const commitAll = db.transaction((requests: typeof group) => {
    for (const { body } of requests) insert.run(body.toString());
  });
  function commitGroup(): void {
    const committed = group;
    group = [];
    commitAll.immediate(committed);
    for (const { response } of committed) response.writeHead(201, headers).end(answer);
  }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const mac = createHmac('sha256', SECRET)
        .update(`${request.headers['x-svc-timestamp']}.`)
        .update(body)
        .digest();
      const given = Buffer.from(String(request.headers['x-svc-signature']), 'hex');
      if (given.length !== mac.length || !timingSafeEqual(given, mac)) {
        response.writeHead(401).end();
        return;
      }
      if (group.push({ body, response }) === 1) setImmediate(commitGroup);
    });
  });
  server.listen(0, '127.0.0.1', () => say({ port: (server.address() as AddressInfo).port }));
}

/** Autocannon with distinct requests that are signed before the clock starts. */
async function load({ port, connections, requests }: Load): Promise<LoadResult> {
  const mark = `${process.pid}-${process.hrtime.bigint()}`;
  const signed = Array.from({ length: requests }, (_, index) => {
    const body = JSON.stringify({
      agent: 'scripted',
      prompt: `Look into order ${index} and write down what you find.`,
      dispatch: true,
      nonce: `${mark}-${index}`,
    });
    return { body, headers: { 'content-type': 'application/json', ...svcHeaders(body, Date.now()) } };
  });
  const latencies: number[] = [];
  let next = 0;
  let failed = 0;
  let ended = 0;
  const started = performance.now();
  const { errors } = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(
      {
        url: `http://127.0.0.1:${port}/task`,
        connections,
        amount: requests,
        requests: [{ method: 'POST', setupRequest: (request) => Object.assign(request, signed[next++]) }],
      },
      (error, result) => (error ? reject(error) : resolve(result)),
    );
    // Autocannon's own result is rounded to whole seconds and milliseconds.
    run.on('response', (_client, status, _bytes, ms) => {
      latencies.push(ms);
      if (status !== 201) failed += 1;
      ended = performance.now();
    });
  });
  latencies.sort((a, b) => a - b);
  const at = (part: number) =>
    latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * part))] ?? 0;
  return {
    seconds: (ended - started) / 1000,
    requests: latencies.length,
    p50: at(0.5),
    p99: at(0.99),
    failed: failed + errors,
  };
}

const program = process.argv[2];
if (program === 'receiver') await receiver();
else if (program === 'reference') reference();
else if (program === 'load') process.on('message', (message) => void load(message as Load).then(say));
// The parent is gone, or is done.
if (process.send) process.on('disconnect', () => process.exit(0));
