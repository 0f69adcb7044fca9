import { cleanTerminalText, needsCleaning } from './clean.ts';
import { type ComparedItem, createOutlierTest } from './compare.ts';
import { findContent } from './content.ts';
import { findFolds, findLogLines, type LineFold } from './fold.ts';
import { isJson } from './json.ts';
import { RECOGNISERS } from './kinds/index.ts';
import { type CleanedLines, readBodies } from './lines.ts';
import { formatMarker, hasMarker } from './marker.ts';
import type { NoiseClass, OutputMarks, OutputRecogniser } from './recogniser.ts';

/** The detected type of a text: noise of some program, content that passes unchanged, or unknown (`text`). */
export type CrushKind =
  | 'tests'
  | 'packages'
  | 'build'
  | 'compiler'
  | 'linter'
  | 'containers'
  | 'git'
  | 'progress'
  | 'ci'
  | 'log'
  | 'traces'
  | 'json'
  | 'diff'
  | 'grep'
  | 'paths'
  | 'source'
  | 'table'
  | 'crushed'
  | 'text';

/** Types that a caller can set, for a text that is not recognised. */
export const CRUSH_KINDS = ['log', 'json', 'text'] as const;

export interface CrushOptions {
  /** How the reader gets the omitted text; it ends every marker. */
  whole?: string;
  /** Forces a type: `text` and `json` are left unchanged, in a `log` every line may repeat. */
  kind?: (typeof CRUSH_KINDS)[number];
}

/** An omission. */
export interface TextOmission {
  /** Number of lines. */
  count: number;
  what: string;
  /** The first affected line, from 1, in the original text. */
  line: number;
}

export interface CrushedText {
  text: string;
  kind: CrushKind;
  bytesIn: number;
  bytesOut: number;
  omissions: TextOmission[];
}

const WHOLE = 'the output before svc context crush';

/**
 * Omits repetition and success messages from a program's output, with a counted marker instead. The same text gives
 * the same result, a crushed text stays unchanged, and the result is never longer.
 */
export function crush(text: string, { whole = WHOLE, kind }: CrushOptions = {}): CrushedText {
  const bytesIn = Buffer.byteLength(text);
  const makeCrushed = (out: string, found: CrushKind, omissions: TextOmission[] = []): CrushedText => ({
    text: out,
    kind: found,
    bytesIn,
    bytesOut: omissions.length === 0 && out === text ? bytesIn : Buffer.byteLength(out),
    omissions,
  });
  if (kind === 'text' || text.includes('\u0000')) return makeCrushed(text, 'text');
  if (hasMarker(text)) return makeCrushed(text, 'crushed');
  if (kind === 'json' || (kind !== 'log' && isJson(text))) return makeCrushed(text, 'json');
  const { lines, redrawn, names } = cleanTerminalText(text);
  const read = readBodies(lines);
  const applied = EVIDENCE.filter(({ evidence }) => evidence.test(read.body)).map(
    ({ recogniser }) => recogniser,
  );
  const mayBeContent = kind === undefined && !applied.some(({ isDocument }) => isDocument);
  const content = mayBeContent ? findContent(lines, () => applied.length > 0) : null;
  if (content !== null) return makeCrushed(text, content);
  const cleaned = needsCleaning(text) ? lines.join('\n') : text;
  const noise = crushLines(read, applied, whole, kind === 'log');
  const isShorter = Buffer.byteLength(noise.text) < Buffer.byteLength(cleaned);
  const out = isShorter ? noise.text : cleaned;
  const omissions = isShorter ? noise.omissions : [];
  const found = isShorter || cleaned === text ? noise.kind : redrawn > 0 ? 'progress' : noise.kind;
  if (redrawn > 0) {
    const marker = formatMarker(
      { count: redrawn, what: 'redrawn states of lines', values: names.join(', ') },
      whole,
    );
    const marked = `${out}${out.endsWith('\n') || out === '' ? '' : '\n'}${marker}\n`;
    if (Buffer.byteLength(marked) < bytesIn)
      return makeCrushed(marked, found, [
        ...omissions,
        { count: redrawn, what: 'redrawn states of lines', line: 1 },
      ]);
  }
  return makeCrushed(out, found, omissions);
}

interface CrushedLines {
  text: string;
  kind: CrushKind;
  omissions: TextOmission[];
}

