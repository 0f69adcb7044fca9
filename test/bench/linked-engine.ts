import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '../../engine/core/base/clock.ts';
import { logMachineIn, setUpServer, startTestServer } from '../support/server/linked-server.ts';
import { until } from '../support/wait.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';
import { residentMb } from './commands.ts';
import { type Figure, figure, median } from './figure.ts';

const STARTS = 9;
/** Work that a start defers is done by then. */
const SETTLED_MS = 3000;
const ASKED = 300;

/** Compares a linked engine with an unlinked one: start time, and memory afterwards. */
export async function linkedEngine(): Promise<Figure[]> {
  const server = await startTestServer({ clock: systemClock });
  const [linked, alone] = [await makeWorkspace(), await makeWorkspace()];
  const both = [linked, alone] as const;
  try {
    await link(linked, server.url, await logMachineIn(server, await setUpServer(server)));
    const starts = both.map(() => [] as number[]);
    const memory = both.map(() => [] as number[]);
    for (let round = 0; round < STARTS; round += 1) {
      // The two alternate in going first.
      for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) starts[at]?.push(await startAgain(both[at]!));
      await delay(SETTLED_MS);
      for (const [at, ws] of both.entries()) memory[at]?.push(residentMb(ws.daemonPid() ?? 0));
    }
    const beside = (what: string, [ours = [], reference = []]: number[][], unit: string): Figure =>
      figure(`linked engine: ${what}, p50 (reference: not linked)`, median(ours), unit, median(reference));
    return [
      beside('start to the first answer', starts, 'ms'),
      beside('memory, resident', memory, 'MB'),
      await entitlements(linked),
    ];
  } finally {
    for (const ws of both) await ws.close();
    await server.close();
  }
}

async function link(ws: TestWorkspace, server: string, token: string): Promise<void> {
  const client = await ws.connect();
  await client.call('link.start', { server, token });
  await until(async () => (await client.call('link.status', {})).state === 'connected', 'the link');
}

/** Ends the engine and starts it, as a command does that finds none. */
async function startAgain(ws: TestWorkspace): Promise<number> {
  await ws.program(['down']);
  const begin = performance.now();
  const client = await ws.connect();
  await client.call('engine.status', {});
  return performance.now() - begin;
}

async function entitlements(ws: TestWorkspace): Promise<Figure> {
  const client = await ws.connect();
  const time = async (name: 'entitlements.status' | 'engine.status'): Promise<number> => {
    const begin = performance.now();
    await client.call(name, {});
    return performance.now() - begin;
  };
  const [ours, others]: [number[], number[]] = [[], []];
  for (let round = 0; round < ASKED; round += 1) {
    ours.push(await time('entitlements.status'));
    others.push(await time('engine.status'));
  }
  return figure(
    'linked engine: entitlements_status, p50 (reference: engine.status)',
    median(ours),
    'ms',
    median(others),
  );
}
