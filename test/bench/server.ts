import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { HOST_OPTIONS } from '../../cli/host-options.ts';
import { fillLists } from '../support/server/long-lists.ts';
import { findPostgres, startPostgres } from '../support/server/postgres.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { SVC } from '../support/workspaces/workspace.ts';
import { type Figure, figure, median, percentile } from './figure.ts';
import { linkedEngine } from './linked-engine.ts';
import { reply } from './reply.ts';
import type { EventsLoad, EventsResult, PollsLoad, ServerReady } from './server-child.ts';
import { fillServer, openFilledServer } from './server-rows.ts';

const CONNECTIONS = 32;
const ROUNDS = 5;
const REQUESTS = 5000;
const LIST_ROWS = 10_000;
const IDLE_LINKS = 1000;
/** Longer than a long poll, so that each link has polled again. */
const IDLE_MS = 30_000;
const STARTS = 7;

/** Compares the linked server with bare ones: durability, latency of a press, memory, and its longest pages. */
export async function serverBench(): Promise<Figure[]> {
  return [
    ...(await durableEvents('SQLite', {})),
    ...(await durableEventsOnPostgres()),
    ...(await commandsAndPages()),
    ...(await starts()),
    ...(await idleLinks()),
    ...(await linkedEngine()),
  ];
}

/** The two alternate so that slow spells of the machine affect both; each figure is the median of the rounds. */
async function durableEvents(database: string, env: NodeJS.ProcessEnv): Promise<Figure[]> {
  const [server, reference, generator] = [child('server', env), child('reference'), child('load')];
  try {
    const ours = await reply<ServerReady>(server);
    reference.send(ours.tokens);
    const bare = await reply<{ port: number }>(reference);
    const measure = (port: number, requests = REQUESTS): Promise<EventsResult> => {
      const { tokens } = ours;
      generator.send({ port, tokens, connections: CONNECTIONS, requests } satisfies EventsLoad);
      return reply<EventsResult>(generator);
    };
    const rounds: { ours: EventsResult; bare: EventsResult }[] = [];
    // The first round compiles the code and warms the caches.
    for (let round = 0; round <= ROUNDS; round += 1)
      rounds.push({ bare: await measure(bare.port), ours: await measure(ours.port) });
    const measured = rounds.slice(1);
    const failed = rounds.reduce((sum, each) => sum + each.ours.failed + each.bare.failed, 0);
    if (failed > 0) throw new Error(`${failed} requests of the bench were not answered with 200`);
    const speed = ({ requests, seconds }: EventsResult): number => requests / seconds;
    return [
      figure(
        `server: durable POST /v1/events, ${CONNECTIONS} connections, ${database} (reference: bare hono)`,
        median(measured.map((each) => speed(each.ours))),
        'requests/s',
        median(measured.map((each) => speed(each.bare))),
      ),
    ];
  } finally {
    for (const each of [server, reference, generator]) await end(each);
  }
}

async function durableEventsOnPostgres(): Promise<Figure[]> {
  const bin = findPostgres();
  if (bin === null) {
    console.error('server: not measured on PostgreSQL, which is not installed');
    return [];
  }
  const postgres = await startPostgres(bin, { isDurable: true });
  try {
    return await durableEvents('PostgreSQL', { DATABASE_URL: await postgres.createDatabase('bench') });
  } finally {
    await postgres.stop();
  }
}