const EVIDENCE = RECOGNISERS.map((recogniser) => ({
  recogniser,
  evidence: new RegExp(recogniser.evidence.source, `m${recogniser.evidence.flags}`),
}));

function crushLines(
  text: CleanedLines,
  applied: readonly OutputRecogniser[],
  whole: string,
  isForced: boolean,
): CrushedLines {
  const { lines, bodies } = text;
  const marks: OutputMarks = new Array(lines.length).fill(null);
  const kinds = new Map<string, number>();
  for (const recogniser of applied) if (!recogniser.isLate) markLines(recogniser, text, marks, kinds);
  const { logged, share: logShare } = findLogLines(text);
  const isLog = logShare > 0.3 || applied.some(({ isLate }) => isLate !== true);
  const mode = isForced ? 'all' : isLog ? 'logs' : 'traces';
  const repeats = findFolds(text, marks, logged, mode);
  const folded = listDropped(repeats, lines.length);
  for (const recogniser of applied) if (recogniser.isLate) markLines(recogniser, text, marks, kinds);
  for (const at of folded.keys()) if (folded[at] === 1) marks[at] = null;
  const folds = [...foldClasses(bodies, marks), ...repeats];
  const written = writeLines(text, folds, whole);
  const [most] = [...kinds].sort(([, one], [, other]) => other - one);
  const kind =
    most?.[0] ?? applied[0]?.kind ?? (logShare > 0.3 ? 'log' : folds.length > 0 ? 'traces' : 'text');
  return { ...written, kind: kind as CrushKind };
}

/** Returns the lines that folds omit. */
function listDropped(folds: readonly LineFold[], length: number): Uint8Array {
  const dropped = new Uint8Array(length);
  for (const { items, kept } of folds)
    for (const item of items) if (!kept.has(item)) dropped.fill(1, item.start, item.end);
  return dropped;
}

function markLines(
  recogniser: OutputRecogniser,
  text: CleanedLines,
  marks: OutputMarks,
  kinds: Map<string, number>,
): void {
  const { bodies } = text;
  let count = 0;
  for (let at = 0; at < bodies.length; at += 1) {
    const body = bodies[at] as string;
    if (marks[at] !== null || body === '' || body.length > LONGEST_MARKED) continue;
    const found = recogniser.classes.find(({ pattern }) => pattern.test(body));
    if (found === undefined) continue;
    marks[at] = found;
    count += 1;
  }
  recogniser.mark?.(text, marks);
  kinds.set(recogniser.kind, (kinds.get(recogniser.kind) ?? 0) + count);
}

/** Maximum size of a marker as a share of the omitted text. */
const WORTH = 0.7;
/** Longer lines are beyond what the patterns describe. */
const LONGEST_MARKED = 1000;

/** Folds all equivalent lines of a kind together; progress states fold run by run. */
function foldClasses(bodies: readonly string[], marks: OutputMarks): LineFold[] {
  const byWhat = new Map<string, { noise: NoiseClass; items: ComparedItem[] }>();
  const keyOf = ({ what, values = '' }: NoiseClass): string => `${what}\n${values}`;
  const folds: LineFold[] = [];
  for (let at = 0; at < bodies.length; at += 1) {
    const noise = marks[at];
    if (noise === null || noise === undefined) continue;
    if (noise.keep === 'last-of-run' || noise.keep === 'first-of-run') {
      const items = [toItem(at)];
      const name = nameDisplay(bodies[at] as string);
      while (isSameRun(bodies, marks, at + 1, noise)) {
        if (marks[at + 1] !== null && nameDisplay(bodies[at + 1] as string) !== name) break;
        at += 1;
        if (marks[at] !== null) items.push(toItem(at));
      }
      const marksBefore = noise.keep === 'last-of-run';
      const kept = items.at(marksBefore ? -1 : 0) as ComparedItem;
      folds.push({ items, kept: new Set([kept]), what: noise.what, values: '', marksBefore });
      continue;
    }
    const group = byWhat.get(keyOf(noise));
    if (group === undefined) byWhat.set(keyOf(noise), { noise, items: [toItem(at)] });
    else group.items.push(toItem(at));
  }
  for (const { noise, items } of byWhat.values()) folds.push(foldClass(bodies, noise, items));
  return folds;
}

