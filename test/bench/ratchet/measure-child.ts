import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { CannotRun } from '../figure.ts';
import { countStatements } from './count-statements.ts';
import type { GuardedOperation, GuardedRig } from './operation.ts';
import { readProcessorMs } from './processor-time.ts';
import { RIGS } from './rigs.ts';
import { createStandardWork } from './standard-work.ts';
import { markPath } from './trace.ts';

// Measures operations of one rig: `measure-child.js <rig> processor|work <operations, JSON>`. Answers over its channel.

/** Answer about the processor time of an operation: ms per call. */
export interface MeasuredTime {
  ours: number;
  reference: number;
}

/** Answer about its work: the SQL statements of each block; the trace has the rest. */
export interface MeasuredWork {
  calls: number;
  statements: number[];
}

/** The answer of the process. */
export type ChildAnswer =
  | { measured: Record<string, MeasuredTime> | Record<string, MeasuredWork> }
  | { cannotRun: string };

const BLOCKS = 4;
const WORK_BLOCKS = 2;
/** Fewer calls than for the processor time: counts do not vary. */
const MOST_COUNTED = 5;
const STANDARD_CALLS = 1000;
/** Time for what an operation does after its answer, such as the notice of a message. */
const SETTLED_MS = 30;
const LOOK_MS = 200;
const MOST_LOOKS = 50;

/** Waits until the processes have done what they begin at their start, such as reading all files. */
async function rest(pids: readonly number[] | undefined): Promise<void> {
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const before = readProcessorMs(pids);
    await delay(LOOK_MS);
    if (readProcessorMs(pids) - before < LOOK_MS / 10) return;
  }
}

async function repeat(calls: number, call: () => Promise<unknown>): Promise<void> {
  for (let at = 0; at < calls; at += 1) await call();
}

/** The two alternate; the least of the blocks is the one that other work on the machine disturbed least. */
async function measureTime<Rig>(
  { pids }: GuardedRig<Rig>,
  rig: Rig,
  { calls, warm = 2 * calls, call, prepare, reference }: GuardedOperation<Rig>,
  standard: () => Promise<void>,
): Promise<MeasuredTime> {
  const compared = reference === undefined ? standard : () => reference(rig);
  const times = reference === undefined ? STANDARD_CALLS : calls;
  const timed = async (count: number, work: () => Promise<unknown>): Promise<number> => {
    const before = readProcessorMs(pids?.(rig));
    await repeat(count, work);
    return (readProcessorMs(pids?.(rig)) - before) / count;
  };
  await prepare?.(rig, warm);
  await repeat(warm, () => call(rig));
  await repeat(Math.min(times, warm), compared);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let block = 0; block < BLOCKS; block += 1) {
    await prepare?.(rig, calls);
    ours.push(await timed(calls, () => call(rig)));
    theirs.push(await timed(times, compared));
  }
  return { ours: Math.min(...ours), reference: Math.min(...theirs) };
}

async function measureWork<Rig>(
  name: string,
  rig: Rig,
  operation: GuardedOperation<Rig>,
  countSoFar: () => number,
): Promise<MeasuredWork> {
  const calls = Math.min(MOST_COUNTED, operation.calls);
  const statements: number[] = [];
  await operation.prepare?.(rig, calls);
  await repeat(calls, () => operation.call(rig));
  for (let block = 0; block < WORK_BLOCKS; block += 1) {
    await operation.prepare?.(rig, calls);
    await delay(SETTLED_MS);
    existsSync(markPath('begin', name, block));
    const before = countSoFar();
    await repeat(calls, () => operation.call(rig));
    await delay(SETTLED_MS);
    statements.push(countSoFar() - before);
    existsSync(markPath('end', name, block));
  }
  return { calls, statements };
}

async function measureRig<Rig>(guarded: GuardedRig<Rig>, isWork: boolean, names: readonly string[]) {
  const countSoFar = isWork ? countStatements() : () => 0;
  const standard = createStandardWork();
  if (!isWork) await repeat(2 * STANDARD_CALLS, standard);
  const rig = await guarded.open();
  try {
    await rest(guarded.pids?.(rig));
    const measured: Record<string, MeasuredTime | MeasuredWork> = {};
    for (const name of names) {
      const operation = guarded.operations[name];
      if (operation === undefined) throw new Error(`there is no operation ${name}`);
      try {
        measured[name] = isWork
          ? await measureWork(name, rig, operation, countSoFar)
          : await measureTime(guarded, rig, operation, standard);
      } catch (error) {
        throw new Error(`${name} cannot be measured`, { cause: error });
      }
    }
    return { measured };
  } finally {
    await guarded.close(rig);
  }
}

async function answer(): Promise<ChildAnswer> {
  const [rig = '', kind = '', names = '[]'] = process.argv.slice(2);
  try {
    const guarded = RIGS[rig as keyof typeof RIGS] as GuardedRig<unknown>;
    return (await measureRig(guarded, kind === 'work', JSON.parse(names) as string[])) as ChildAnswer;
  } catch (error) {
    if (!(error instanceof CannotRun)) throw error;
    return { cannotRun: error.message };
  }
}

process.send?.(await answer());
process.disconnect?.();
