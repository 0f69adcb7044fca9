import { compareItems, type Item } from './compare.ts';
import { tellsOfFailure } from './failure.ts';
import { type CleanedLines, endOfBlock } from './lines.ts';
import type { Marks } from './recogniser.ts';
import { createShaper, indentOf, type Shape } from './shape.ts';

/** Items that say the same; all but those kept can be left out. */
export interface Fold {
  items: readonly Item[];
  /** Those that stay: the example, and what is odd. */
  kept: ReadonlySet<Item>;
  what: string;
  values: string;
  /** Whether the marker stands before the one kept rather than after. */
  marksBefore?: boolean;
}

const LOGGED =
  /^\W?\s?(?:\d{4}[-/.]\d\d[-/.]\d\d|\d\d[-/.]\d\d[-/.]\d\d(?:\d\d)?,? \d\d:\d\d|\d\d:\d\d:\d\d|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL|NOTICE|info|warn|debug|trace)\b\]?|[IWEF]\d{4} |<\d+>|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d |\d+\.\d+\.\d+\.\d+ \S+ \S+ \[|\{"|(?:ts|time|level|at)=)/;
const FRAME =
  /^\s*(?:at \S|File ".*", line \d+|#\d+\s+\S|by 0x[\dA-F]+: |from \S+:\d+|\d+: +\S+::|\.\.\. \d+ (?:more|common)|Caused by:|Suppressed:)/;
const PYTHON_TRACE = /^\s*(?:\+ )?(?:Exception Group )?Traceback \(most recent call last\):$/;
const CONTINUES = /^(?:Caused by:|Suppressed:|\s*\.\.\. \d+ (?:more|common))/;
const CHAINED = /^(?:During handling of|The above exception was)/;
/** What tells of what was expected, or sums up. */
const SPEAKS_FOR_ITSELF =
  /^\s*(?:[-+>|^~]|E\s|\(?(?:expected|received|actual|assert|want|got|left|right|diff|erwartet|erhalten|attendu|obtenu|esperado|obtenido|期待|実際|预期|实际)|(?:test (?:suites?|files|result)|tests?|snapshots?|suites|time|duration|ran|total|summary|finished|result|files|examples|assertions|coverage|ergebnis|gesamt|résultat|resumen|合計|总计)\b)/iu;
const PLAIN_WORD = /^\p{L}{2,}[.:]?$/u;
/** Chinese, Japanese and Korean make a word of two characters; the first two put no blank between words. */
const WORD = /\p{L}{3,}|[\u3040-\u30ff\u3400-\u9fff]{2}|[\uac00-\ud7a3]{2}/u;
const UNSPACED_WORDS = /[\u3040-\u30ff\u3400-\u9fff]{2}/g;
const IDENTIFIER_WITH_DIGITS = /\p{L}/u;
const AMOUNT = /^[#~+-]?\d[\d.,:]*(?:ns|us|µs|ms|s|m|h|%|[kKMGT]i?B?(?:\/s)?)?[:.]?$/;

const LEAST_EQUAL = 4;
const LEAST_LOGGED = 6;
const LEAST_OTHER = 12;
const LEAST_FAILING = 6;
const LEAST_ROWS = 20;
const LEAST_UNITS = 3;
const LONGEST_UNIT = 400;
const LONGEST_LINE = 4000;
const MOST_TOKENS = 80;

/**
 * How much of the text may be folded: everything that repeats; of lines that no log wrote only those that differ in
 * amounts (`rows`); only what differs in numbers, of a text that is nothing known (`numbers`); traces and equal lines.
 */
export type FoldMode = 'all' | 'rows' | 'numbers' | 'traces';

/** Finds what repeats in the lines that no recogniser marked. */
export function findFolds(text: CleanedLines, marks: Marks, mode: FoldMode): Fold[] {
  const { bodies } = text;
  const shape = createShaper();
  const taken = new Uint8Array(bodies.length);
  for (let at = 0; at < bodies.length; at += 1) {
    const body = bodies[at] as string;
    if (marks[at] !== null || body === '' || body.length > LONGEST_LINE) taken[at] = 1;
  }
  const folds = foldUnits(bodies, taken, shape, mode);
  if (mode !== 'traces') foldLines(bodies, taken, shape, mode, folds);
  foldRuns(bodies, taken, folds);
  return folds;
}

type Shaper = (line: string, exact?: boolean) => Shape;

/** A line with what is indented below it, above all a trace with its frames: equal ones fold as a whole. */
function foldUnits(bodies: readonly string[], taken: Uint8Array, shape: Shaper, mode: FoldMode): Fold[] {
  const groups = new Map<string, Item[]>();
  for (let at = 0; at < bodies.length; ) {
    const end = findUnitEnd(bodies, taken, at);
    if (end - at < 2 || end - at > LONGEST_UNIT) {
      at = Math.max(end, at + 1);
      continue;
    }
    const lines = bodies.slice(at, end);
    if (mode === 'all' || lines.some((line) => FRAME.test(line))) {
      const shapes = lines.map((line, index) => shape(line, index > 0 && indentOf(line) > 0));
      const key = shapes.map((each) => each.key).join('\n');
      const item = {
        start: at,
        end,
        tokens: shapes.flatMap((each) => each.tokens),
        masked: shapes.flatMap((each) => each.masked),
      };
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [item]);
      else group.push(item);
    }
    at = end;
  }
  const folds: Fold[] = [];
  for (const items of groups.values()) {
    const first = items[0] as Item;
    if (items.length >= LEAST_UNITS) {
      const { odd, values } = compareItems(items, true);
      folds.push({ items, kept: new Set([first, ...odd]), what: 'more blocks like the one above', values });
      for (const { start, end } of items) taken.fill(1, start, end);
    }
  }
  // What stands below a failure is about that failure: it is not compared with the lines of others.
  for (const items of groups.values()) {
    for (const { start, end } of items) {
      const isFailing =
        tellsOfFailure(bodies[start] as string) || bodies.slice(start, end).some((l) => FRAME.test(l));
      if (isFailing) taken.fill(1, start + 1, end);
    }
  }
  return folds;
}

/** Where the unit that begins at a line ends; the line after it where there is none. */
function findUnitEnd(bodies: readonly string[], taken: Uint8Array, at: number): number {
  if (taken[at] === 1) return at + 1;
  let end = at + 1;
  const isFree = (index: number): boolean => index < bodies.length && taken[index] === 0;
  if (PYTHON_TRACE.test(bodies[at] as string)) {
    const indent = indentOf(bodies[at] as string);
    while (isFree(end) && indentOf(bodies[end] as string) > indent) end += 1;
    return isFree(end) ? end + 1 : end;
  }
  const last = Math.min(bodies.length, endOfBlock(bodies, at));
  while (isFree(end) && end < last) end += 1;
  if (end - at < 2) return end;
  while (isFree(end) && (CONTINUES.test(bodies[end] as string) || CHAINED.test(bodies[end] as string)))
    end = Math.min(endOfBlock(bodies, end), bodies.length);
  return end;
}

/** The same line again and again, directly below itself. */
function foldRuns(bodies: readonly string[], taken: Uint8Array, folds: Fold[]): void {
  for (let at = 0; at < bodies.length; ) {
    let end = at + 1;
    while (end < bodies.length && bodies[end] === bodies[at]) end += 1;
    const isFrameOfKept = taken[at] === 1 && FRAME.test(bodies[at] as string) && !isInFold(folds, at);
    if (end - at >= LEAST_EQUAL && (taken[at] === 0 || isFrameOfKept) && WORD.test(bodies[at] as string)) {
      const items = Array.from({ length: end - at }, (_, index) =>
        toItem(at + index, { tokens: [], masked: [] }),
      );
      folds.push({ items, kept: new Set(items.slice(0, 1)), what: 'more times the line above', values: '' });
      taken.fill(1, at, end);
    }
    at = end;
  }
}

const isInFold = (folds: readonly Fold[], at: number): boolean =>
  folds.some(({ items }) => items.some(({ start, end }) => start <= at && at < end));

const toItem = (at: number, { tokens, masked }: Pick<Shape, 'tokens' | 'masked'>): Item => ({
  start: at,
  end: at + 1,
  tokens,
  masked,
});

interface LineGroup {
  items: Item[];
  isFailing: boolean;
  isLogged: boolean;
}

function foldLines(
  bodies: readonly string[],
  taken: Uint8Array,
  shape: Shaper,
  mode: FoldMode,
  folds: Fold[],
): void {
  const groups = new Map<string, LineGroup>();
  for (let at = 0; at < bodies.length; at += 1) {
    const body = bodies[at] as string;
    if (taken[at] === 1 || SPEAKS_FOR_ITSELF.test(body) || FRAME.test(body)) continue;
    const shaped = shape(body);
    if (shaped.tokens.length > MOST_TOKENS * 3) continue;
    const group = groups.get(shaped.key);
    if (group !== undefined) group.items.push(toItem(at, shaped));
    else {
      groups.set(shaped.key, {
        items: [toItem(at, shaped)],
        isFailing: tellsOfFailure(body),
        isLogged: LOGGED.test(body),
      });
    }
  }
  const rest: LineGroup[] = [];
  for (const group of groups.values()) {
    const hasNames = mode === 'rows' || group.isFailing;
    for (const part of hasNames && !group.isLogged ? splitByNames(group) : [group]) {
      if (isWorthFolding(part, mode)) {
        folds.push(toFold(part));
        for (const { start } of part.items) taken[start] = 1;
      } else rest.push(part);
    }
  }
  if (mode === 'all' || mode === 'rows')
    foldByOneWord(mode === 'all' ? rest : rest.filter((group) => group.isLogged), folds, taken);
}

/** Failures fold only where they differ in amounts, times and ids: `test_07` is a name and no number. */
function splitByNames(group: LineGroup): LineGroup[] {
  const parts = new Map<string, LineGroup>();
  for (const item of group.items) {
    const names = item.tokens.filter(
      (token, at) => token !== item.masked[at] && isNameWithNumber(token, item.masked[at] as string),
    );
    const key = names.join('\u0000');
    const part = parts.get(key);
    if (part === undefined) parts.set(key, { ...group, items: [item] });
    else part.items.push(item);
  }
  return [...parts.values()];
}

const isNameWithNumber = (token: string, masked: string): boolean =>
  !masked.startsWith('<') && IDENTIFIER_WITH_DIGITS.test(token) && !AMOUNT.test(token);

function isWorthFolding({ items, isFailing, isLogged }: LineGroup, mode: FoldMode): boolean {
  const first = items[0] as Item;
  if (!first.tokens.some((token, at) => token === first.masked[at] && WORD.test(token))) return false;
  if (mode === 'numbers') return items.length >= LEAST_OTHER;
  if (mode === 'rows' && !isLogged) return !isFailing && items.length >= LEAST_ROWS;
  if (isFailing) return items.length >= LEAST_FAILING;
  return items.length >= (isLogged ? LEAST_LOGGED : LEAST_OTHER);
}

function toFold({ items, isFailing }: LineGroup): Fold {
  const { odd, values } = compareItems(items, isFailing);
  return { items, kept: new Set([items[0] as Item, ...odd]), what: 'more lines like the one above', values };
}

/** Lines that differ in one word at the same place, e.g. the name of what was done. */
function foldByOneWord(groups: readonly LineGroup[], folds: Fold[], taken: Uint8Array): void {
  const free = groups.filter(({ items, isFailing }) => {
    const { masked } = items[0] as Item;
    return !isFailing && masked.length >= 2 && masked.length <= MOST_TOKENS;
  });
  const buckets = new Map<number, { groups: LineGroup[]; at: number; lines: number }>();
  const hashes = free.map(({ items }) => {
    const { masked } = items[0] as Item;
    const each = masked.map((token, at) => Math.imul(hashText(token), 2 * at + 3) | 0);
    const whole = each.reduce((sum, hash) => (sum + hash) | 0, masked.length);
    return masked.map((_, at) => (whole - (each[at] as number) + Math.imul(at + 1, 0x9e3779b1)) | 0);
  });
  for (const [index, group] of free.entries()) {
    const { masked } = group.items[0] as Item;
    for (let at = 0; at < masked.length; at += 1) {
      if (!isReplaceable(masked[at] as string)) continue;
      const hash = hashes[index]?.[at] as number;
      const bucket = buckets.get(hash);
      if (bucket === undefined) buckets.set(hash, { groups: [group], at, lines: group.items.length });
      else {
        bucket.groups.push(group);
        bucket.lines += group.items.length;
      }
    }
  }
  const used = new Set<LineGroup>();
  const large = [...buckets.values()].filter(({ groups: those }) => those.length > 1);
  for (const { groups: all, at } of large.sort((a, b) => b.lines - a.lines)) {
    const unused = all.filter((group) => !used.has(group));
    const example = unused[0]?.items[0];
    if (example === undefined) continue;
    const those = unused.filter(({ items }) => differsOnlyAt(items[0] as Item, example, at));
    const isLogged = those.every((group) => group.isLogged);
    const items = those.flatMap((group) => group.items).sort((a, b) => a.start - b.start);
    if (those.length < 2 || items.length < (isLogged ? LEAST_LOGGED + 2 : LEAST_OTHER)) continue;
    if (!hasEnoughWords(example, at)) continue;
    for (const group of those) used.add(group);
    folds.push(toFold({ items, isFailing: false, isLogged }));
    for (const { start } of items) taken[start] = 1;
  }
}

const isReplaceable = (masked: string): boolean =>
  /[\p{L}\p{N}]/u.test(masked) && !masked.startsWith('<t') && !PLACED.test(masked);
/** The place of a finding is never what lines merely differ in. */
const PLACED = /:\d/;

function hasEnoughWords(example: Item, at: number): boolean {
  const words = example.masked.filter((token, index) => index !== at && WORD.test(token)).length;
  return words >= (/^\p{L}+$/u.test(example.masked[at] as string) ? 2 : 1);
}

const differsOnlyAt = (item: Item, example: Item, at: number): boolean =>
  item.masked.length === example.masked.length &&
  item.masked.every((token, index) => index === at || token === example.masked[index]);

function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

/** How much of a text is a log: lines that begin with a time or a level. */
export const shareOfLogLines = (bodies: readonly string[]): number => {
  let filled = 0;
  let logged = 0;
  for (const body of bodies) {
    if (body === '') continue;
    filled += 1;
    if (LOGGED.test(body)) logged += 1;
  }
  return logged / Math.max(1, filled);
};

const countWords = (tokens: readonly string[]): number =>
  tokens.reduce(
    (sum, token) => sum + (token.match(UNSPACED_WORDS)?.length ?? (PLAIN_WORD.test(token) ? 1 : 0)),
    0,
  );

/** Whether most lines are the same few but for numbers in them. */
export function consistsOfRepeats(bodies: readonly string[]): boolean {
  const shape = createShaper();
  const counts = new Map<string, number>();
  let filled = 0;
  for (const body of bodies) {
    if (body.trim() === '') continue;
    filled += 1;
    const { key, tokens } = shape(body);
    if (countWords(tokens) >= 2) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  let repeated = 0;
  for (const count of counts.values()) if (count >= LEAST_OTHER) repeated += count;
  return repeated > filled / 2;
}