const isSameRun = (bodies: readonly string[], marks: OutputMarks, at: number, noise: NoiseClass): boolean =>
  marks[at]?.what === noise.what || (bodies[at] === '' && marks[at + 1]?.what === noise.what);

const METER = /\d+(?:\.\d+)?%|[|[][█▏▎▍▌▋▊▉#=━>.\- ]{8,}[|\]]/u;

/** Returns the subject of a display: the words before its number. A state with another subject is not a later state. */
const nameDisplay = (line: string): string =>
  line
    .slice(0, Math.max(0, line.search(METER)))
    .trim()
    .replace(/^\d+[KMG]?(?: [., ]+)?$/, '');

const toItem = (at: number): ComparedItem => ({ start: at, end: at + 1, tokens: [], masked: [] });

const DURATION = /(\d+(?:\.\d+)?) ?(ms|s|m)\b(?!.*\d ?(?:ms|s|m)\b)/;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };
/** Shorter durations are irrelevant, however short the others are. */
const SLOW_MS = 300;

/** Keeps an example, and items that took much longer than the others. */
function foldClass(bodies: readonly string[], noise: NoiseClass, items: readonly ComparedItem[]): LineFold {
  const kept = new Set<ComparedItem>(noise.keep === 'none' ? [] : items.slice(0, 1));
  const durations = items.map(({ start }) => {
    const found = DURATION.exec(bodies[start] as string);
    return found === null ? 0 : Number(found[1]) * (UNIT_MS[found[2] as string] ?? 1);
  });
  const isFar = createOutlierTest(durations);
  const slow = items.filter(
    (_, at) => (durations[at] as number) >= SLOW_MS && isFar(durations[at] as number),
  );
  if (slow.length <= Math.max(5, items.length * 0.05)) for (const item of slow) kept.add(item);
  return { items, kept, what: noise.what, values: noise.values ?? '' };
}

/** Joins the kept lines, with a marker for each omission. */
function writeLines(
  { lines, bodies }: CleanedLines,
  folds: readonly LineFold[],
  whole: string,
): { text: string; omissions: TextOmission[] } {
  const isDropped = new Uint8Array(lines.length);
  const before = new Map<number, string[]>();
  const omissions: TextOmission[] = [];
  for (const fold of folds) {
    const dropped = fold.items.filter((item) => !fold.kept.has(item));
    const first = dropped[0];
    if (first === undefined) continue;
    const size = first.end - first.start;
    const isBlock = size > 1;
    const count = dropped.length * size;
    const what = isBlock ? `lines, ${dropped.length} ${fold.what},` : fold.what;
    const marker = formatMarker({ count, what, values: fold.values }, whole);
    const bytes = dropped.reduce((sum, { start, end }) => sum + sumBytes(lines, start, end), 0);
    if (bytes * WORTH <= Buffer.byteLength(marker) + 1) continue;
    for (const { start, end } of dropped) isDropped.fill(1, start, end);
    const example = fold.items[0] as ComparedItem;
    const keptLast = [...fold.kept].at(-1);
    const place =
      fold.marksBefore === true
        ? (keptLast?.start ?? first.start)
        : fold.kept.has(example)
          ? example.end
          : first.start;
    before.set(place, [...(before.get(place) ?? []), marker]);
    omissions.push({ count, what: fold.what, line: first.start + 1 });
  }
  const out: string[] = [];
  let skipped = false;
  let wasEmpty = false;
  for (let at = 0; at <= lines.length; at += 1) {
    for (const marker of before.get(at) ?? []) {
      out.push(marker);
      skipped = false;
      wasEmpty = false;
    }
    if (at === lines.length) break;
    if (isDropped[at] === 1) {
      skipped = true;
      continue;
    }
    const line = lines[at] as string;
    const isEmpty = bodies[at] === '';
    // Separators between omitted lines are dropped too.
    if (skipped && isEmpty && (wasEmpty || out.length === 0) && at < lines.length - 1) continue;
    if (!isEmpty) skipped = false;
    wasEmpty = isEmpty;
    out.push(line);
  }
  omissions.sort((one, other) => one.line - other.line);
  return { text: out.join('\n'), omissions };
}

function sumBytes(lines: readonly string[], start: number, end: number): number {
  let sum = 0;
  for (let at = start; at < end; at += 1) sum += Buffer.byteLength(lines[at] as string) + 1;
  return sum;
}
