import { Document, isMap, isNode, isScalar, type Pair, parseDocument, Scalar } from 'yaml';
import { rfc3339 } from '../../../core/base/clock.ts';
import { version } from '../../../core/base/own-package.ts';
import { toPrintable } from '../../../core/base/text.ts';
import type { MemoryState } from '../rows.ts';

// A memory as a concept of the Open Knowledge Format 0.2 (GoogleCloudPlatform/knowledge-catalog, okf/SPEC.md,
// sections 4 and 5): a markdown file with a descriptive frontmatter. Frontmatter keys unknown to svc are kept
// verbatim.

/** The content of a concept file, as far as svc understands it. Times are milliseconds since the epoch. */
export interface OkfConcept {
  type: string;
  title: string;
  text: string;
  tags: string[];
  /** The first of its sources. */
  source: string | null;
  status: 'draft' | 'stable' | 'deprecated';
  /** The time of the last content change; null if unknown. */
  changedAt: number | null;
  /** The fields that svc wrote about the memory; null in other files. */
  own: OwnFacts | null;
  /** The frontmatter, without retired keys. */
  frontmatter: string;
}

/** The frontmatter key for svc's own fields. */
export interface OwnFacts {
  id: string;
  /** `forgotten`, `expired` or `superseded`; null for an active one. */
  state: Exclude<MemoryState, 'active'> | null;
  supersededBy: string | null;
  endedAt: number | null;
}

/** The written fields of a memory. Times are RFC 3339. */
export interface WrittenConcept {
  id: string;
  type: string;
  title: string;
  text: string;
  tags: readonly string[];
  source: string | null;
  state: MemoryState;
  supersededBy: string | null;
  endedAt: string | null;
  isDraft: boolean;
  generatedBy: string;
  changedAt: string;
  verified: { by: string; at: string } | null;
  staleAfter: string | null;
}

/** Why a file cannot be read as a concept, as a clause. */
export class ConceptFault extends Error {}

const LONGEST_DESCRIPTION = 200;
const LONGEST_FRONTMATTER = 65_536;
const LONGEST_TYPE = 40;
const MEMORY_ID = /^m-[a-z2-9]{10}$/;
const STATES: readonly string[] = ['forgotten', 'expired', 'superseded'];

/** Converts a type of any producer to the memory's form: a lower-case word. */
export function foldType(type: string): string {
  const word = type
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, LONGEST_TYPE);
  return word === '' ? 'concept' : word;
}

