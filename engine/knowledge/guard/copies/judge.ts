import type { FunctionSpan } from '../code/functions.ts';
import type { PreparedCode } from '../code/read-code.ts';
import { KEYWORD, MARK, NAME } from '../code/tokens.ts';
import type { CopyAlignment } from './align.ts';

/** Similarity of two pieces of code: 1 identical, 2 except for names and literals, 3 with small edits. */
export type CopyType = 1 | 2 | 3;

/** The common part of a new text and another one. */
export interface CopyFinding {
  type: CopyType;
  /** Common tokens in order. */
  tokens: number;
  /** The copy's share of its function, 0 to 1; of the new or the old function, the larger one. */
  coverage: number;
  /** Lines in the new text, from 1, and their function. */
  from: number;
  to: number;
  name: string | null;
  /** The same in the existing text. */
  theirFrom: number;
  theirTo: number;
  theirName: string | null;
}

/** Minimum share of name pairs explained by one renaming: other programs with the same shape have none. */
const LEAST_CONSISTENT = { 2: 0.85, 3: 0.8 } as const;
/** Minimum share of common tokens between the first and the last. */
const LEAST_DENSE = 0.7;
/** Minimum share of the function with edits: similar parts of two functions are not a copy. */
const LEAST_COVERED = 0.55;
/** Minimum share of distinct runs of four tokens: below it, one line repeats. */
const LEAST_VARIED = 0.34;
/** Share that counts as a whole function. */
const LEAST_WHOLE = 0.75;
/** Share of names that must be equal if all literals and the structure agree. */
const LEAST_EQUAL = { 2: 0.2, 3: 0.25 } as const;

/** Judges the common part of two texts; null for mere similarity. */
export function judgeAlignment(
  mine: PreparedCode,
  theirs: PreparedCode,
  aligned: CopyAlignment,
  { isNew, minTokens }: { isNew: Uint8Array; minTokens: number },
): CopyFinding | null {
  const trimmed = trimToFunction(mine, theirs, aligned, minTokens);
  const { mine: left, theirs: right } = trimmed;
  const fresh = left.reduce((sum, at) => sum + (isNew[at] as number), 0);
  if (fresh < minTokens) return null;
  const isExact = trimmed.isGapless && isLetterForLetter(mine, theirs, trimmed);
  const type: CopyType = isExact ? 1 : trimmed.isGapless ? 2 : 3;
  if (measureVariety(mine, left) < LEAST_VARIED) return null;
  const first = left[0] as number;
  const last = left.at(-1) as number;
  const theirFirst = right[0] as number;
  const theirLast = right.at(-1) as number;
  const own = findEnclosing(mine.functions, left);
  const other = findEnclosing(theirs.functions, right);
  const coverage = Math.max(own?.coverage ?? 0, other?.coverage ?? 0);
  const span = Math.max(last - first, theirLast - theirFirst) + 1;
  const density = left.length / span;
  if (type === 3 && (density < LEAST_DENSE || coverage < LEAST_COVERED)) return null;
  if (type !== 1) {
    const names = compareNames(mine, theirs, trimmed);
    // If a whole function was copied, each name may have changed.
    const isWhole =
      Math.min(own?.coverage ?? 0, other?.coverage ?? 0) >= LEAST_WHOLE && density >= LEAST_WHOLE;
    const isWholeCopy = type === 2 ? coverage >= LEAST_WHOLE : isWhole;
    const explained = isWholeCopy ? names.consistent : names.shown;
    if (explained < LEAST_CONSISTENT[type] || names.equal < LEAST_EQUAL[type]) return null;
  }
  return {
    type,
    tokens: left.length,
    coverage,
    from: mine.tokens.lines[first] as number,
    to: mine.tokens.lines[last] as number,
    name: own?.span.name || null,
    theirFrom: theirs.tokens.lines[theirFirst] as number,
    theirTo: theirs.tokens.lines[theirLast] as number,
    theirName: other?.span.name || null,
  };
}

/**
 * Removes the surroundings of an almost complete common function: ends and heads of neighbouring functions are alike
 * everywhere.
 */
function trimToFunction(
  mine: PreparedCode,
  theirs: PreparedCode,
  aligned: CopyAlignment,
  minTokens: number,
): CopyAlignment {
  const own = findEnclosing(mine.functions, aligned.mine);
  if (own === null || own.coverage < 0.8 || own.matched < minTokens) return cutRagged(mine, theirs, aligned);
  const outside = aligned.mine.length - own.matched;
  if (outside === 0 || outside >= minTokens) return aligned;
  return slice(aligned, (at) => at >= own.span.from && at < own.span.to);
}

