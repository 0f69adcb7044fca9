import { type ResolvedValue, UNKNOWN_VALUE } from './values.ts';

/** Maximum depth: self-referential code would never end. */
const MOST_STEPS = 60;

/**
 * Maximum evaluations for one reference, and for a file. Names that each use the previous one twice would grow
 * exponentially. Real code takes a thousand at most, and thirty thousand per file.
 */
const MOST_WORK = 10_000;
const MOST_WORK_OF_FILE = 1_000_000;

/** Limits the work of evaluation. */
export interface WorkLimit {
  /** Resets the counters: for a file, or for one reference of it. */
  beginFile(): void;
  beginReference(): void;
  /** Counts the work for one reference, and for a file; throws a RangeError if it exceeds the limit. */
  spendWork(): void;
  /** Follows one step further; a cycle is unknown. */
  guard(key: string, follow: () => ResolvedValue): ResolvedValue;
  /** Returns a number for an expression or a type: its text may be long. */
  numberOf(value: object): number;
  /** Finds the meaning of a name once for a file; while it is being found it is `inCycle`, and others found then are not remembered. */
  remember<T>(key: string, inCycle: T, find: () => T): T;
}

export function createWorkLimit(): WorkLimit {
  let steps = 0;
  const work = { ofReference: 0, ofFile: 0 };
  const running = new Set<string>();
  const finding = new Set<string>();
  const known = new Map<string, unknown>();
  let cycles = 0;
  const numbers = new WeakMap<object, number>();
  let last = 0;

  return {
    beginFile() {
      work.ofFile = 0;
      known.clear();
    },
    beginReference() {
      work.ofReference = 0;
    },
    spendWork() {
      work.ofReference += 1;
      work.ofFile += 1;
      if (work.ofReference > MOST_WORK || work.ofFile > MOST_WORK_OF_FILE)
        throw new RangeError('there is too much to follow');
    },
    numberOf(value) {
      const found = numbers.get(value);
      if (found !== undefined) return found;
      last += 1;
      numbers.set(value, last);
      return last;
    },
    remember<T>(key: string, inCycle: T, find: () => T): T {
      if (known.has(key)) return known.get(key) as T;
      if (finding.has(key)) {
        cycles += 1;
        return inCycle;
      }
      const before = cycles;
      finding.add(key);
      try {
        const value = find();
        if (cycles === before) known.set(key, value);
        return value;
      } finally {
        finding.delete(key);
      }
    },
    guard(key, follow) {
      if (steps >= MOST_STEPS || running.has(key)) {
        cycles += 1;
        return UNKNOWN_VALUE;
      }
      steps += 1;
      running.add(key);
      try {
        return follow();
      } finally {
        steps -= 1;
        running.delete(key);
      }
    },
  };
}
