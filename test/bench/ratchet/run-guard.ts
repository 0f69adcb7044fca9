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

/** Further measurements of a figure that is over its limit: a stall of the machine does not repeat. */
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

/**
 * Measures what is over its limit again, alone; the least counts. Work that the engine does by itself, once a second,
 * falls into more of the calls when the machine is busy.
 */
async function lookAgain(
  found: Map<string, GuardedFigures>,
  parts: readonly RigPart[],
  operations: Readonly<Record<string, GuardedFigures>>,
  canTrace: boolean,
): Promise<void> {
  for (let look = 0; look < MORE_LOOKS; look += 1) {
    for (const { rig, kind, operations: names } of parts) {
      const over = names.filter((name) => {
        const [now, recorded] = [found.get(name), operations[name]];
        if (now === undefined || recorded === undefined) return false;
        const kinds = selectKinds(now, recorded, isOverLimit);
        return kinds.some((each) => (each === 'time') === (kind === 'processor'));
      });
      if (over.length === 0) continue;
      const again = await measureRigPart({ rig, kind, operations: over }, canTrace && kind === 'work');
      for (const [name, figures] of again) found.set(name, takeLeast(found.get(name) ?? {}, figures));
    }
  }
}

const takeLeast = (one: GuardedFigures, other: GuardedFigures): GuardedFigures =>
  Object.fromEntries(
    FIGURE_KINDS.flatMap((kind) => {
      const values = [one[kind], other[kind]].filter((each) => each !== undefined);
      return values.length === 0 ? [] : [[kind, Math.min(...values)]];
    }),
  );

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
  await lookAgain(found, parts, operations, canTrace);
  const verdicts = [...found].map(([name, figures]) => judge(name, figures, operations[name]));
  const gone = Object.keys(operations).filter((name) => !ALL.includes(name));
  for (const name of gone) console.log(`gone      ${name}: record the others with --guard --record`);
  return verdicts.every(Boolean) && gone.length === 0;
}