/** Cuts both ends to the first equal words, if most words in between are equal. */
function cutRagged(mine: PreparedCode, theirs: PreparedCode, aligned: CopyAlignment): CopyAlignment {
  const { mine: left, theirs: right } = aligned;
  const isSame = (at: number): boolean =>
    mine.tokens.texts[left[at] as number] === theirs.tokens.texts[right[at] as number];
  let same = 0;
  for (let at = 0; at < left.length; at += 1) if (isSame(at)) same += 1;
  if (same < 0.8 * left.length) return aligned;
  let from = 0;
  let to = left.length;
  const isAgreed = (at: number): boolean => {
    for (let look = at; look < at + 5; look += 1)
      if (look < 0 || look >= left.length || !isSame(look)) return false;
    return true;
  };
  while (from < to - 5 && !isAgreed(from)) from += 1;
  while (to > from + 5 && !isAgreed(to - 5)) to -= 1;
  const keeps = { from: left[from] as number, to: left[to - 1] as number };
  return slice(aligned, (at) => at >= keeps.from && at <= keeps.to);
}

function slice(aligned: CopyAlignment, keeps: (mine: number) => boolean): CopyAlignment {
  const left: number[] = [];
  const right: number[] = [];
  aligned.mine.forEach((at, index) => {
    if (!keeps(at)) return;
    left.push(at);
    right.push(aligned.theirs[index] as number);
  });
  const isRun = (list: readonly number[]): boolean => (list.at(-1) ?? 0) - (list[0] ?? 0) === list.length - 1;
  return { mine: left, theirs: right, isGapless: isRun(left) && isRun(right) };
}

function isLetterForLetter(
  mine: PreparedCode,
  theirs: PreparedCode,
  { mine: left, theirs: right }: CopyAlignment,
): boolean {
  return left.every((at, index) => mine.tokens.texts[at] === theirs.tokens.texts[right[index] as number]);
}

/** Returns the function with the most of these tokens, the smaller of two equal ones. */
function findEnclosing(
  functions: readonly FunctionSpan[],
  tokens: readonly number[],
): { span: FunctionSpan; matched: number; coverage: number } | null {
  let found: { span: FunctionSpan; matched: number; coverage: number } | null = null;
  for (const span of functions) {
    const matched = countBetween(tokens, span.from, span.to);
    if (matched === 0) continue;
    const coverage = matched / (span.to - span.from);
    if (found === null || matched * coverage > found.matched * found.coverage)
      found = { span, matched, coverage };
  }
  return found;
}

const countBetween = (tokens: readonly number[], from: number, to: number): number =>
  findPlace(tokens, to) - findPlace(tokens, from);

/** Returns the position of a token in an ascending list. */
function findPlace(tokens: readonly number[], token: number): number {
  let low = 0;
  let high = tokens.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tokens[middle] as number) < token) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the distinct runs of four shapes, as a share of the maximum. */
function measureVariety({ tokens: { shapes } }: PreparedCode, list: readonly number[]): number {
  const seen = new Set<number>();
  for (let at = 0; at + 3 < list.length; at += 1) {
    let hash = 0;
    for (let step = 0; step < 4; step += 1)
      hash = (Math.imul(hash, 31) + (shapes[list[at + step] as number] as number)) | 0;
    seen.add(hash);
  }
  return seen.size / Math.min(Math.max(1, list.length - 3), 200);
}

/** The agreement of the names on both sides, as shares of all. */
interface NameComparison {
  /** Explained by one renaming. */
  consistent: number;
  /** Equal, or renamed consistently at more than one place. */
  shown: number;
  /** Equal, including literals. */
  equal: number;
}

function compareNames(
  mine: PreparedCode,
  theirs: PreparedCode,
  { mine: left, theirs: right }: CopyAlignment,
): NameComparison {
  const forth = new Map<number, Map<number, number>>();
  const back = new Map<number, Map<number, number>>();
  const countPairs = (maps: Map<number, Map<number, number>>, from: number, to: number): void => {
    const counts = maps.get(from) ?? new Map<number, number>();
    counts.set(to, (counts.get(to) ?? 0) + 1);
    maps.set(from, counts);
  };
  const pairs: [number, number][] = [];
  left.forEach((at, index) => {
    const kind = mine.tokens.kinds[at];
    if (kind === MARK || kind === KEYWORD) return;
    const own = mine.tokens.texts[at] as number;
    const other = theirs.tokens.texts[right[index] as number] as number;
    pairs.push([own, other]);
    if (kind !== NAME) return;
    countPairs(forth, own, other);
    countPairs(back, other, own);
  });
  if (pairs.length === 0) return { consistent: 1, shown: 1, equal: 1 };
  let consistent = 0;
  let shown = 0;
  let equal = 0;
  let names = 0;
  for (const [own, other] of pairs) {
    if (own === other) equal += 1;
    if (!forth.has(own)) continue;
    names += 1;
    const isRenaming = findCommonest(forth.get(own)) === other && findCommonest(back.get(other)) === own;
    if (own === other || isRenaming) consistent += 1;
    if (own === other || (isRenaming && (forth.get(own)?.get(other) ?? 0) > 1)) shown += 1;
  }
  const share = (count: number): number => (names === 0 ? 1 : count / names);
  return { consistent: share(consistent), shown: share(shown), equal: equal / pairs.length };
}

/** Returns the most frequent replacement of a name. */
function findCommonest(counts: ReadonlyMap<number, number> | undefined): number | null {
  let found: number | null = null;
  let most = 0;
  for (const [to, times] of counts ?? [])
    if (times > most) {
      most = times;
      found = to;
    }
  return found;
}
