import type { Code } from '../code/read-code.ts';
import { alignTexts } from './align.ts';
import { hashRuns } from './fingerprints.ts';
import type { HashIndex } from './hash-index.ts';
import { type Copy, judgeAlignment } from './judge.ts';
import { type CopySettings, chooseSamplings } from './settings.ts';

/** Copies of one text in another one. */
export interface FoundCopy extends Copy {
  /** The number of the text that was there before. */
  text: number;
}

export interface CopyIndex {
  whole: HashIndex;
  edited: HashIndex;
}

/** Texts that are compared token by token, those with the most fingerprints in common. */
const MOST_COMPARED = 25;
/** Of one text. */
const MOST_COPIES = 3;
/** A fingerprint of edited copies that more texts have than this says nothing. */
const COMMON = 60;

/**
 * Finds what the new lines of a text have in common with texts of an index, most of a function first.
 * @param open reads a text by its number; null for one that is not to be compared
 * @param isLate asked between two texts: whether the time is over
 */
export function findCopies(
  mine: Code,
  isNew: Uint8Array,
  {
    index,
    settings,
    open,
    isLate,
  }: {
    index: CopyIndex;
    settings: CopySettings;
    open(text: number): Code | null;
    isLate(): boolean;
  },
): { copies: FoundCopy[]; isPartial: boolean } {
  const ranked = rankTexts(mine, isNew, index, settings);
  const copies: FoundCopy[] = [];
  let compared = 0;
  for (const text of ranked) {
    if (compared === MOST_COMPARED) break;
    if (isLate()) return { copies: sortCopies(copies), isPartial: true };
    const theirs = open(text);
    if (theirs === null) continue;
    compared += 1;
    for (const aligned of alignTexts(mine.tokens, theirs.tokens, isNew, MOST_COPIES)) {
      if (aligned.mine.length < settings.minTokens) break;
      const copy = judgeAlignment(mine, theirs, aligned, { isNew, minTokens: settings.minTokens });
      if (copy !== null) copies.push({ ...copy, text });
    }
  }
  return { copies: sortCopies(copies), isPartial: false };
}

/** Texts by what their fingerprints have in common with new lines: a rare one says more than a common one. */
function rankTexts({ tokens }: Code, isNew: Uint8Array, index: CopyIndex, settings: CopySettings): number[] {
  const scores = new Map<number, number>();
  const { whole, edited } = chooseSamplings(settings);
  const visited: number[] = [];
  const look = (from: HashIndex, window: number, weight: number, most: number): void => {
    const hashes = hashRuns(tokens.shapes, window);
    const asked = new Set<number>();
    for (let at = 0; at < hashes.length; at += 1) {
      const hash = hashes[at] as number;
      if ((isNew[at] !== 1 && isNew[at + window - 1] !== 1) || asked.has(hash)) continue;
      asked.add(hash);
      visited.length = 0;
      const count = from.visit(hash, most + 1, (text) => visited.push(text));
      if (count > most) continue;
      for (const text of visited) scores.set(text, (scores.get(text) ?? 0) + weight / Math.sqrt(count));
    }
  };
  look(index.whole, whole.window, 4, settings.maxFiles);
  look(index.edited, edited.window, 1, COMMON);
  return [...scores].sort(([, one], [, other]) => other - one).map(([text]) => text);
}

const sortCopies = (copies: FoundCopy[]): FoundCopy[] =>
  copies.sort(
    (one, other) => other.coverage - one.coverage || one.type - other.type || other.tokens - one.tokens,
  );
