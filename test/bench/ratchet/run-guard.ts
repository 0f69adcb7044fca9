import { availableParallelism } from 'node:os';
import { withStrace } from '../../support/processes/file-calls.ts';
import { describePlace } from '../bars.ts';
import { CannotRun } from '../figure.ts';
import {
  FIGURE_KINDS,
  type FigureKind,
  type GuardedFigures,
  isOverLimit,
  isUnderHalf,
  readRecord,
  selectKinds,
  writeRecord,
} from './limits.ts';
import { measureRigPart, type RigPart } from './measure-rig.ts';
import { RIGS } from './rigs.ts';

/** Further measurements of a processor time that is over its limit: a stall of the machine does not repeat. */
const MORE_LOOKS = 2;

const ALL = Object.values(RIGS).flatMap(({ operations }) => Object.keys(operations));

/** Returns the operations of each rig that a word names, in full or by a part of their name; all without words. */
function selectOperations(words: readonly string[]): [rig: string, operations: string[]][] {
  const isAsked = (name: string): boolean =>
    words.length === 0 || words.some((word) => (ALL.includes(word) ? name === word : name.includes(word)));
  const selected = Object.entries(RIGS).map(([rig, { operations }]): [string, string[]] => [
    rig,
    Object.keys(operations).filter(isAsked),
  ]);
  return selected.filter(([, operations]) => operations.length > 0);
}

/** Measures the parts, as many at the same time as there are processors. A rig that cannot run is named and left out. */
async function measureParts(parts: RigPart[], canTrace: boolean): Promise<Map<string, GuardedFigures>> {
  const found = new Map<string, GuardedFigures>();
  const left = [...parts];
  async function measureNext(): Promise<void> {
    for (let part = left.shift(); part !== undefined; part = left.shift()) {
      try {
        for (const [name, figures] of await measureRigPart(part, canTrace))
          found.set(name, { ...found.get(name), ...figures });
      } catch (error) {
        if (!(error instanceof CannotRun)) throw error;
        if (part.kind === 'work')
          console.error(`guard: ${part.operations.join(', ')} not run, ${error.message}`);
      }
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, measureNext));
  return found;
}

const describe = (kind: FigureKind, now: number, recorded: number): string =>
  `${kind} ${kind === 'time' ? `${now}x` : now} (recorded ${kind === 'time' ? `${recorded}x` : recorded})`;

/** Prints the verdict on an operation; returns whether it is good. */
function judge(name: string, now: GuardedFigures, recorded: GuardedFigures | undefined): boolean {
  const print = (verdict: string, kinds: readonly FigureKind[]): void => {
    const texts = kinds.map((kind) => describe(kind, now[kind] ?? 0, recorded?.[kind] ?? 0));
    console.log(`${verdict.padEnd(8)}  ${name}${texts.length === 0 ? '' : `: ${texts.join(', ')}`}`);
  };
  if (recorded === undefined) {
    console.log(`new       ${name}: record it with --guard --record`);
    return false;
  }
  const over = selectKinds(now, recorded, isOverLimit);
  if (over.length > 0) print('worse', over);
  else {
    const better = selectKinds(now, recorded, isUnderHalf);
    if (better.length > 0) print('better', better);
    else
      print(
        'same',
        FIGURE_KINDS.filter((kind) => kind === 'time' && now.time !== undefined),
      );
  }
  return over.length === 0;
}

/** Measures processor times over their limits again, alone; the least counts. */
async function lookAgain(
  found: Map<string, GuardedFigures>,
  parts: readonly RigPart[],
  operations: Readonly<Record<string, GuardedFigures>>,
): Promise<void> {
  for (let look = 0; look < MORE_LOOKS; look += 1) {
    for (const { rig, kind, operations: names } of parts) {
      if (kind !== 'processor') continue;
      const slow = names.filter((name) => {
        const [now, recorded] = [found.get(name)?.time, operations[name]?.time];
        return now !== undefined && recorded !== undefined && isOverLimit('time', now, recorded);
      });
      if (slow.length === 0) continue;
      for (const [name, { time = 0 }] of await measureRigPart({ rig, kind, operations: slow }, false))
        found.set(name, { ...found.get(name), time: Math.min(time, found.get(name)?.time ?? time) });
    }
  }
}

/**
 * Compares the processor time and the counted work of operations with their records, or records them. Returns whether
 * all are within their limits.
 */
export async function runGuard({
  isRecord,
  words,
}: {
  isRecord: boolean;
  words: readonly string[];
}): Promise<boolean> {
  const selected = selectOperations(words);
  if (selected.length === 0) throw new Error(`no operation has ${words.join(', ')} in its name`);
  const canTrace = withStrace.skip === false;
  if (!canTrace) console.error(`guard: only SQL statements are counted, since ${withStrace.skip}`);
  const parts = selected.flatMap(([rig, operations]): RigPart[] => [
    { rig, kind: 'processor', operations },
    { rig, kind: 'work', operations },
  ]);
  if (isRecord) {
    const place = describePlace();
    const found = await measureParts(parts, canTrace);
    const before = words.length === 0 ? {} : readRecord().operations;
    writeRecord({ ...place, operations: { ...before, ...Object.fromEntries(found) } });
    return true;
  }
  const { operations } = readRecord();
  const found = await measureParts(parts, canTrace);
  await lookAgain(found, parts, operations);
  const verdicts = [...found].map(([name, figures]) => judge(name, figures, operations[name]));
  const gone = Object.keys(operations).filter((name) => !ALL.includes(name));
  for (const name of gone) console.log(`gone      ${name}: record the others with --guard --record`);
  return verdicts.every(Boolean) && gone.length === 0;
}
