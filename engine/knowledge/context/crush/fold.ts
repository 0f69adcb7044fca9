import { type ComparedItem, compareItems } from './compare.ts';
import { tellsOfFailure } from './failure.ts';
import { type CleanedLines, endOfBlock } from './lines.ts';
import type { OutputMarks } from './recogniser.ts';
import { createShaper, indentOf, type LineShape, TIME } from './shape.ts';

/** Equivalent items; all but the kept ones can be omitted. */
export interface LineFold {
  items: readonly ComparedItem[];
  /** The kept items: the example, and odd ones. */
  kept: ReadonlySet<ComparedItem>;
  what: string;
  values: string;
  /** True if the marker comes before the kept item, not after it. */
  marksBefore?: boolean;
}

/** A log line: it starts with a time, a level or both. */
const LOGGED =
  /^\W?\s?(?:\d{4}[-/.]\d\d[-/.]\d\d[T_ ]+\d\d:\d\d|\d\d[-/.]\d\d[-/.]\d\d(?:\d\d)?,? \d\d:\d\d|\d\d:\d\d:\d\d|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL|NOTICE|info|warn|debug|trace)\b\]?|[IWEF]\d{4} |<\d+>|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d |\d+\.\d+\.\d+\.\d+ \S+ \S+ \[|\[ *\d+\.\d{6}\] |(?:ts|time|level|at)=)/;
