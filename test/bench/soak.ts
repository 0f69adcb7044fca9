import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { getDaemonCommand } from '../../cli/self.ts';
import { connectToEngine, type EngineClient, samples } from '../../engine/index.ts';
import { until } from '../support/wait.ts';
import { makeWorkspace, SECRET, type TestWorkspace } from '../support/workspaces/workspace.ts';
import { type Figure, figure, median } from './figure.ts';

/** Duration of the load; SVC_BENCH_MINUTES shortens it. */
const MINUTES = Number(process.env.SVC_BENCH_MINUTES ?? 20);
const CLIENTS = 16;
/** Interval between two samples of the engine. */
const LOOK_MS = 5000;
/** Time that an engine gets to free what the load has allocated. */
const REST_MS = 60_000;
/** Pause between the worker runs that accompany the calls. */
const RUN_PAUSE_MS = 5000;

interface Look {
  /** Hours since the start of the load. */
  at: number;
  rssMb: number;
  fds: number;
  databaseMb: number;
  files: number;
}

const MB = 1024 ** 2;

function filesBelow(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true }).filter((each) => each.isFile()).length;
}

function lookAt(ws: TestWorkspace, pid: number, begin: number): Look {
  const [, kib = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  const data = join(ws.root, '.svc');
  const sizes = ['svc.db', 'svc.db-wal'].map(
    (name) => statSync(join(data, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return {
    at: (performance.now() - begin) / 3_600_000,
    rssMb: Number(kib) / 1024,
    fds: readdirSync(`/proc/${pid}/fd`).length,
    databaseMb: sizes.reduce((sum, size) => sum + size, 0) / MB,
    files: filesBelow(data),
  };
}

/** Returns the growth of a value per hour, by least squares. */
function slope(looks: readonly Look[], of: keyof Look): number {
  const mean = (key: keyof Look): number => looks.reduce((sum, look) => sum + look[key], 0) / looks.length;
  const [middle, level] = [mean('at'), mean(of)];
  const over = looks.reduce((sum, look) => sum + (look.at - middle) ** 2, 0);
  return over === 0
    ? Number.NaN
    : looks.reduce((sum, look) => sum + (look.at - middle) * (look[of] - level), 0) / over;
}

/** The receiver may close an idle connection just as a request uses it: that request is repeated. */
async function postTask(receiver: string, isRetry = false): Promise<void> {
  const { buildSignedSample } = await samples();
  const wish = { route: 'task', secret: SECRET, now: Date.now(), agent: 'scripted', prompt: 'x' } as const;
  const { path, method, headers, body } = buildSignedSample(wish);
  try {
    const sent = await fetch(`http://${receiver}${path}`, { method, headers, body });
    await sent.arrayBuffer();
    if (sent.status !== 201) throw new Error(`the receiver answered ${sent.status}`);
  } catch (error) {
    if (isRetry || !(error instanceof TypeError)) throw error;
    await postTask(receiver, true);
  }
}

/** Repeats one client's calls, a mix of what agents, a dashboard and an automation send. */
async function loadEngine(ws: TestWorkspace, at: number, isOver: () => boolean): Promise<number> {
  let calls = 0;
  while (!isOver()) {
    // Connections come and go as with commands and bridges.
    const client = await connectToEngine({ cwd: ws.root, env: ws.env, attends: at % 4 === 0 });
    const receiver = await ws.receiver();
    try {
      await client.subscribe('events.subscribe', {}, () => undefined);
      for (let round = 0; round < 50 && !isOver(); round += 1) {
        const { task_id: id } = await client.call('task.add', {
          title: `of client ${at}`,
          body: 'x'.repeat(2000),
        });
        await client.call('task.list', { limit: 50 });
        await client.call('engine.status');
        await client.call('msg.send', { to_session: 'chair', body: `about ${id}` });
        await client.call('task.cancel', { id });
        await postTask(receiver);
        calls += 6;
      }
    } finally {
      client.close();
    }
  }
  return calls;
}

/** Workers that edit and commit; their worktrees are pruned. */
async function runWorkers(client: EngineClient, isOver: () => boolean): Promise<number> {
  let runs = 0;
  while (!isOver()) {
    const task = { title: 'edits', agent: 'scripted', body: `#agent: edit file-${runs}.txt hello` };
    const { task_id: id } = await client.call('task.add', task);
    await client.run('task.run', { id, wait: true }, { key: `soak-${runs}` });
    runs += 1;
    await delay(RUN_PAUSE_MS);
  }
  return runs;
}

/** Loads an engine for minutes: measures what grows, by how much per hour, and what remains after the load. */
export async function soak(): Promise<Figure[]> {
  // A target takes hundreds of events a second and this load makes a thousand, so it would measure a backlog.
  const ws = await makeWorkspace({ events: ['dispatched', 'sealed', 'failed'] });
  try {
    const person = await connectToEngine({ cwd: ws.root, env: ws.env, daemon: getDaemonCommand() });
    const { pid } = person.welcome;
    await delay(2000);
    const begin = performance.now();
    const before = lookAt(ws, pid, begin);
    const isOver = (): boolean => performance.now() - begin > MINUTES * 60_000;
    const load = Promise.all(Array.from({ length: CLIENTS }, (_, at) => loadEngine(ws, at, isOver)));
    const runs = runWorkers(person, isOver);
    const looks: Look[] = [];
    while (!isOver()) {
      await delay(LOOK_MS);
      looks.push(lookAt(ws, pid, begin));
    }
    const calls = (await load).reduce((sum, each) => sum + each, 0);
    const ran = await runs;
    // Warming up is not growth.
    const warm = looks.slice(Math.floor(looks.length / 3));
    // Events that are still being delivered are load too.
    await until(
      async () => {
        const { deliveries } = await person.call('engine.status');
        return deliveries.pending === 0;
      },
      'the last delivery',
      600_000,
    );
    await delay(REST_MS);
    const rest = lookAt(ws, pid, begin);
    person.close();
    const perHour = (name: string, of: keyof Look, unit: string): Figure =>
      figure(`soak: ${name} per hour of load`, slope(warm, of), unit);
    return [
      figure(`soak: calls in ${MINUTES} minutes over ${CLIENTS} clients`, calls, 'calls'),
      figure('soak: runs beside them', ran, 'runs'),
      figure('soak: memory at the start', before.rssMb, 'MB'),
      figure('soak: memory under load, median', median(looks.map(({ rssMb }) => rssMb)), 'MB'),
      figure('soak: memory under load, most', Math.max(...looks.map(({ rssMb }) => rssMb)), 'MB'),
      figure('soak: memory after a minute of rest (reference: start)', rest.rssMb, 'MB', before.rssMb),
      perHour('memory', 'rssMb', 'MB/h'),
      figure('soak: file descriptors after the rest (reference: start)', rest.fds, 'fds', before.fds),
      perHour('file descriptors', 'fds', 'fds/h'),
      perHour('database', 'databaseMb', 'MB/h'),
      figure('soak: bytes of the database for each call', (rest.databaseMb * MB) / calls, 'bytes'),
      perHour('files', 'files', 'files/h'),
    ];
  } finally {
    await ws.close();
  }
}
