import { type CodeTokens, NAME } from '../code/tokens.ts';
import { hashRuns } from './fingerprints.ts';

/** The common part of two texts in order: pairs of tokens of the same shape. */
export interface CopyAlignment {
  /** Tokens of the new text, ascending, with the matching token in the other text. */
  mine: readonly number[];
  theirs: readonly number[];
  /** True if nothing is between them on either side. */
  isGapless: boolean;
}

/** Minimum tokens of a run in a matching file. */
const SEED = 8;
/** Maximum tokens between two runs of one copy, on either side. */
const LONGEST_GAP = 32;
/** Maximum runs of one file that are joined, longest first. */
const MOST_RUNS = 300;
/** Maximum positions of one seed in the new text: more repetitive parts are found by their other parts. */
const MOST_PLACES = 12;
/** Maximum tokens that are compared for a pair of texts: repetitive text would take quadratic time. */
const MOST_STEPS = 1_000_000;

interface Run {
  mine: number;
  theirs: number;
  length: number;
  weight: number;
}

/**
 * Finds the common runs of two texts, and joins runs that follow each other with small gaps.
 * @param isNew marks the tokens of the text that are seeds
 * @param most maximum number of alignments, best first; they share no tokens of the new text
 */
export function alignTexts(
  mine: CodeTokens,
  theirs: CodeTokens,
  isNew: Uint8Array,
  most: number,
): CopyAlignment[] {
  let runs = findRuns(mine, theirs, isNew);
  const found: CopyAlignment[] = [];
  while (found.length < most && runs.length > 0) {
    const chain = findBestChain(runs);
    const aligned = fillGaps(mine, theirs, chain);
    found.push(aligned);
    const from = aligned.mine[0] as number;
    const to = aligned.mine.at(-1) as number;
    runs = runs.filter((run) => run.mine > to || run.mine + run.length <= from);
  }
  return found;
}

function findRuns(mine: CodeTokens, theirs: CodeTokens, isNew: Uint8Array): Run[] {
  const seeds = hashRuns(mine.shapes, SEED);
  const first = new Map<number, number>();
  const next = new Int32Array(seeds.length).fill(-1);
  for (let at = seeds.length - 1; at >= 0; at -= 1) {
    if (isNew[at] !== 1 || isNew[at + SEED - 1] !== 1) continue;
    next[at] = first.get(seeds[at] as number) ?? -1;
    first.set(seeds[at] as number, at);
  }
  const theirSeeds = hashRuns(theirs.shapes, SEED);
  const ended = new Map<number, number>();
  const runs: Run[] = [];
  let steps = 0;
  for (let there = 0; there < theirSeeds.length && steps < MOST_STEPS; there += 1) {
    let here = first.get(theirSeeds[there] as number) ?? -1;
    for (let places = 0; here >= 0 && places < MOST_PLACES; places += 1, here = next[here] as number) {
      const diagonal = there - here;
      if ((ended.get(diagonal) ?? -1) > there) continue;
      const run = extendRun(mine, theirs, here, there);
      steps += run.length;
      ended.set(diagonal, there + run.length);
      if (run.length >= SEED) runs.push(run);
    }
  }
  if (runs.length > MOST_RUNS) runs.sort((one, other) => other.weight - one.weight).splice(MOST_RUNS);
  return runs.sort((one, other) => one.mine - other.mine || one.theirs - other.theirs);
}

function extendRun(mine: CodeTokens, theirs: CodeTokens, here: number, there: number): Run {
  const longest = Math.min(mine.count - here, theirs.count - there);
  let length = 0;
  let same = 0;
  while (length < longest && mine.shapes[here + length] === theirs.shapes[there + length]) {
    if (mine.kinds[here + length] === NAME && mine.texts[here + length] === theirs.texts[there + length])
      same += 1;
    length += 1;
  }
  return { mine: here, theirs: there, length, weight: length + same };
}

/** Returns the chain of runs, ordered on both sides, with the most tokens. */
function findBestChain(runs: readonly Run[]): Run[] {
  const score = new Float64Array(runs.length);
  const before = new Int32Array(runs.length).fill(-1);
  let best = 0;
  for (let at = 0; at < runs.length; at += 1) {
    const run = runs[at] as Run;
    score[at] = run.weight;
    for (let look = at - 1; look >= 0; look -= 1) {
      const other = runs[look] as Run;
      const gapMine = run.mine - (other.mine + other.length);
      const gapTheirs = run.theirs - (other.theirs + other.length);
      // Runs that overlap slightly are cut where they meet.
      const overlap = Math.max(0, -gapMine, -gapTheirs);
      if (overlap >= SEED || run.theirs <= other.theirs || run.mine <= other.mine) continue;
      if (gapMine > LONGEST_GAP || gapTheirs > LONGEST_GAP) continue;
      const cost = 2 + 0.25 * (Math.max(0, gapMine) + Math.max(0, gapTheirs)) + 2 * overlap;
      const sum = (score[look] as number) + run.weight - cost;
      if (sum > (score[at] as number)) {
        score[at] = sum;
        before[at] = look;
      }
    }
    if ((score[at] as number) > (score[best] as number)) best = at;
  }
  const chain: Run[] = [];
  for (let at = best; at >= 0; at = before[at] as number) chain.unshift(runs[at] as Run);
  return chain;
}

function fillGaps(mine: CodeTokens, theirs: CodeTokens, chain: readonly Run[]): CopyAlignment {
  const left: number[] = [];
  const right: number[] = [];
  let isGapless = true;
  let endMine = -1;
  let endTheirs = -1;
  for (const run of chain) {
    const cut = endMine < 0 ? 0 : Math.max(0, endMine - run.mine, endTheirs - run.theirs);
    const from = { mine: run.mine + cut, theirs: run.theirs + cut };
    if (endMine >= 0) {
      isGapless &&= from.mine === endMine && from.theirs === endTheirs;
      pairGap(mine, theirs, [endMine, from.mine], [endTheirs, from.theirs], left, right);
    }
    for (let step = cut; step < run.length; step += 1) {
      left.push(run.mine + step);
      right.push(run.theirs + step);
    }
    endMine = run.mine + run.length;
    endTheirs = run.theirs + run.length;
  }
  return { mine: left, theirs: right, isGapless };
}

/** Pairs the common tokens of a gap: a longest common subsequence of a few tokens. */
function pairGap(
  mine: CodeTokens,
  theirs: CodeTokens,
  [fromMine, toMine]: [number, number],
  [fromTheirs, toTheirs]: [number, number],
  left: number[],
  right: number[],
): void {
  const rows = toMine - fromMine;
  const columns = toTheirs - fromTheirs;
  if (rows <= 0 || columns <= 0) return;
  const width = columns + 1;
  const best = new Uint16Array((rows + 1) * width);
  for (let row = rows - 1; row >= 0; row -= 1)
    for (let column = columns - 1; column >= 0; column -= 1) {
      const isSame = mine.shapes[fromMine + row] === theirs.shapes[fromTheirs + column];
      best[row * width + column] = isSame
        ? (best[(row + 1) * width + column + 1] as number) + 1
        : Math.max(best[(row + 1) * width + column] as number, best[row * width + column + 1] as number);
    }
  for (let row = 0, column = 0; row < rows && column < columns; ) {
    if (mine.shapes[fromMine + row] === theirs.shapes[fromTheirs + column]) {
      left.push(fromMine + row);
      right.push(fromTheirs + column);
      row += 1;
      column += 1;
    } else if ((best[(row + 1) * width + column] as number) >= (best[row * width + column + 1] as number)) {
      row += 1;
    } else column += 1;
  }
}