/** The same as a JSON object: a level and a time. */
const LOGGED_LEVEL = /^\{.{0,200}?"(?:level|severity|lvl|levelname)" ?:/;
const LOGGED_TIME = /^\{.{0,200}?"(?:time|ts|timestamp|@timestamp|asctime)" ?:/;
const isLogLine = (line: string): boolean =>
  LOGGED.test(line) || (line.startsWith('{') && LOGGED_LEVEL.test(line) && LOGGED_TIME.test(line));
/** A result of a search as a JSON object: where it is, and what is there. A log entry has a message instead. */
const HIT_PLACE = /"(?:path|file|filename|uri|url|href|link)" ?: ?["{]/;
const HIT_TEXT =
  /"(?:lines?|line_number|lineno|snippet|title|excerpt|text|content|match|matches|submatches)" ?:/;
const HAS_MESSAGE = /"(?:msg|message|event)" ?:/;
const isSearchHit = (line: string): boolean =>
  line.includes('{"') && HIT_PLACE.test(line) && HIT_TEXT.test(line) && !HAS_MESSAGE.test(line);
const FRAME =
  /^\s*(?:at \S|File ".*", line \d+|#\d+\s+\S|by 0x[\dA-F]+: |from \S+:\d+|\d+: +\S+::|\.\.\. \d+ (?:more|common)|Caused by:|Suppressed:)/;
const PYTHON_TRACE = /^\s*(?:\+ )?(?:Exception Group )?Traceback \(most recent call last\):$/;
const CONTINUES = /^(?:Caused by:|Suppressed:|\s*\.\.\. \d+ (?:more|common))/;
const CHAINED = /^(?:During handling of|The above exception was)/;
/** Lines with an expectation, or a summary. */
const SPEAKS_FOR_ITSELF =
  /^\s*(?:[-+>|^~]|E\s|\(?(?:expected|received|actual|assert|want|got|left|right|diff|erwartet|erhalten|attendu|obtenu|esperado|obtenido|期待|実際|预期|实际)|(?:test (?:suites?|files|result)|tests?|snapshots?|suites|time|duration|ran|total|summary|finished|result|files|examples|assertions|coverage|ergebnis|gesamt|résultat|resumen|合計|总计)\b)/iu;
/** In Chinese, Japanese and Korean two characters form a word. */
const WORD = /\p{L}{3,}|[\u3040-\u30ff\u3400-\u9fff]{2}|[\uac00-\ud7a3]{2}/u;
/** A progress count: `7 of 300`, `7/300`. */
const PROGRESS = /(?<![\d./])(\d{1,9})(?: of | von | sur | de |\/)(\d{1,9})(?![\d./])/;

const LEAST_EQUAL = 4;
const LEAST_LOGGED = 6;
const LEAST_STEPS = 12;
const LEAST_UNITS = 3;
const LONGEST_UNIT = 400;
const LONGEST_LINE = 4000;
const MOST_TOKENS = 240;

/** Folds log lines in addition to traces and equal lines; `all` treats every line as a log line. */
export type FoldMode = 'all' | 'logs' | 'traces';

/** Finds repetition in lines that no recogniser marked. */
export function findFolds(
  { bodies }: CleanedLines,
  marks: OutputMarks,
  logged: Uint8Array,
  mode: FoldMode,
): LineFold[] {
  const shape = createShaper();
  const taken = new Uint8Array(bodies.length);
  for (let at = 0; at < bodies.length; at += 1) {
    const body = bodies[at] as string;
    if (marks[at] !== null || body === '' || body.length > LONGEST_LINE) taken[at] = 1;
  }
  const folds = foldUnits(bodies, taken, shape, mode);
  if (mode !== 'traces') foldLines(bodies, logged, taken, shape, mode, folds);
  foldSteps(bodies, taken, shape, folds);
  foldRuns(bodies, taken, mode, folds);
  return folds;
}

type Shaper = (line: string, exact?: boolean) => LineShape;

/** Folds lines with their indented lines, especially traces with their frames: equal units fold as a whole. */
function foldUnits(bodies: readonly string[], taken: Uint8Array, shape: Shaper, mode: FoldMode): LineFold[] {
  const groups = new Map<string, ComparedItem[]>();
  for (let at = 0; at < bodies.length; ) {
    const end = findUnitEnd(bodies, taken, at);
    if (end - at < 2 || end - at > LONGEST_UNIT) {
      at = Math.max(end, at + 1);
      continue;
    }
    const lines = bodies.slice(at, end);
    if (isFoldedUnit(lines, mode)) {
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
  const folds: LineFold[] = [];
  for (const items of groups.values()) {
    const first = items[0] as ComparedItem;
    if (items.length >= LEAST_UNITS) {
      const { odd, values } = compareItems(items);
      folds.push({ items, kept: new Set([first, ...odd]), what: 'more blocks like the one above', values });
      for (const { start, end } of items) taken.fill(1, start, end);
    }
  }
  // Lines below a failure concern that failure: they are not compared with lines of others.
  for (const items of groups.values()) {
    for (const { start, end } of items) {
      const isFailing =
        tellsOfFailure(bodies[start] as string) || bodies.slice(start, end).some((l) => FRAME.test(l));
      if (isFailing) taken.fill(1, start + 1, end);
    }
  }
  return folds;
}

const isFoldedUnit = (lines: readonly string[], mode: FoldMode): boolean =>
  mode === 'all' ||
  (mode === 'logs' && isLogLine(lines[0] as string)) ||
  lines.some((line) => FRAME.test(line));

/** Returns the end of the unit that starts at a line; the next line if there is no unit. */
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

/** Folds adjacent equal lines in output of a log or a recognised program. */
function foldRuns(bodies: readonly string[], taken: Uint8Array, mode: FoldMode, folds: LineFold[]): void {
  for (let at = 0; at < bodies.length; ) {
    let end = at + 1;
    while (end < bodies.length && bodies[end] === bodies[at]) end += 1;
    const isFrame = FRAME.test(bodies[at] as string);
    const isFrameOfKept = taken[at] === 1 && isFrame && !isInFold(folds, at);
    const isFree = taken[at] === 0 && (isFrame || mode !== 'traces');
    if (end - at >= LEAST_EQUAL && (isFree || isFrameOfKept) && WORD.test(bodies[at] as string)) {
      const items = Array.from({ length: end - at }, (_, index) =>
        toItem(at + index, { tokens: [], masked: [] }),
      );
      folds.push({ items, kept: new Set(items.slice(0, 1)), what: 'more times the line above', values: '' });
      taken.fill(1, at, end);
    }
    at = end;
  }
}

const isInFold = (folds: readonly LineFold[], at: number): boolean =>
  folds.some(({ items }) => items.some(({ start, end }) => start <= at && at < end));

const toItem = (at: number, { tokens, masked }: Pick<LineShape, 'tokens' | 'masked'>): ComparedItem => ({
  start: at,
  end: at + 1,
  tokens,
  masked,
});

/** Folds log lines that are equal except for times, durations and numbers, or one word. */
function foldLines(
  bodies: readonly string[],
  logged: Uint8Array,
  taken: Uint8Array,
  shape: Shaper,
  mode: FoldMode,
  folds: LineFold[],
): void {
  const groups = new Map<string, ComparedItem[]>();
  for (let at = 0; at < bodies.length; at += 1) {
    const body = bodies[at] as string;
    if (taken[at] === 1 || (mode !== 'all' && logged[at] !== 1) || isSearchHit(body)) continue;
    if (!SPEAKS_FOR_ITSELF.test(body) && !FRAME.test(body)) addLine(groups, at, shape(body));
  }
  const rest: ComparedItem[][] = [];
  for (const items of groups.values()) {
    if (items.length >= LEAST_LOGGED && hasWord(items[0] as ComparedItem)) foldGroup(items, taken, folds);
    else rest.push(items);
  }
  for (const items of joinByOneWord(
    rest.filter(([item]) => !tellsOfFailure(bodies[item?.start ?? 0] as string)),
  ))
    foldGroup(items, taken, folds);
}

/** Groups of lines that differ in one word at the same position, e.g. the name of an item. */
function joinByOneWord(groups: readonly ComparedItem[][]): ComparedItem[][] {
  const buckets = new Map<number, { groups: ComparedItem[][]; at: number; lines: number }>();
  for (const items of groups) {
    const { masked } = items[0] as ComparedItem;
    const each = masked.map((token, at) => Math.imul(hashText(token), 2 * at + 3) | 0);
    const whole = each.reduce((sum, hash) => (sum + hash) | 0, masked.length);
    for (let at = 0; at < masked.length; at += 1) {
      if (!isReplaceable(masked[at] as string)) continue;
      const hash = (whole - (each[at] as number) + Math.imul(at + 1, 0x9e3779b1)) | 0;
      const bucket = buckets.get(hash);
      if (bucket === undefined) buckets.set(hash, { groups: [items], at, lines: items.length });
      else {
        bucket.groups.push(items);
        bucket.lines += items.length;
      }
    }
  }
  const used = new Set<ComparedItem[]>();
  const joined: ComparedItem[][] = [];
  const large = [...buckets.values()].filter(({ groups: those }) => those.length > 1);
  for (const { groups: all, at } of large.sort((one, other) => other.lines - one.lines)) {
    const unused = all.filter((items) => !used.has(items));
    const example = unused[0]?.[0];
    if (example === undefined || !hasEnoughWords(example, at)) continue;
    const those = unused.filter(([item]) => item !== undefined && differsOnlyAt(item, example, at));
    const items = those.flat().sort((one, other) => one.start - other.start);
    if (those.length < 2 || items.length < LEAST_LOGGED + 2) continue;
    for (const group of those) used.add(group);
    joined.push(items);
  }
  return joined;
}

const isReplaceable = (masked: string): boolean =>
  /[\p{L}\p{N}]/u.test(masked) && masked !== TIME && !PLACED.test(masked);
/** The location of a finding never counts as a mere difference. */
const PLACED = /:\d/;

function hasEnoughWords(example: ComparedItem, at: number): boolean {
  const words = example.masked.filter((token, index) => index !== at && WORD.test(token)).length;
  return words >= (/^\p{L}+$/u.test(example.masked[at] as string) ? 2 : 1);
}

const differsOnlyAt = (item: ComparedItem, example: ComparedItem, at: number): boolean =>
  item.masked.length === example.masked.length &&
  item.masked.every((token, index) => index === at || token === example.masked[index]);

function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
}

const hasWord = ({ tokens, masked }: ComparedItem): boolean =>
  tokens.some((token, at) => token === masked[at] && WORD.test(token));

/** Progress lines such as `copying record 7 of 300`, one step after the other. */
function foldSteps(bodies: readonly string[], taken: Uint8Array, shape: Shaper, folds: LineFold[]): void {
  const groups = new Map<string, ComparedItem[]>();
  for (let at = 0; at < bodies.length; at += 1) {
    const body = bodies[at] as string;
    const step = taken[at] === 1 || tellsOfFailure(body) ? null : PROGRESS.exec(body);
    if (step === null || Number(step[1]) > Number(step[2])) continue;
    const rest = `${body.slice(0, step.index)}\u0000${step[2]}\u0000${body.slice(step.index + step[0].length)}`;
    const shaped = shape(body);
    if (shaped.tokens.length > 0) addLine(groups, at, { ...shaped, key: rest });
  }
  for (const items of groups.values()) {
    const steps = items.map(({ start }) => Number(PROGRESS.exec(bodies[start] as string)?.[1]));
    const [first = 0, second = 0] = steps;
    // A missing step is news; the last one may be shorter.
    const isCounted = steps.every(
      (step, at) =>
        step === first + at * (second - first) || (at === steps.length - 1 && step > (steps[at - 1] ?? 0)),
    );
    if (items.length >= LEAST_STEPS && second > first && isCounted) {
      const last = items.at(-1) as ComparedItem;
      folds.push({ items, kept: new Set([last]), what: 'earlier steps', values: '', marksBefore: true });
      for (const { start } of items) taken[start] = 1;
    }
  }
}

function addLine(groups: Map<string, ComparedItem[]>, at: number, shaped: LineShape): void {
  if (shaped.tokens.length > MOST_TOKENS) return;
  const group = groups.get(shaped.key);
  if (group === undefined) groups.set(shaped.key, [toItem(at, shaped)]);
  else group.push(toItem(at, shaped));
}

function foldGroup(items: ComparedItem[], taken: Uint8Array, folds: LineFold[]): void {
  const { odd, values } = compareItems(items);
  const [first, last] = [items[0], items.at(-1)] as [ComparedItem, ComparedItem];
  folds.push({
    items,
    // The last row of a table that is printed while it runs is its present state.
    kept: new Set([first, ...odd, ...(isTableRow(last) ? [last] : [])]),
    what: 'more lines like the one above',
    values,
  });
  for (const { start } of items) taken[start] = 1;
}

/** Reports whether a line is mostly numbers. */
function isTableRow({ tokens, masked }: ComparedItem): boolean {
  const numbers = tokens.filter((token, at) => masked[at] !== TIME && /^[\d.,]+%?$/.test(token)).length;
  return numbers >= 3 && numbers * 2 > tokens.length - 2;
}

/** Returns the lines that a log wrote, and their share of the text. */
export function findLogLines({ lines, bodies }: CleanedLines): { logged: Uint8Array; share: number } {
  const logged = new Uint8Array(bodies.length);
  let filled = 0;
  let count = 0;
  for (let at = 0; at < bodies.length; at += 1) {
    const body = bodies[at] as string;
    if (body === '') continue;
    filled += 1;
    if (!isLogLine(body) && (body === lines[at] || !isLogLine(lines[at] as string))) continue;
    logged[at] = 1;
    count += 1;
  }
  return { logged, share: count / Math.max(1, filled) };
}
