import { existsSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { EngineClient } from '../../engine/index.ts';
import { until } from '../support/wait.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { makeWorkspace, SVC } from '../support/workspaces/workspace.ts';
import { type Figure, figure, median } from './figure.ts';
import { PEERS, type Peer } from './peers.ts';
import { openPty, type PtyOptions } from './pty.ts';
import { measureOverhead, measureTerminal, type TerminalMeasure, type TerminalProgram } from './terminal.ts';

const COUNTS = [100, 10_000];
const DECISIONS = 10;
const EVENTS = 20;
const KEYS = 50;
/** A program may continue reading after its first frame. */
const SETTLE_MS = 500;
const REST_MS = 50;
const SIZE = { columns: 140, rows: 40 };
/** Keys are also measured on the default screen size of most terminals. */
const SMALL = { columns: 80, rows: 24 };
const TUI = fileURLToPath(new URL('../../tui', import.meta.url));

/** A worker that prints 100 lines a second. */
const PRINTER = `'${process.execPath}' -e 'let n = 0; setInterval(() => console.log("line " + ++n), 10)' -- {{prompt}}`;

interface Measures extends TerminalMeasure {
  /** On the small screen; null for peers. */
  smallKeyToPaintMs: TerminalMeasure['keyToPaintMs'] | null;
  /** Median time from the creation of a task to its title on the terminal. */
  eventToPaintMs: number | null;
  /** The same while a worker prints. */
  busyEventToPaintMs: number | null;
}

/** Compares the dashboard, with few and with many tasks, with similar programs. */
export async function dashboard(): Promise<Figure[]> {
  if (!existsSync(TUI)) {
    console.error('dashboard: not measured, since dist/tui does not exist');
    return [];
  }
  const figures = [...overheadFigures(await measureOverhead())];
  for (const count of COUNTS) {
    const ours = await measureDashboard(count);
    const found: [name: string, measures: Measures][] = [];
    for (const peer of PEERS) {
      const program = peer.find();
      if (program !== null) found.push([peer.name, await measurePeer(peer, program, count)]);
      else if (count === COUNTS[0]) {
        console.error(`dashboard: not compared with ${peer.name}, which is missing (${peer.install})`);
      }
    }
    figures.push(...dashboardFigures(count, ours, found));
  }
  return figures;
}

async function measureDashboard(count: number): Promise<Measures> {
  const ws = await makeWorkspace({ commands: { printer: PRINTER } });
  try {
    const client = await ws.connect();
    const add = (title: string) => client.call('task.add', { title, agent: 'scripted', body: 'x' });
    await Promise.all(Array.from({ length: count }, (_, index) => add(`task number ${index + 1}`)));
    for (let index = 1; index <= DECISIONS; index += 1) await ws.post(`request number ${index}`);
    // The delivery of the new tasks' events must not count as the dashboard's time.
    await until(async () => {
      const { deliveries } = await client.call('engine.status');
      return deliveries.pending === 0;
    }, 'the last delivery');
    // Only the workspace's own variables: with a CI variable, for example, the dashboard would not draw.
    const own = Object.entries(ws.env).filter(([name]) => name.startsWith('SVC_'));
    const program: TerminalProgram = {
      ...SIZE,
      command: [process.execPath, SVC, 'dash'],
      cwd: ws.root,
      env: Object.fromEntries(own),
      ready: /1 Work/,
      keys: ['j', 'k'],
      keyCount: KEYS,
    };
    const measured = await measureTerminal(program);
    const { keyToPaintMs: small } = await measureTerminal({ ...program, ...SMALL });
    const quiet = await eventToPaint(program, 'quiet', add, '/');
    await startPrinting(client);
    const busy = await eventToPaint(program, 'busy', add, '/');
    return { ...measured, smallKeyToPaintMs: small, eventToPaintMs: quiet, busyEventToPaintMs: busy };
  } finally {
    await ws.close();
  }
}

async function startPrinting(client: EngineClient): Promise<void> {
  const { task_id: id } = await client.call('task.add', {
    title: 'prints',
    agent: 'printer',
    body: 'x',
  });
  await client.call('task.run', { id });
  await until(async () => {
    const { task } = await client.call('task.show', { id });
    return task.status === 'running';
  }, 'the worker that prints');
}

async function measurePeer(peer: Peer, program: string, count: number): Promise<Measures> {
  const folder = temporaryFolder('svc-bench-');
  try {
    peer.prepare(folder, count);
    const drawn: TerminalProgram = {
      ...SIZE,
      ...peer.draws(program, folder),
      cwd: folder,
      keyCount: KEYS,
    };
    const measured = await measureTerminal(drawn);
    let index = 0;
    const event = peer.add
      ? await eventToPaint(drawn, 'event', async (title) => peer.add?.(folder, index++, title))
      : null;
    return { ...measured, smallKeyToPaintMs: null, eventToPaintMs: event, busyEventToPaintMs: null };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * Returns the median time from the acknowledgement of a task, on another connection than the program's, to its title
 * on the terminal. Titles have no blanks, because a program may move the cursor instead of writing them.
 */
async function eventToPaint(
  program: PtyOptions & Pick<TerminalProgram, 'ready'>,
  name: string,
  add: (title: string) => Promise<unknown>,
  filterKey: string | null = null,
): Promise<number> {
  const pty = openPty(program);
  try {
    await pty.prints(program.ready);
    await pty.rests(SETTLE_MS);
    // A new task may be below the last row of the screen, so the list shows only these.
    if (filterKey !== null)
      for (const key of [filterKey, ...name, '\r']) {
        pty.write(key);
        await pty.rests(REST_MS);
      }
    const samples: number[] = [];
    for (let index = 0; index < EVENTS; index += 1) {
      await pty.rests(REST_MS);
      const title = `${name}-${index}-of-${EVENTS}`;
      const painted = pty.prints(title);
      const [added, at] = await Promise.all([add(title).then(() => performance.now()), painted]);
      // The program may receive the task before its sender gets the answer.
      samples.push(Math.max(0, at - added));
    }
    return median(samples);
  } finally {
    await pty.close();
  }
}

const megabytes = (bytes: number): number => bytes / 1024 / 1024;

const overheadFigures = (cost: TerminalMeasure): Figure[] => [
  figure('terminal: first output of a program that echoes', cost.firstFrameMs, 'ms'),
  figure('terminal: its key to echo, p50', cost.keyToPaintMs.p50, 'ms'),
  figure('terminal: its key to echo, p95', cost.keyToPaintMs.p95, 'ms'),
];

/** Returns one figure for each measure and peer, or one without a reference if no peer has the measure. */
function dashboardFigures(
  count: number,
  ours: Measures,
  peers: readonly [name: string, measures: Measures][],
): Figure[] {
  const beside = (name: string, unit: string, pick: (measures: Measures) => number | null): Figure[] => {
    const value = pick(ours) ?? Number.NaN;
    const compared = peers.flatMap(([peer, measures]) => {
      const reference = pick(measures);
      return reference === null
        ? []
        : [figure(`dashboard, ${count} tasks: ${name} (reference: ${peer})`, value, unit, reference)];
    });
    return compared.length > 0 ? compared : [figure(`dashboard, ${count} tasks: ${name}`, value, unit)];
  };
  return [
    ...beside('first frame', 'ms', (each) => each.firstFrameMs),
    ...beside('key to paint, p50', 'ms', (each) => each.keyToPaintMs.p50),
    ...beside('key to paint, p95', 'ms', (each) => each.keyToPaintMs.p95),
    ...beside('key to paint at 80x24, p50', 'ms', (each) => each.smallKeyToPaintMs?.p50 ?? null),
    ...beside('key to paint at 80x24, p95', 'ms', (each) => each.smallKeyToPaintMs?.p95 ?? null),
    ...beside('event to paint', 'ms', (each) => each.eventToPaintMs),
    ...beside('event to paint while a worker prints', 'ms', (each) => each.busyEventToPaintMs),
    ...beside('idle output', 'bytes/s', (each) => each.idleBytesPerSecond),
    ...beside('memory', 'MB', (each) => megabytes(each.memoryBytes)),
  ];
}
