import type { PreparedCode } from '../code/read-code.ts';
import { alignTexts } from './align.ts';
import { hashRuns } from './fingerprints.ts';
import type { HashIndex } from './hash-index.ts';
import { type CopyFinding, judgeAlignment } from './judge.ts';
import { type CopySettings, chooseSamplings } from './settings.ts';

/** Copies of one text in another one. */
export interface FoundCopy extends CopyFinding {
  /** The number of the existing text. */
  text: number;
}

export interface CopyIndex {
  whole: HashIndex;
  edited: HashIndex;
}

/** Texts that are compared token by token, those with the most common fingerprints first. */
const MOST_COMPARED = 25;
/** Minimum number of compared texts before stopping because all of the new text was found. */
const FEWEST_COMPARED = 3;
const NEARLY_ALL = 0.9;
/** Fingerprints that a text must share: a single one may be chance. */
const FEWEST_SHARED = 2;
/** Maximum per text. */
const MOST_COPIES = 3;
/** A fingerprint of edited copies is ignored if more texts have it. */
const COMMON = 60;

/**
 * Finds copies of a text's new lines in indexed texts, largest share of a function first.
 * @param open reads a text by its number; null to skip it
 * @param isLate called between two texts: reports whether the time is over
 */
export function findCopies(
  mine: PreparedCode,
  isNew: Uint8Array,
  {
    index,
    settings,
    open,
    isLate,
  }: {
    index: CopyIndex;
    settings: CopySettings;
    open(text: number): PreparedCode | null;
    isLate(): boolean;
  },
): { copies: FoundCopy[]; isPartial: boolean } {
  const ranked = rankTexts(mine, isNew, index, settings);
  const copies: FoundCopy[] = [];
  const told = createCover(mine, isNew);
  let compared = 0;
  for (const text of ranked) {
    if (compared === MOST_COMPARED || (compared >= FEWEST_COMPARED && told.isNearlyAll())) break;
    if (isLate()) return { copies: sortCopies(copies), isPartial: true };
    const theirs = open(text);
    if (theirs === null) continue;
    compared += 1;
    for (const aligned of alignTexts(mine.tokens, theirs.tokens, isNew, MOST_COPIES)) {
      if (aligned.mine.length < settings.minTokens) break;
      const copy = judgeAlignment(mine, theirs, aligned, { isNew, minTokens: settings.minTokens });
      if (copy === null) continue;
      copies.push({ ...copy, text });
      told.add(aligned.mine);
    }
  }
  return { copies: sortCopies(copies), isPartial: false };
}

/** Tracks the new tokens that copies were found for. */
function createCover({ tokens }: PreparedCode, isNew: Uint8Array) {
  const left = isNew.slice(0, tokens.count);
  const all = left.reduce((sum, each) => sum + each, 0);
  let covered = 0;
  return {
    add(list: readonly number[]): void {
      for (const at of list) {
        covered += left[at] ?? 0;
        left[at] = 0;
      }
    },
    isNearlyAll: (): boolean => covered >= NEARLY_ALL * all,
  };
}

/** Ranks texts by their common fingerprints with new lines: a rare fingerprint weighs more than a common one. */
function rankTexts(
  { tokens }: PreparedCode,
  isNew: Uint8Array,
  index: CopyIndex,
  settings: CopySettings,
): number[] {
  const room = Math.max(index.whole.endOfTexts, index.edited.endOfTexts);
  const scores = new Float64Array(room);
  const shared = new Uint32Array(room);
  const seen: number[] = [];
  const { whole, edited } = chooseSamplings(settings);
  const visited: number[] = [];
  const searchIndex = (from: HashIndex, window: number, weight: number, most: number): void => {
    const counts = weight > 1 ? FEWEST_SHARED : 1;
    const hashes = hashRuns(tokens.shapes, window);
    const asked = new Set<number>();
    for (let at = 0; at < hashes.length; at += 1) {
      const hash = hashes[at] as number;
      if ((isNew[at] !== 1 && isNew[at + window - 1] !== 1) || asked.has(hash)) continue;
      asked.add(hash);
      visited.length = 0;
      const count = from.visit(hash, most + 1, (text) => visited.push(text));
      if (count > most) continue;
      const score = weight / Math.sqrt(count);
      for (const text of visited) {
        if (shared[text] === 0) seen.push(text);
        (scores[text] as number) += score;
        (shared[text] as number) += counts;
      }
    }
  };
  searchIndex(index.whole, whole.window, 4, settings.maxFiles);
  searchIndex(index.edited, edited.window, 1, COMMON);
  return seen
    .filter((text) => (shared[text] as number) >= FEWEST_SHARED)
    .sort((one, other) => (scores[other] as number) - (scores[one] as number));
}

const sortCopies = (copies: FoundCopy[]): FoundCopy[] =>
  copies.sort(
    (one, other) => other.coverage - one.coverage || one.type - other.type || other.tokens - one.tokens,
  );
