import { ID, readNumber, TIME } from './shape.ts';

/** A unit of comparison: one or several lines, with the tokens of all of them. */
export interface ComparedItem {
  start: number;
  /** The line after its last line. */
  end: number;
  tokens: readonly string[];
  masked: readonly string[];
}

/** The odd ones among similar items, and the differences of the others. */
export interface OutputComparison {
  odd: Set<ComparedItem>;
  /** For the marker: every name with its number, then the range of the durations. */
  values: string;
}

/** Up to this many values, a rare value is odd. */
const FEW = 12;
/** Above this number, items are not odd. */
const MOST_ODD = 8;

/**
 * Compares items with equal masks token by token. A rare value among few, or a number far from the others, is odd.
 * Times and machine ids are ignored, durations are given as a range; all other differences are listed in full.
 */
export function compareItems(items: readonly ComparedItem[]): OutputComparison {
  const odd = new Set<ComparedItem>();
  const differing = listVarying(items);
  for (const at of differing) {
    for (const item of findRare(items, at, countValues(items, at))) odd.add(item);
    if (isNumeric(items, at)) for (const item of findFar(items, at)) odd.add(item);
  }
  const others = odd.size === 0 ? items : items.filter((item) => !odd.has(item));
  const example = others[0];
  if (example === undefined) return { odd, values: '' };
  const varying = (odd.size === 0 ? differing : listVarying(others)).filter(
    (at) => !isThread(example, at) && others.some(({ tokens }) => !isMachineId(tokens[at] as string)),
  );
  const durations = varying.filter((at) => isDuration(example, at));
  const names = describeNames(
    others,
    varying.filter((at) => !durations.includes(at) && !isStep(others, at)),
  );
  const ranges = durations.map((at) => describeRange(others, at));
  return { odd, values: [...names, ...ranges].join('; ') };
}

/** Returns the positions of tokens that differ between items; times always differ and are ignored. */
function listVarying(items: readonly ComparedItem[]): number[] {
  const [example] = items;
  if (example === undefined) return [];
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

function countValues(items: readonly ComparedItem[], at: number): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { tokens } of items) {
    const value = tokens[at] as string;
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return counts;
}

function isNumeric(items: readonly ComparedItem[], at: number): boolean {
  const mask = items[0]?.masked[at] as string;
  return !mask.includes(ID) && mask.includes('0') && items.every((item) => item.masked[at] === mask);
}

const MACHINE_ID =
  /0x[0-9a-f]{4,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?<![0-9a-z])(?=[0-9a-f]*\d)[0-9a-f]{16,}(?![0-9a-z])/gi;

/** Reports whether a token is a UUID, an address or a long hash, which changes from line to line; a short hash is a name. */
const isMachineId = (token: string): boolean => {
  const rest = token.replace(MACHINE_ID, '');
  return rest !== token && !/\d/.test(rest);
};

const THREAD = /^(?:worker|thread|pool|exec|executor|proc|process|pid|fiber|goroutine)\b[-\w]*$/i;