/** Measures the time from a button press to the answer of the workspace's poll, and pages with much data. */
async function commandsAndPages(): Promise<Figure[]> {
  const folder = temporaryFolder('svc-bench-');
  const running = await openFilledServer(folder, {}, pino({ level: 'silent' }));
  try {
    const filled = await fillServer(running, { workspaces: 1000, deliveries: 10_000, decisions: 500 });
    const { url } = running;
    const { cookie, workspace, tokens } = filled;
    const time = async (path: string): Promise<{ ms: number; bytes: number }> => {
      const begin = performance.now();
      const answer = await fetch(`${url}${path}`, { headers: { cookie } });
      const { length } = Buffer.from(await answer.arrayBuffer());
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`);
      return { ms: performance.now() - begin, bytes: length };
    };
    const headers = { authorization: `Bearer ${tokens[0]}`, 'svc-protocol': '1' };
    const presses: number[] = [];
    let after = 0;
    for (let round = 1; round <= 120; round += 1) {
      const polled = fetch(`${url}/v1/commands?after=${after}&wait=25&instance=bench`, { headers });
      while (!running.parts.polls.isConnected(workspace)) await delay(1);
      await delay(5);
      const begin = performance.now();
      const pressed = fetch(`${url}/app/decisions/${workspace}/d-${round}/deny`, {
        method: 'POST',
        redirect: 'manual',
        headers: { cookie, origin: url, 'content-type': 'application/x-www-form-urlencoded' },
        body: `hash=${(round - 1).toString(16).padStart(64, '0')}`,
      });
      const { commands } = (await (await polled).json()) as { commands: { id: string; seq: number }[] };
      presses.push(performance.now() - begin);
      const [command] = commands;
      if (command === undefined) throw new Error('the poll was answered without the command');
      after = command.seq;
      const outcome = { outcome: 'denied', session_id: null, decided_by: null, state: 'denied', code: null };
      await fetch(`${url}/v1/commands/${command.id}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(outcome),
      });
      await pressed;
      // A token has 50 requests a second.
      await delay(30);
    }
    const trips: number[] = [];
    for (let round = 0; round < 100; round += 1) trips.push((await time('/healthz')).ms);
    const pages: Figure[] = [];
    const measurePage = async (path: string, what: string): Promise<void> => {
      const read: { ms: number; bytes: number }[] = [];
      for (let round = 0; round < 60; round += 1) read.push(await time(path));
      const times = read.slice(10).map(({ ms }) => ms);
      const name = `server: ${path} with ${what}`;
      pages.push(
        figure(`${name}, p95 (reference: /healthz)`, percentile(times, 0.95), 'ms', percentile(trips, 0.95)),
        figure(`${name}, size`, (read[0]?.bytes ?? Number.NaN) / 1024, 'KB'),
      );
    };
    await measurePage('/app/settings', '10,000 deliveries');
    await measurePage('/app/deliveries', '10,000 deliveries');
    await measurePage('/app', '500 decisions');
    await measurePage('/app/workspaces', '1,000 workspaces');
    const lists = await fillLists(running, filled.account, LIST_ROWS);
    for (const { path } of lists) await measurePage(path, `${LIST_ROWS.toLocaleString('en')} rows`);
    return [
      figure(
        'server: press of a button to command at the workspace, p95 (reference: /healthz)',
        percentile(presses.slice(20), 0.95),
        'ms',
        percentile(trips, 0.95),
      ),
      ...pages,
    ];
  } finally {
    await running.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs the real program on a folder. */
async function startProgram(folder: string): Promise<{ child: ChildProcess; ms: number; port: number }> {
  const begin = performance.now();
  const args = [SVC, 'server', 'serve', '--data', folder, '--addr', '127.0.0.1:0'];
  const env = { PATH: process.env.PATH, HOME: folder };
  const program = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  for await (const line of createInterface({ input: program.stderr! })) {
    const { msg, port } = JSON.parse(line) as { msg: string; port: number };
    if (msg !== 'server open') continue;
    // The server's log is not read from here on.
    program.stderr?.resume();
    return { child: program, ms: performance.now() - begin, port };
  }
  throw new Error('the server did not start');
}

async function starts(): Promise<Figure[]> {
  const folder = temporaryFolder('svc-bench-');
  const bare = `require('node:http').createServer((q,s)=>s.end()).listen(0,()=>process.stderr.write('ready'))`;
  try {
    const ours: number[] = [];
    const theirs: number[] = [];
    let memory = 0;
    let bareMemory = 0;
    for (let round = 0; round < STARTS; round += 1) {
      const started = await startProgram(folder);
      const begin = performance.now();
      const other = spawn(process.execPath, ['-e', bare], { stdio: ['ignore', 'ignore', 'pipe'] });
      await once(other.stderr, 'data');
      theirs.push(performance.now() - begin);
      ours.push(started.ms);
      if (round === 1) {
        await delay(2000);
        memory = residentMb(started.child);
        bareMemory = residentMb(other);
      }
      for (const each of [started.child, other]) await stop(each);
    }
    return [
      figure(
        'server: start to listening, p50 (reference: bare node:http)',
        median(ours),
        'ms',
        median(theirs),
      ),
      figure('server: idle memory, resident (reference: bare node:http)', memory, 'MB', bareMemory),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Measures the memory and CPU of a server while a thousand workspaces wait for an event. */
async function idleLinks(): Promise<Figure[]> {
  const folder = temporaryFolder('svc-bench-');
  const client = child('polls');
  try {
    const filling = await openFilledServer(folder, {}, pino({ level: 'silent' }));
    const { tokens } = await fillServer(filling, { workspaces: IDLE_LINKS });
    await filling.close();
    const { child: program, port } = await startProgram(folder);
    const before = residentMb(program);
    client.send({ port, tokens } satisfies PollsLoad);
    await reply(client);
    // The first polls are short, so that later ones do not all end at the same time.
    await delay(IDLE_MS);
    const begin = cpuMs(program);
    const begunAt = performance.now();
    await delay(IDLE_MS);
    const used = (cpuMs(program) - begin) / (performance.now() - begunAt);
    const memory = residentMb(program);
    await end(client);
    await stop(program);
    return [
      figure('server: memory with 1,000 idle links, resident (reference: without)', memory, 'MB', before),
      figure('server: processor with 1,000 idle links', used * 100, '% of a core'),
    ];
  } finally {
    await end(client);
    rmSync(folder, { recursive: true, force: true });
  }
}

const readProcess = ({ pid }: ChildProcess, file: string): string =>
  readFileSync(join('/proc', String(pid), file), 'utf8');
const residentMb = (of: ChildProcess): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readProcess(of, 'status'))?.[1] ?? Number.NaN) / 1024;
/** Returns the user and system time so far; a tick is 10 ms. */
function cpuMs(of: ChildProcess): number {
  const fields = readProcess(of, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const child = (program: string, env: NodeJS.ProcessEnv = {}): ChildProcess =>
  fork(fileURLToPath(new URL('./server-child.js', import.meta.url)), [program], {
    stdio: 'inherit',
    // The Node options that `svc server serve` restarts with.
    execArgv: program === 'server' ? [...HOST_OPTIONS] : [],
    env: { ...process.env, DATABASE_URL: undefined, ...env },
  });

async function end(one: ChildProcess): Promise<void> {
  if (one.exitCode !== null || one.signalCode !== null) return;
  const ended = once(one, 'exit');
  if (one.connected) one.disconnect();
  await ended;
}

async function stop(one: ChildProcess): Promise<void> {
  const ended = once(one, 'exit');
  one.kill('SIGTERM');
  await ended;
}
