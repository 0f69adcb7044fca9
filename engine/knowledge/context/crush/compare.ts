import { ID, readNumber, TIME } from './shape.ts';

/** What is compared: one line or several, with the tokens of all of them. */
export interface Item {
  start: number;
  /** After its last line. */
  end: number;
  tokens: readonly string[];
  masked: readonly string[];
}

/** Which of many items alike are odd, and what the others differ in. */
export interface Comparison {
  odd: Set<Item>;
  /** For the marker, e.g. `status 200, 304; ms 3–41`. */
  values: string;
}

/** Values up to this many are named one by one. */
const FEW = 12;
const SHORT_BYTES = 200;
const ALL_BYTES = 1500;
/** More odd ones than this are not odd. */
const MOST_ODD = 8;

/**
 * Compares items with equal masks token by token. Odd is a rare value among few, and a number far from the others.
 * With `tellAll` every value is told, as long as that is no flood.
 */
export function compareItems(items: readonly Item[], tellAll: boolean): Comparison {
  const varying = listVarying(items);
  const odd = new Set<Item>();
  for (const at of varying) {
    for (const item of findRare(items, at, countValues(items, at))) odd.add(item);
    if (isNumeric(items, at)) for (const item of findFar(items, at)) odd.add(item);
  }
  const others = odd.size === 0 ? items : items.filter((item) => !odd.has(item));
  const told: string[] = [];
  for (const at of varying) {
    const isId = items[0]?.masked[at]?.includes(ID) === true;
    const counts = countValues(others, at);
    if ((isId && !tellAll) || counts.size < 2) continue;
    told.push(`${labelOf(items[0] as Item, at)}${describeValues(counts, isNumeric(items, at), tellAll)}`);
  }
  return { odd, values: told.join('; ') };
}

/** The places of tokens that are not the same in all items; times differ always and tell nothing. */
function listVarying(items: readonly Item[]): number[] {
  const example = items[0] as Item;
  const varying: number[] = [];
  for (const [at, first] of example.tokens.entries()) {
    if (example.masked[at] === TIME) continue;
    for (const { tokens } of items) {
      if (tokens[at] === first) continue;
      varying.push(at);
      break;
    }
  }
  return varying;
}

function countValues(items: readonly Item[], at: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { tokens } of items) {
    const value = tokens[at] as string;
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}

function isNumeric(items: readonly Item[], at: number): boolean {
  const mask = items[0]?.masked[at] as string;
  return !mask.includes(ID) && mask.includes('0') && items.every((item) => item.masked[at] === mask);
}

/** The word before a value, where it is the same in all. */
function labelOf(item: Item, at: number): string {
  for (let before = at - 1; before >= 0 && before >= at - 4; before -= 1) {
    const word = item.masked[before] as string;
    if (/^[\p{L}_][\p{L}_.-]*:?$/u.test(word)) return `${word} `;
    if (!/^[=:"'([]$/.test(word)) return '';
  }
  return '';
}

function findRare(items: readonly Item[], at: number, counts: ReadonlyMap<string, number>): Item[] {
  if (counts.size > FEW || counts.size * 3 > items.length) return [];
  const limit = Math.max(1, Math.floor(items.length * 0.02));
  const rare = new Set([...counts].filter(([, count]) => count <= limit).map(([value]) => value));
  if (rare.size === 0 || rare.size === counts.size) return [];
  const found = items.filter((item) => rare.has(item.tokens[at] as string));
  return found.length <= Math.max(MOST_ODD, items.length * 0.03) ? found : [];
}

function findFar(items: readonly Item[], at: number): Item[] {
  const numbers = items.map((item) => readNumber(item.tokens[at] as string));
  const isFar = createOutlierTest(numbers);
  const zeros = numbers.filter((number) => number === 0).length;
  const isLoneZero = zeros > 0 && zeros <= Math.max(1, numbers.length * 0.02);
  const found = items.filter((_, index) => {
    const number = numbers[index] as number;
    return isFar(number) || (isLoneZero && number === 0);
  });
  return found.length <= Math.max(2, Math.min(MOST_ODD, items.length * 0.05)) ? found : [];
}

/** Whether a number lies far outside of where the others are. */
export function createOutlierTest(numbers: readonly number[]): (number: number) => boolean {
  const sorted = numbers.filter(Number.isFinite).sort((a, b) => a - b);
  if (sorted.length < 5) return () => false;
  const quarter = (part: number): number => sorted[Math.floor((sorted.length - 1) * part)] as number;
  const low = quarter(0.25);
  const high = quarter(0.75);
  const reach = Math.max((high - low) * 4, Math.abs(high) * 0.5, 1e-9);
  return (number) => number > high + reach || number < low - reach;
}

function describeValues(counts: ReadonlyMap<string, number>, isAmount: boolean, tellAll: boolean): string {
  const named = [...counts.keys()];
  const byCount = [...counts].map(([value, count]) => (count > 1 ? `${value} ×${count}` : value)).join(', ');
  if (counts.size <= FEW && byCount.length <= SHORT_BYTES) return byCount;
  const all = named.join(', ');
  if (all.length <= (tellAll ? ALL_BYTES : SHORT_BYTES / 2)) return all;
  if (!isAmount) return `${counts.size} different`;
  const sorted = named.map((value) => [readNumber(value), value] as const).sort(([a], [b]) => a - b);
  return `${sorted[0]?.[1]}–${sorted.at(-1)?.[1]}`;
}