/** Reports whether a token is the thread that wrote the line, in brackets at its start. */
const isThread = ({ tokens }: ComparedItem, at: number): boolean =>
  at < 8 && /^[[(]$/.test(tokens[at - 1] ?? '') && THREAD.test(tokens[at] as string);

const WITH_UNIT = /^[(~+]?\d+(?:\.\d+)?(?:ns|us|µs|ms|s|sec|secs|m|min|h)[).,:]?$/;
const UNIT =
  /^(?:ns|us|µs|ms|msecs?|milli\p{L}*|s|secs?|seconds?|min|minutes?|sekunden?|secondes?|segundos?|ミリ秒|秒|毫秒|мс|сек|밀리초|초)[).,:]?$/iu;
const TIME_KEY = /(?:^|[._])(?:took|duration|elapsed|latency|ms|time|ts)$|(?:Time|Ms)$/;

/** Reports whether a token is a duration: the number of one event among many, not a name. */
function isDuration({ tokens }: ComparedItem, at: number): boolean {
  const token = tokens[at] as string;
  if (WITH_UNIT.test(token)) return true;
  if (!/^[\d.]+$/.test(token)) return false;
  return UNIT.test(tokens[at + 1] ?? '') || TIME_KEY.test(findKey(tokens, at));
}

/** Returns the key of a number, as in `took=5` and `"took": 5`. */
function findKey(tokens: readonly string[], at: number): string {
  let before = at - 1;
  while (before >= 0 && /^[=:"']+$/.test(tokens[before] as string)) before -= 1;
  return before === at - 1 ? '' : (tokens[before] ?? '').replace(/:$/, '');
}

const STEP = /^\(?(\d+)\/(\d+)[).,:]?$/;
const OF = /^(?:of|von|sur|de|di|van|из)$/;

/** Reports whether a token is a progress count such as `7/300` and `7 of 300`, one step after the other. */
function isStep(items: readonly ComparedItem[], at: number): boolean {
  let before = 0;
  return items.every(({ tokens }) => {
    const [, short, total = tokens[at + 2]] = STEP.exec(tokens[at] as string) ?? [];
    const step = short ?? (OF.test(tokens[at + 1] ?? '') ? tokens[at] : undefined);
    const isNext = Number(step) > before && Number(step) <= Number(total);
    before = Number(step);
    return isNext;
  });
}

function findRare(
  items: readonly ComparedItem[],
  at: number,
  counts: ReadonlyMap<string, number>,
): ComparedItem[] {
  if (counts.size > FEW || counts.size * 3 > items.length) return [];
  const limit = Math.max(1, Math.floor(items.length * 0.02));
  const rare = new Set([...counts].filter(([, count]) => count <= limit).map(([value]) => value));
  if (rare.size === 0 || rare.size === counts.size) return [];
  const found = items.filter((item) => rare.has(item.tokens[at] as string));
  return found.length <= Math.max(MOST_ODD, items.length * 0.03) ? found : [];
}

function findFar(items: readonly ComparedItem[], at: number): ComparedItem[] {
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

/** Reports whether a number is far outside the range of the others. */
export function createOutlierTest(numbers: readonly number[]): (number: number) => boolean {
  const sorted = numbers.filter(Number.isFinite).sort((a, b) => a - b);
  if (sorted.length < 5) return () => false;
  const quarter = (part: number): number => sorted[Math.floor((sorted.length - 1) * part)] as number;
  const low = quarter(0.25);
  const high = quarter(0.75);
  const reach = Math.max((high - low) * 4, Math.abs(high) * 0.5, 1e-9);
  return (number) => number > high + reach || number < low - reach;
}

/** Returns the values of each item at those positions, with the word before, in order; repetitions are counted. */
function describeNames(items: readonly ComparedItem[], places: readonly number[]): string[] {
  if (places.length === 0) return [];
  const spans = findSpans(items[0] as ComparedItem, places);
  const counts = new Map<string, number>();
  for (const { tokens } of items) {
    const said = spans.map(([from, to]) => joinTokens(tokens.slice(from, to + 1))).join(' ');
    counts.set(said, (counts.get(said) ?? 0) + 1);
  }
  return [[...counts].map(([said, count]) => (count > 1 ? `${said} ×${count}` : said)).join(', ')];
}

const PUNCTUATION = /^[,"'`()[\]{}=;<>|:]+$/;

/** Returns each position with the word that names it; positions separated only by punctuation are merged. */
function findSpans({ tokens }: ComparedItem, places: readonly number[]): [from: number, to: number][] {
  const spans: [number, number][] = [];
  for (const at of places) {
    let from = at;
    if (!/\p{L}/u.test(tokens[at] as string)) {
      while (from > 0 && from > at - 4 && PUNCTUATION.test(tokens[from - 1] as string)) from -= 1;
      from = from > 0 && /\p{L}/u.test(tokens[from - 1] as string) ? from - 1 : at;
    }
    const last = spans.at(-1);
    const between = last === undefined ? [] : tokens.slice(last[1] + 1, from);
    if (last !== undefined && between.every((token) => PUNCTUATION.test(token))) last[1] = at;
    else spans.push([from, at]);
  }
  return spans;
}

function joinTokens(tokens: readonly string[]): string {
  let text = '';
  for (const token of tokens) {
    if (/^["'`]+$/.test(token)) continue;
    const isJoined =
      text === '' ||
      token.startsWith(':') ||
      PUNCTUATION.test(token) ||
      PUNCTUATION.test(text.at(-1) as string);
    text += isJoined ? token : ` ${token}`;
  }
  return text;
}

function describeRange(items: readonly ComparedItem[], at: number): string {
  const sorted = [...countValues(items, at).keys()].sort((one, other) => readNumber(one) - readNumber(other));
  const { tokens } = items[0] as ComparedItem;
  const unit = WITH_UNIT.test(tokens[at] as string)
    ? ''
    : ` ${UNIT.test(tokens[at + 1] ?? '') ? tokens[at + 1] : findKey(tokens, at)}`;
  return `${sorted[0]}–${sorted.at(-1)}${unit}`;
}
