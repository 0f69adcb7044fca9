import { formatCount } from '../../../base/text.ts';
import { createOutlierTest } from './compare.ts';
import { tellsOfFailure } from './failure.ts';
import { formatMarker } from './marker.ts';

/** A JSON text with fewer items in its long lists; what stays is as it was written, and the whole is JSON again. */
export interface CrushedJson {
  text: string;
  omissions: { count: number; what: string; line: number }[];
}

/** A file that people keep and tools read: every entry counts. */
const MANIFEST_KEYS = new Set([
  'lockfileVersion',
  'dependencies',
  'devDependencies',
  'scripts',
  'compilerOptions',
  'content-hash',
  'openapi',
  'swagger',
  '$schema',
  'workspace_members',
]);

const LEAST_ITEMS = 8;
const LEAST_NUMBERS = 40;
const LEAST_BYTES = 500;
const DEEPEST = 100;

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Crushes a text that is JSON, also with a few lines before and after; null for any other. */
export function crushJson(text: string, whole: string): CrushedJson | null {
  const place = findJson(text);
  if (place === null) return null;
  const { start, end, value } = place;
  const edits: Edit[] = [];
  if (!isManifest(value) && !collectEdits(text, start, value, edits, whole)) return null;
  let out = '';
  let at = 0;
  for (const edit of edits) {
    out += text.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  const omissions = edits.map(({ count, start: from }) => ({
    count,
    what: 'items',
    line: countLines(text, from),
  }));
  return { text: out + text.slice(at, end) + text.slice(end), omissions };
}

const isManifest = (value: Json): boolean =>
  value !== null &&
  typeof value === 'object' &&
  !Array.isArray(value) &&
  Object.keys(value).some((key) => MANIFEST_KEYS.has(key));

function countLines(text: string, end: number): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** What a program may print before its JSON. */
const BEFORE_JSON = 10_000;

/** Where the one JSON value of a text is. */
function findJson(text: string): { start: number; end: number; value: Json } | null {
  const start = /^[ \t]*[[{]/m.exec(text.slice(0, BEFORE_JSON));
  if (start === null || countLines(text, start.index) > 20) return null;
  const end = Math.max(text.lastIndexOf(']'), text.lastIndexOf('}')) + 1;
  if (text.length - end > 2000) return null;
  const from = start.index + start[0].length - 1;
  try {
    return { start: from, end, value: JSON.parse(text.slice(from, end)) as Json };
  } catch {
    return null;
  }
}

interface Edit {
  start: number;
  end: number;
  text: string;
  count: number;
}

/** Walks the text beside its value; false when it is nested too deeply. */
function collectEdits(text: string, from: number, root: Json, edits: Edit[], whole: string): boolean {
  let at = from;
  const skipBlanks = (): void => {
    while (at < text.length && text.charCodeAt(at) <= 32) at += 1;
  };
  const skipString = (): void => {
    at += 1;
    while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
    at += 1;
  };
  const walk = (value: Json, depth: number, isIn: boolean): boolean => {
    if (depth > DEEPEST) return false;
    skipBlanks();
    const first = text[at];
    if (first === '"') skipString();
    else if (first === '{') {
      at += 1;
      for (skipBlanks(); text[at] !== '}'; skipBlanks()) {
        if (text[at] === ',') at += 1;
        skipBlanks();
        const keyFrom = at;
        skipString();
        const key = JSON.parse(text.slice(keyFrom, at)) as string;
        skipBlanks();
        at += 1;
        const inner = (value as { [key: string]: Json } | null)?.[key] ?? null;
        if (!walk(inner, depth + 1, isIn)) return false;
      }
      at += 1;
    } else if (first === '[') return walkList(Array.isArray(value) ? value : [], depth, isIn);
    else while (at < text.length && !',]}'.includes(text[at] as string) && text.charCodeAt(at) > 32) at += 1;
    return true;
  };
  const walkList = (items: readonly Json[], depth: number, isIn: boolean): boolean => {
    const begin = at;
    const already = edits.length;
    const kept = isIn ? chooseItems(items) : null;
    const places: { start: number; end: number }[] = [];
    at += 1;
    for (skipBlanks(); text[at] !== ']'; skipBlanks()) {
      if (text[at] === ',') at += 1;
      skipBlanks();
      const start = at;
      const index = places.length;
      if (!walk(items[index] ?? null, depth + 1, isIn && (kept === null || kept.has(index)))) return false;
      places.push({ start, end: at });
    }
    at += 1;
    if (kept === null || places.length !== items.length || at - begin < LEAST_BYTES) return true;
    const inner = edits.splice(already);
    const edit = writeList(text, begin, at, places, kept, inner, items, whole);
    if (edit === null) edits.push(...inner);
    else edits.push(edit);
    return true;
  };
  return walk(root, 0, true);
}

function writeList(
  text: string,
  start: number,
  end: number,
  places: readonly { start: number; end: number }[],
  kept: ReadonlySet<number>,
  inner: readonly Edit[],
  items: readonly Json[],
  whole: string,
): Edit | null {
  const separator = text.slice(places[0]?.end, places[1]?.start);
  const parts: string[] = [];
  const left = places.length - kept.size;
  let isMarked = false;
  let innerCount = 0;
  for (const [index, place] of places.entries()) {
    if (kept.has(index)) {
      let part = '';
      let at = place.start;
      for (const edit of inner) {
        if (edit.start < place.start || edit.end > place.end) continue;
        part += text.slice(at, edit.start) + edit.text;
        at = edit.end;
        innerCount += edit.count;
      }
      parts.push(part + text.slice(at, place.end));
    } else if (!isMarked) {
      isMarked = true;
      const values = describeItems(items.filter((_, each) => !kept.has(each)));
      const marker = formatMarker(
        { count: left, what: `of ${formatCount(places.length, 'item')}`, values },
        whole,
      );
      parts.push(JSON.stringify(marker));
    }
  }
  const written =
    text.slice(start, places[0]?.start) + parts.join(separator) + text.slice(places.at(-1)?.end, end);
  if (Buffer.byteLength(written) >= Buffer.byteLength(text.slice(start, end))) return null;
  return { start, end, text: written, count: left + innerCount };
}

/** Which items of a list stay; null for a list that is none of many alike. */
function chooseItems(items: readonly Json[]): Set<number> | null {
  if (items.length >= LEAST_NUMBERS && items.every((item) => typeof item === 'number'))
    return chooseNumbers(items);
  if (items.length < LEAST_ITEMS) return null;
  const objects = items.filter((item) => item !== null && typeof item === 'object');
  if (objects.length < items.length * 0.8 || items.filter(isFinding).length > items.length / 2) return null;
  const kept = new Set([0, 1, items.length - 1]);
  for (const [index, item] of items.entries()) if (item === null || typeof item !== 'object') kept.add(index);
  const flat = items.map((item) => flatten(item));
  if (saysOnlyNames(flat)) return null;
  for (const index of findOddItems(flat)) kept.add(index);
  for (const [index, item] of items.entries()) if (holdsFindings(item)) kept.add(index);
  return kept.size < items.length - 1 ? kept : null;
}

function chooseNumbers(items: readonly number[]): Set<number> | null {
  const isFar = createOutlierTest(items);
  const far = items.flatMap((item, index) => (isFar(item) ? [index] : []));
  if (far.length > items.length * 0.1) return null;
  const least = items.indexOf(items.reduce((a, b) => Math.min(a, b)));
  const most = items.indexOf(items.reduce((a, b) => Math.max(a, b)));
  return new Set([0, 1, 2, items.length - 1, least, most, ...far]);
}

/** A message about a place in a file: each of them is what was asked for. */
const isFinding = (item: Json): boolean => {
  if (item === null || typeof item !== 'object' || Array.isArray(item)) return false;
  const has = (...keys: string[]): boolean => keys.some((key) => key in item);
  return (
    has('message', 'msg', 'description', 'title') &&
    has('line', 'row', 'startLine', 'start_line', 'location', 'range', 'ruleId', 'rule', 'severity')
  );
};

/** An item about a file with the messages about it, as linters write them. */
const holdsFindings = (item: Json): boolean =>
  item !== null &&
  typeof item === 'object' &&
  Object.values(item).some((inner) => Array.isArray(inner) && inner.some(isFinding));

type Scalar = string | number | boolean | null;

/** The scalars of an item by their path; a list stands for its length. */
function flatten(item: Json): Map<string, Scalar> {
  const flat = new Map<string, Scalar>();
  const waiting: { path: string; value: Json; depth: number }[] = [{ path: '', value: item, depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, value, depth } = next;
    if (value === null || typeof value !== 'object') flat.set(path, value);
    else if (Array.isArray(value) && depth > 0) flat.set(`${path}[]`, value.length);
    else if (depth < 4) {
      for (const [key, inner] of Object.entries(value))
        waiting.push({ path: path === '' ? key : `${path}.${key}`, value: inner, depth: depth + 1 });
    } else flat.set(path, '{}');
  }
  return flat;
}

/** Nothing but names, all different: the list is what was asked for. */
function saysOnlyNames(flat: FlatItems): boolean {
  return [...listPaths(flat)].every((path) => {
    const values = flat.map((item) => item.get(path));
    return values.every((value) => typeof value === 'string') && new Set(values).size > flat.length / 2;
  });
}

type FlatItems = readonly ReadonlyMap<string, Scalar>[];

function listPaths(flat: FlatItems): Set<string> {
  const paths = new Set<string>();
  for (const item of flat) for (const path of item.keys()) paths.add(path);
  return paths;
}

const MOST_ODD = 20;

function findOddItems(flat: FlatItems): Set<number> {
  const odd = new Set<number>();
  const rare = Math.max(2, Math.floor(flat.length * 0.05));
  const add = (found: readonly number[], most = Math.max(MOST_ODD, flat.length * 0.1)): void => {
    if (found.length <= most && found.length < flat.length / 2) for (const index of found) odd.add(index);
  };
  const whereOf = (test: (value: Scalar | undefined) => boolean, path: string): number[] =>
    flat.flatMap((item, index) => (test(item.get(path)) ? [index] : []));
  for (const path of listPaths(flat)) {
    const kinds = new Map<string, number[]>();
    const counts = new Map<Scalar | undefined, number>();
    for (const [index, item] of flat.entries()) {
      const value = item.get(path);
      const kind = kindOf(value);
      const those = kinds.get(kind);
      if (those === undefined) kinds.set(kind, [index]);
      else those.push(index);
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    for (const those of kinds.values()) if (those.length <= rare) add(those);
    if (counts.size > 1 && counts.size <= Math.max(6, flat.length / 5)) {
      const seldom = new Set([...counts].filter(([, count]) => count <= rare).map(([value]) => value));
      add(whereOf((value) => seldom.has(value), path));
    }
    add(
      whereOf((value) => typeof value === 'string' && value !== '' && tellsOfFailure(value), path),
      flat.length / 4,
    );
    add(
      whereOf(
        (value) =>
          value !== null && value !== undefined && value !== false && value !== '' && ERROR_PATH.test(path),
        path,
      ),
      flat.length / 4,
    );
    const numbers = flat
      .map((item) => item.get(path))
      .map((value) => (typeof value === 'number' ? value : Number.NaN));
    const isFar = createOutlierTest(numbers);
    add(numbers.flatMap((number, index) => (isFar(number) ? [index] : [])));
    const lengths = flat
      .map((item) => item.get(path))
      .map((value) => (typeof value === 'string' ? value.length : Number.NaN));
    const isLong = createOutlierTest(lengths);
    add(lengths.flatMap((length, index) => (isLong(length) && length > 12 ? [index] : [])));
  }
  return odd;
}

/** What kind a value is; of numbers also on which side of zero, of strings whether there is anything. */
function kindOf(value: Scalar | undefined): string {
  if (value === null) return 'null';
  if (value === '') return 'empty';
  if (typeof value === 'number') return `number ${Math.sign(value)}`;
  return typeof value;
}

const ERROR_PATH = /(?:^|[._])(?:errors?|failure|exception|stderr)$/i;

const MOST_PATHS = 12;

/** What the items left out hold: the values of fields that have few, and between which numbers lie. */
function describeItems(items: readonly Json[]): string {
  const numbers = items.filter((item) => typeof item === 'number');
  if (numbers.length === items.length) return describeRange(numbers);
  const flat = items.map(flatten);
  const told: string[] = [];
  for (const path of listPaths(flat)) {
    const counts = new Map<Scalar, number>();
    for (const item of flat) {
      const value = item.get(path);
      if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    const each = [...counts].map(([value, count]) => `${value} ×${count}`).join(', ');
    if (counts.size <= 6 && each.length <= 120) told.push(`${path} ${each}`);
    else if ([...counts.keys()].every((value) => typeof value === 'number'))
      told.push(`${path} ${describeRange([...counts.keys()] as number[])}`);
    if (told.length === MOST_PATHS) break;
  }
  return told.join('; ');
}

function describeRange(numbers: readonly number[]): string {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (const number of numbers) {
    least = Math.min(least, number);
    most = Math.max(most, number);
  }
  return `${least}–${most}`;
}
