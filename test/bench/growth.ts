import { type EngineHere, engineHere } from '../support/workspaces/engine.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';
import { type Figure, figure, median } from './figure.ts';
import { fillCode, fillMemories, fillRegistry, fillTables, fillTexts, fillUsage } from './growth-rows.ts';

const SIZES = [1, 10, 100];
const TASKS = 100;
const USAGE_ROWS = 1000;
const TEXTS = 20;
const CODE_FILES = 20;
/** A call that is shorter is repeated, since the clock of the processor time is coarse. */
const SHORTEST_MS = 4;
const SAMPLES = 9;

/**
 * The largest exponents: of what shows as much at any size, and of what reads everything, which may grow as n log n.
 */
const LIMITS = { shown: 0.2, all: 1.15 };

interface Grown {
  ws: TestWorkspace;
  here: EngineHere;
  /** Numbers that are used once, so that no answer is a cached one. */
  count(): number;
}

interface Area {
  name: string;
  /** The rows with which its cost may grow: those that it shows, or all rows. */
  reads: keyof typeof LIMITS;
  call(grown: Grown): Promise<unknown>;
}

const AREAS: readonly Area[] = [
  { name: 'tasks: 50 listed', reads: 'shown', call: ({ here }) => here.call('task.list', { limit: 50 }) },
  { name: 'tasks: one shown', reads: 'shown', call: ({ here }) => here.call('task.show', { id: 't-5' }) },
  {
    name: 'tasks: one added',
    reads: 'shown',
    call: ({ here, count }) => here.call('task.add', { title: `task ${count()}` }),
  },
  {
    name: 'decisions: 10 that wait',
    reads: 'shown',
    call: ({ here }) => here.call('decision.list', { state: 'pending' }),
  },
  {
    name: 'sessions: 50 listed',
    reads: 'shown',
    call: ({ here }) => here.call('session.list', { limit: 50 }),
  },
  { name: 'events: 100 listed', reads: 'shown', call: ({ here }) => here.call('event.list', { limit: 100 }) },
  { name: 'status of the engine', reads: 'shown', call: ({ here }) => here.call('engine.status') },
  {
    name: 'messages: an inbox with 10 unread',
    reads: 'shown',
    call: ({ here }) => here.call('msg.inbox', { session: 'ada' }),
  },
  { name: 'messages: 50 listed', reads: 'shown', call: ({ here }) => here.call('msg.list', { limit: 50 }) },
  {
    name: 'messages: one sent',
    reads: 'shown',
    call: ({ here }) => here.call('msg.send', { to_session: 'bob', body: 'x' }),
  },
  {
    name: 'asks: 50 listed',
    reads: 'shown',
    call: ({ here }) => here.call('ask.list', { status: 'all', limit: 50 }),
  },
  { name: 'asks: open ones', reads: 'shown', call: ({ here }) => here.call('ask.list') },
  {
    name: 'deliveries: 50 listed',
    reads: 'shown',
    call: ({ here }) => here.call('notify.deliveries', { limit: 50 }),
  },
  {
    name: 'memories: 50 listed',
    reads: 'shown',
    call: ({ here }) => here.call('memory.list', { limit: 50 }),
  },
  {
    name: 'memories: recalled by words of all',
    reads: 'all',
    call: ({ here }) => here.call('memory.recall', { query: 'why does a module keep its parser' }),
  },
  {
    name: 'memories: recalled by words of one',
    reads: 'all',
    call: ({ here }) => here.call('memory.recall', { query: 'decision 42' }),
  },
  {
    name: 'memories: one added',
    reads: 'shown',
    call: ({ here, count }) => here.call('memory.remember', { text: `A trap is number ${count()}.` }),
  },
  { name: 'texts: 20 listed', reads: 'shown', call: ({ here }) => here.call('context.list', { limit: 20 }) },
  {
    name: 'texts: searched',
    reads: 'all',
    call: ({ here }) => here.call('context.search', { query: 'queue step 7' }),
  },
  { name: 'usage of today', reads: 'shown', call: ({ here }) => here.call('usage.status') },
  {
    name: 'usage of 30 days',
    reads: 'all',
    call: ({ here }) => here.call('gateway.usage', { days: 30, by: 'model' }),
  },
  {
    name: 'symbols: callers of one',
    reads: 'shown',
    call: ({ here }) => here.call('trace.path', { symbol: 'run5' }),
  },
  {
    name: 'symbols: found by name',
    reads: 'all',
    call: ({ here }) => here.call('graph.symbol', { query: 'run5' }),
  },
  {
    name: 'statistics of all tasks',
    reads: 'all',
    call: ({ here, count }) => here.call('stats.read', { since: new Date(count()).toISOString() }),
  },
  {
    name: 'workspaces: svc status --all',
    reads: 'all',
    call: ({ ws }) => ws.svc(['status', '--all', '--json'], { cwd: '/' }),
  },
];

/** Opens a workspace of this many times the usual size. */
async function grow(size: number): Promise<Grown> {
  const ws = await makeWorkspace({ events: [] });
  const first = await engineHere(ws);
  await first.close();
  fillTables(ws, TASKS * size);
  fillUsage(ws, USAGE_ROWS * size);
  fillCode(ws, CODE_FILES * size);
  fillRegistry(ws, size);
  const here = await engineHere(ws);
  await fillMemories(here, TASKS * size);
  await fillTexts(here, TEXTS * size);
  let counted = 0;
  return { ws, here, count: () => (counted += 1) };
}

const readCpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Returns the processor time of a call, ms: a median. */
async function measure({ call }: Area, grown: Grown): Promise<number> {
  const timed = async (calls: number): Promise<number> => {
    const before = readCpuMs();
    for (let at = 0; at < calls; at += 1) await call(grown);
    return (readCpuMs() - before) / calls;
  };
  await timed(3);
  const calls = Math.max(1, Math.ceil(SHORTEST_MS / (await timed(3))));
  const samples: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) samples.push(await timed(calls));
  return median(samples);
}

/** Returns the exponent of the steepest tenfold step. */
const findExponent = (costs: readonly number[]): number =>
  Math.max(...costs.slice(1).map((cost, at) => Math.log10(cost / (costs[at] ?? cost))));

/**
 * Measures the processor time of calls at 1, 10 and 100 times the usual size of a workspace, and the exponent with
 * which it grows. An exponent above its limit fails the bench.
 */
export async function growth(): Promise<Figure[]> {
  const costs = new Map(AREAS.map((area) => [area, [] as number[]]));
  // The code is compiled before the first size is measured.
  for (const [at, size] of [1, ...SIZES].entries()) {
    const grown = await grow(size);
    try {
      for (const [area, found] of costs) {
        const cost = await measure(area, grown);
        if (at > 0) found.push(cost);
      }
    } finally {
      await grown.here.end();
      await grown.ws.close();
    }
  }
  return [...costs].flatMap(([{ name, reads }, found]) => {
    const exponent = findExponent(found);
    if (exponent > LIMITS[reads]) {
      console.error(
        `growth: ${name} grows with the exponent ${exponent.toFixed(2)}, at most ${LIMITS[reads]}`,
      );
      process.exitCode = 1;
    }
    const [once = Number.NaN, ...more] = found;
    return [
      ...more.map((cost, at) =>
        figure(`growth: ${name}, ${SIZES[at + 1]}x (reference: 1x)`, cost, 'ms', once),
      ),
      figure(`growth: ${name}, exponent`, exponent, 'exponent'),
    ];
  });
}