/** Returns the first line of a text with content, without invisible characters. */
export function describeText(text: string): string {
  const line = text
    .slice(0, 4096)
    .split(/\r\n|[\n\r\u0085\u2028\u2029]/)
    .map((each) => toPrintable(each.replace(/^[\s#>*-]+/, '')).trim())
    .find((each) => each !== '');
  const characters = [...(line ?? '')];
  return characters.length <= LONGEST_DESCRIPTION
    ? characters.join('')
    : `${characters.slice(0, LONGEST_DESCRIPTION - 1).join('')}…`;
}

/** Quotes words that some YAML readers do not treat as text, and any text with punctuation. */
const PLAIN = /^(?!(?:y|n|yes|no|on|off|true|false|null|nan|inf)$)[a-z][a-z0-9_]*(?:[ /._-][a-z0-9_]+)*$/i;
const quoteScalar = (text: string): Scalar => {
  const scalar = new Scalar(text);
  if (!PLAIN.test(text)) scalar.type = Scalar.QUOTE_DOUBLE;
  return scalar;
};
/** Characters that YAML requires to be escaped and the library does not; used between double quotes. */
const escapeUnprintable = (yaml: string): string =>
  yaml.replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

function parseFrontmatter(yaml: string): Document.Parsed {
  if (yaml.length > LONGEST_FRONTMATTER) throw new ConceptFault('its frontmatter is longer than 64 KiB');
  const document = parseDocument(yaml, { prettyErrors: false, logLevel: 'error' });
  const [fault] = document.errors;
  if (fault !== undefined)
    throw new ConceptFault(`its frontmatter is not YAML (${fault.code.toLowerCase()})`);
  if (!isMap(document.contents)) throw new ConceptFault('its frontmatter is not a map');
  return document;
}

/** Keys with their new values; `undefined` removes a key. */
type Changes = ReadonlyMap<string, unknown>;

const stringifyMap = (values: Iterable<readonly [string, unknown]>): string =>
  escapeUnprintable(new Document(new Map(values)).toString({ lineWidth: 0 }));

/** Changes keys of a frontmatter. The others stay as written, down to the digits of a number. */
function editFrontmatter(yaml: string, changes: Changes): string {
  if (changes.size === 0) return yaml;
  const document = parseFrontmatter(yaml);
  const { contents } = document;
  const added = [...changes].filter(([, value]) => value !== undefined);
  const places = isMap(contents) && contents.flow !== true ? contents.items.map(placePair) : [undefined];
  if (places.some((place) => place === undefined || (place.start > 0 && yaml[place.start - 1] !== '\n'))) {
    // A map in braces, or keys with marks before them.
    for (const key of changes.keys()) document.delete(key);
    for (const [key, value] of added) document.set(key, document.createNode(value));
    return document.toString({ lineWidth: 0 });
  }
  let rest = yaml;
  for (const place of places.reverse())
    if (place !== undefined && changes.has(place.key))
      rest = rest.slice(0, place.start) + rest.slice(place.end);
  if (rest !== '' && !rest.endsWith('\n')) rest += '\n';
  return added.length === 0 ? rest : rest + stringifyMap(added);
}

/** Returns the position of a key with its value in the text; undefined if it is ambiguous. */
function placePair({
  key,
  value,
}: Pair<unknown, unknown>): { key: string; start: number; end: number } | undefined {
  if (!isScalar(key) || !key.range) return undefined;
  const end = isNode(value) ? value.range?.[2] : undefined;
  return end === undefined ? undefined : { key: String(key.value), start: key.range[0], end };
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : null;

const mapOf = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;

/** Returns a datetime with offset, or a bare date, as milliseconds. */
function timeOf(value: unknown): number | null {
  const text = textOf(value)?.trim() ?? '';
  if (!/^\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:?\d\d)?)?$/.test(text))
    return null;
  const iso = text.replace(/^(.{10})[t ]/, '$1T').replace(/([+-]\d\d)(\d\d)$/, '$1:$2');
  const hasOffset = /(?:[Zz]|[+-]\d\d:\d\d)$/.test(iso) || iso.length === 10;
  const at = Date.parse(hasOffset ? iso.toUpperCase() : `${iso}Z`);
  return Number.isNaN(at) ? null : at;
}

function readTags(value: unknown): string[] {
  const all = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
  return [...new Set(all.flatMap((each) => textOf(each)?.trim() || []))];
}

function readSource(value: unknown): string | null {
  const entries = Array.isArray(value) ? value : [value];
  for (const entry of entries) {
    const resource = textOf(entry) ?? textOf(mapOf(entry)?.resource);
    if (resource !== null && resource !== '') return resource;
  }
  return null;
}

function readOwn(value: unknown): OwnFacts | null {
  const own = mapOf(value);
  const id = textOf(own?.id);
  if (own === null || id === null || !MEMORY_ID.test(id)) return null;
  const state = textOf(own.state);
  const supersededBy = textOf(own.superseded_by);
  return {
    id,
    state: state !== null && STATES.includes(state) ? (state as OwnFacts['state']) : null,
    supersededBy: supersededBy !== null && MEMORY_ID.test(supersededBy) ? supersededBy : null,
    endedAt: timeOf(own.ended_at),
  };
}

/** Returns the parts of a file between its two lines of `---`, and after them. */
function splitFile(file: string): { yaml: string; body: string } {
  const open = /^---[ \t]*\r?\n/.exec(file);
  if (open !== null) {
    const closing = /^---[ \t]*(?:\r?\n|$)/my;
    // `m` accepts more line breaks than YAML: only text after a line feed is valid.
    for (let at = open[0].length; at > 0; at = file.indexOf('\n', at) + 1) {
      closing.lastIndex = at;
      const close = closing.exec(file);
      if (close !== null)
        return { yaml: file.slice(open[0].length, at), body: file.slice(at + close[0].length) };
    }
  }
  throw new ConceptFault('it does not start with a frontmatter between two lines of ---');
}

const CITATION = /^\s*(?:[-*]\s+)?(?:\[?(\d+)\]?[.:]?\s+)?(?:\[([^\]]*)\]\(([^)\s]+)\)|(https?:\/\/\S+))\s*$/;

/** Returns the list of a retired `# Citations` section at the end of a text; null if there is none, or if it has other content. */
function splitCitations(text: string): { rest: string; sources: Record<string, string>[] } | null {
  const at = /(?:^|\n)# Citations[ \t]*\r?\n([\s\S]*)$/.exec(text);
  if (at === null) return null;
  const sources: Record<string, string>[] = [];
  for (const line of (at[1] ?? '').split('\n')) {
    if (line.trim() === '') continue;
    const [, number, title, linked, plain] = CITATION.exec(line) ?? [];
    const resource = linked ?? plain;
    if (resource === undefined) return null;
    sources.push({ id: number ?? String(sources.length + 1), resource, ...(title ? { title } : {}) });
  }
  return sources.length === 0 ? null : { rest: text.slice(0, at.index), sources };
}

/** Reads a concept file; `name` is its file name without extension, used as a default title. Throws `ConceptFault`. */
export function readConcept(file: string, name: string): OkfConcept {
  const given = file.replace(/^\ufeff/, '');
  const { yaml, body } = splitFile(given);
  const document = parseFrontmatter(yaml);
  let text = body.replace(/^\r?\n/, '').replace(/\n$/, '');
  const changes = new Map<string, unknown>();
  const cited = document.has('sources') ? null : splitCitations(text);
  if (cited !== null) {
    text = cited.rest;
    changes.set('sources', cited.sources);
    document.set('sources', document.createNode(cited.sources));
  }
  let all: Record<string, unknown>;
  try {
    all = mapOf(document.toJS()) ?? {};
  } catch {
    throw new ConceptFault('its frontmatter repeats itself too often (aliases)');
  }
  const type = textOf(all.type)?.trim() ?? '';
  if (type === '') throw new ConceptFault('it has no type');
  const generated = mapOf(all.generated);
  const changedAt = timeOf(generated?.at) ?? timeOf(all.timestamp);
  if (document.has('timestamp')) {
    changes.set('timestamp', undefined);
    if (generated === null && changedAt !== null)
      changes.set('generated', { by: `svc/${version}`, at: rfc3339(changedAt) });
  }
  const own = readOwn(all.svc);
  const status = textOf(all.status);
  return {
    type: foldType(type),
    title: textOf(all.title) || readHeading(text) || name,
    text,
    tags: readTags(all.tags),
    source: readSource(all.sources),
    status: own?.state || status === 'deprecated' ? 'deprecated' : status === 'draft' ? 'draft' : 'stable',
    changedAt,
    own,
    frontmatter: editFrontmatter(yaml.replaceAll('\r\n', '\n'), changes),
  };
}

/** Returns the heading at the start of a text. */
const readHeading = (text: string): string => /^\s*#{1,6} +(.+?)[ \t]*\r?(?:\n|$)/.exec(text)?.[1] ?? '';

/**
 * Returns the frontmatter of a memory. Values already in `kept`, its original frontmatter, stay as written, so
 * unknown keys survive.
 */
export function writeFrontmatter(each: WrittenConcept, kept: string | null, name: string): string {
  const there = kept === null ? null : readConcept(joinConcept(kept, each.text), name);
  const document = kept === null ? null : parseFrontmatter(kept);
  const has = (key: string): boolean => document?.has(key) ?? false;
  const changes = new Map<string, unknown>();
  const status = each.state !== 'active' ? 'deprecated' : each.isDraft ? 'draft' : 'stable';
  if (there?.type !== each.type) changes.set('type', quoteScalar(each.type));
  if (there?.title !== each.title) changes.set('title', quoteScalar(each.title));
  if (!has('description'))
    changes.set('description', quoteScalar(describeText(each.text) || describeText(each.title)));
  if (there?.tags.join('\0') !== each.tags.join('\0')) changes.set('tags', each.tags.map(quoteScalar));
  if (!has('generated')) changes.set('generated', { by: quoteScalar(each.generatedBy), at: each.changedAt });
  if (each.verified !== null && !has('verified'))
    changes.set('verified', [{ by: quoteScalar(each.verified.by), at: each.verified.at }]);
  if (there?.status !== status) changes.set('status', status);
  if (each.staleAfter !== null && !has('stale_after')) changes.set('stale_after', each.staleAfter);
  if (each.source !== (there?.source ?? null))
    changes.set(
      'sources',
      each.source === null ? [] : [{ id: 'source', resource: quoteScalar(each.source) }],
    );
  if (!isSameOwn(there?.own ?? null, each))
    changes.set('svc', {
      id: each.id,
      ...(each.state === 'active' ? {} : { state: each.state }),
      ...(each.supersededBy === null ? {} : { superseded_by: each.supersededBy }),
      ...(each.endedAt === null ? {} : { ended_at: each.endedAt }),
    });
  return kept === null ? stringifyMap(changes) : editFrontmatter(kept, changes);
}

/** Keys that change with the state of a memory, not with its content. */
const OF_STATE = ['generated', 'verified', 'status', 'stale_after', 'svc'];

/** Reports whether two frontmatters describe the same content. */
export function isSameAbout(one: string, other: string): boolean {
  const normalizeFrontmatter = (yaml: string): unknown => {
    const all = mapOf(parseFrontmatter(yaml).toJS()) ?? {};
    const kept = Object.entries(all).filter(([key]) => !OF_STATE.includes(key));
    return JSON.stringify(kept.sort(([first], [second]) => (first < second ? -1 : 1)));
  };
  return one === other || normalizeFrontmatter(one) === normalizeFrontmatter(other);
}

const isSameOwn = (own: OwnFacts | null, { id, state, supersededBy, endedAt }: WrittenConcept): boolean =>
  own !== null &&
  own.id === id &&
  (own.state ?? 'active') === state &&
  own.supersededBy === supersededBy &&
  own.endedAt === (endedAt === null ? null : Date.parse(endedAt));

/** Returns a frontmatter for new content, without the keys that described the old one. */
export const forgetContent = (kept: string): string =>
  editFrontmatter(
    kept,
    new Map(['description', 'generated', 'verified', 'stale_after', 'svc'].map((key) => [key, undefined])),
  );

/** Returns a one-line description of a concept from a kept frontmatter; null for none. */
export function readDescription(kept: string): string | null {
  const { contents } = parseFrontmatter(kept);
  const value = isMap(contents) ? contents.get('description', true) : null;
  return isScalar(value) ? textOf(value.value) : null;
}

export const joinConcept = (frontmatter: string, text: string): string =>
  `---\n${frontmatter}---\n\n${text}\n`;
