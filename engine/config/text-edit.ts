import { isDeepStrictEqual } from 'node:util';
import { type Document, isMap, isNode, isScalar, isSeq, type Pair, parseDocument, stringify } from 'yaml';
import { SvcError } from '../core/base/errors.ts';
import { type ConfigTree, isTree, setAt } from './layers.ts';

/**
 * Changes one value in a YAML text; null removes the key. Only the lines of that key change: yaml's Document keeps
 * comments, but its `toString` also rewrites indentation, spacing and empty lines elsewhere. So the Document only
 * locates the lines, and writes the whole text only if lines cannot express the change (flow mappings, anchors).
 */
export function setYamlValue(text: string, path: readonly string[], value: unknown): string {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const crlf = text.includes('\r\n');
  const plain = text.slice(mark.length).replaceAll('\r\n', '\n');
  const spliced = spliceText(plain, path, value);
  const written =
    spliced !== undefined && matchesChange(spliced, plain, path, value)
      ? spliced
      : rewriteScalar(plain, path, value);
  return mark + (crlf ? written.replaceAll('\n', '\r\n') : written);
}

const readDocument = (text: string): Document.Parsed => {
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'error' });
  if (document.errors.length > 0) throw new SvcError('config_invalid', 'the file is not valid YAML');
  return document;
};

/** Reports whether `after` equals `before` except for the one value. */
function matchesChange(after: string, before: string, path: readonly string[], value: unknown): boolean {
  try {
    const expected = (readDocument(before).toJS() ?? {}) as ConfigTree;
    setAt(expected, path, value);
    return isDeepStrictEqual(fillIn(readDocument(after).toJS()), fillIn(expected));
  } catch {
    return false;
  }
}

// A section without members is the same as no section.
function fillIn(value: unknown): unknown {
  if (!isTree(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, fillIn(member)] as const);
  const kept = members.filter(([, member]) => member !== null && member !== undefined);
  return kept.length === 0 ? null : Object.fromEntries(kept);
}

/** Changes the parsed document. */
function rewriteScalar(text: string, path: readonly string[], value: unknown): string {
  const document = readDocument(text);
  if (value === null) {
    if (document.hasIn(path)) document.deleteIn(path);
    return document.toString({ lineWidth: 0, flowCollectionPadding: false });
  }
  for (let length = 1; length < path.length; length++) {
    const part = path.slice(0, length);
    const node = document.getIn(part, true);
    // An empty `agents:` is null, which cannot take a member.
    if (!isScalar(node) || node.value !== null) continue;
    const map = document.createNode({});
    map.comment = node.comment ?? node.commentBefore ?? null;
    document.setIn(part, map);
  }
  const before = document.getIn(path, true);
  const node = document.createNode(value);
  if (isNode(before)) {
    node.comment = before.comment ?? null;
    node.commentBefore = before.commentBefore ?? null;
  }
  document.setIn(path, node);
  return document.toString({ lineWidth: 0, flowCollectionPadding: false });
}

/** Changes only the lines of the key; undefined if lines cannot express it. */
function spliceText(text: string, path: readonly string[], value: unknown): string | undefined {
  const { contents } = readDocument(text);
  let map: unknown = contents;
  let indent = '';
  let holder: Pair | undefined;
  for (const [depth, name] of path.entries()) {
    const rest = path.slice(depth);
    if (map === null || (isScalar(map) && map.value === null)) {
      const at = holder ? findLineEnd(text, findStart(holder) ?? 0) : text.length;
      return value === null ? text : insertKey(text, at, indent, nestMaps(rest, value));
    }
    if (!isMap(map) || map.flow) return undefined;
    const first = map.items[0];
    if (first) indent = findMargin(text, findStart(first) ?? 0) ?? indent;
    const pair = map.items.find(({ key }) => isScalar(key) && key.value === name);
    if (!pair) {
      const last = map.items.at(-1);
      const end = last && findEnd(last);
      if (end === undefined) return undefined;
      return value === null
        ? text
        : insertKey(text, skipComments(text, findLineEnd(text, end), indent), indent, nestMaps(rest, value));
    }
    if (rest.length === 1) return replaceNode(text, pair, indent, value);
    holder = pair;
    map = pair.value;
    indent += '  ';
  }
  return undefined;
}

function replaceNode(text: string, pair: Pair, indent: string, value: unknown): string | undefined {
  const start = findStart(pair);
  const end = findEnd(pair);
  if (start === undefined || end === undefined || findMargin(text, start) === undefined) return undefined;
  const line = start - indent.length;
  if (value === null) {
    return text.slice(0, line) + text.slice(Math.min(findLineEnd(text, end) + 1, text.length));
  }
  const name = String(isScalar(pair.key) ? pair.key.value : pair.key);
  return text.slice(0, line) + renderLines(indent, { [name]: value }) + text.slice(end);
}

const nestMaps = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight<unknown>((inside, name) => ({ [name]: inside }), value);

function insertKey(text: string, at: number, indent: string, value: unknown): string {
  const before = text.slice(0, at);
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  const after = text.slice(at);
  return `${before}${gap}${renderLines(indent, value)}${after.startsWith('\n') ? '' : '\n'}${after}`;
}

const renderLines = (indent: string, value: unknown): string =>
  stringify(value, { lineWidth: 0 })
    .trimEnd()
    .replace(/^(?=.)/gm, indent);

const findStart = ({ key }: Pair): number | undefined => (isNode(key) ? key.range?.[0] : undefined);

/** Returns the end of the value, without following comments and empty lines. */
const findEnd = ({ key, value }: Pair): number | undefined => findNodeEnd(value) ?? findNodeEnd(key);

// The range of a block collection extends to the next node, so its last member is used.
function findNodeEnd(node: unknown): number | undefined {
  if (isMap(node) && !node.flow && node.items.length > 0) return findEnd(node.items.at(-1)!);
  if (isSeq(node) && !node.flow && node.items.length > 0) return findNodeEnd(node.items.at(-1));
  const end = isNode(node) ? node.range?.[1] : undefined;
  // A block scalar ends after its last line break.
  return end !== undefined && isScalar(node) && node.type?.startsWith('BLOCK') ? end - 1 : end;
}

const findLineEnd = (text: string, offset: number): number => {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end;
};

/** Skips comments that are indented deeper than `indent`: they belong to the member above. */
function skipComments(text: string, offset: number, indent: string): number {
  const deeper = new RegExp(`(?:\\n *)*\\n${indent} +#.*`, 'y');
  let at = offset;
  for (deeper.lastIndex = at; deeper.test(text); deeper.lastIndex = at) at = deeper.lastIndex;
  return at;
}

/** Returns the white space before `offset`; undefined if there is anything else. */
function findMargin(text: string, offset: number): string | undefined {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^ *$/.test(before) ? before : undefined;
}
