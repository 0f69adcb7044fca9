import { existsSync, readdirSync } from 'node:fs';
import { asSvcError } from '../../../engine/core/base/errors.ts';
import { joinFleet } from '../../../engine/fleet/machine/join-fleet.ts';
import { findFleet, machineEnvironment } from './machine-home.ts';
import { type Manners, type PlayedMachine, playMachine } from './play-machine.ts';

/** A process that plays many machines, each with its own home folder, keys, ledger and connection. */

/** The orders to the process: by its argument at first, and later by messages. */
export interface MachinesOrder {
  /** Has a folder for each machine, by its name. */
  folder: string;
  seed: number;
  /** The shortest and the longest life of a run, ms. */
  runMs: [number, number];
  /** How often the connection is lost between an order and its answer, 0 to 1. */
  lossRate: number;
  /** Machines whose runs outlive their lease. */
  slow: string[];
  /** Machines that are cut off from the board. */
  cut: string[];
  /** Machines that answer late. */
  late: string[];
}

export type MachinesMessage =
  | { kind: 'join'; name: string; line: string }
  | { kind: 'cut' | 'restore'; name: string };

/** The answer to a message about a machine. */
export interface MachinesWord {
  name: string;
  problem: string | null;
}

const SLOW_MS = 120_000;
const LATE_MS = 3000;

const order = JSON.parse(process.argv[2] ?? '') as MachinesOrder;
const slow = new Set(order.slow);
const machines = new Map<string, PlayedMachine>();

let state = order.seed;
/** Draws the same numbers in each process with this seed, between 0 and 1. */
function draw(): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}

const envOf = (name: string): NodeJS.ProcessEnv => machineEnvironment(order.folder, name);

const mannersOf = (name: string): Manners => ({
  readRunMs: () => (slow.has(name) ? SLOW_MS : order.runMs[0] + draw() * (order.runMs[1] - order.runMs[0])),
  readStopMs: () => draw() * 1000,
  readDelayMs: () => (order.late.includes(name) ? draw() * LATE_MS : 0),
  losesAnswer: () => draw() < order.lossRate,
});

async function play(name: string): Promise<void> {
  const fleet = findFleet(envOf(name));
  if (fleet !== null)
    machines.set(name, await playMachine(envOf(name), fleet, mannersOf(name), order.cut.includes(name)));
}

async function follow(message: MachinesMessage): Promise<void> {
  const { name } = message;
  if (message.kind === 'join') {
    await joinFleet(message.line, name, envOf(name));
    await play(name);
  } else if (message.kind === 'cut') await machines.get(name)?.cut();
  else {
    slow.delete(name);
    machines.get(name)?.restore();
  }
}

process.on('message', (message: MachinesMessage) => {
  const { name } = message;
  follow(message).then(
    () => process.send?.({ name, problem: null } satisfies MachinesWord),
    (error: unknown) => process.send?.({ name, problem: asSvcError(error).message } satisfies MachinesWord),
  );
});
process.on('disconnect', () => process.exit(0));

const known = existsSync(order.folder) ? readdirSync(order.folder) : [];
for (const name of known) await play(name);
process.send?.({ name: '', problem: null } satisfies MachinesWord);
