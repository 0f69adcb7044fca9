import { isDeepStrictEqual } from 'node:util';
import { type Document, isMap, isNode, isScalar, isSeq, type Pair, parseDocument, stringify } from 'yaml';
import { SvcError } from '../base/errors.ts';
import { isTree, setAt, type Tree } from './layers.ts';

/**
 * The YAML text with one value changed; null takes the key out. Only the lines of that key change. Where that cannot be
 * done (flow mappings, anchors) the whole text is written anew, which keeps the comments but may move them.
 */
export function setInText(text: string, path: readonly string[], value: unknown): string {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const crlf = text.includes('\r\n');
  const plain = text.slice(mark.length).replaceAll('\r\n', '\n');
  const spliced = splice(plain, path, value);
  const written =
    spliced !== undefined && says(spliced, plain, path, value) ? spliced : rewrite(plain, path, value);
  return mark + (crlf ? written.replaceAll('\n', '\r\n') : written);
}

const read = (text: string): Document.Parsed => {
  const document = parseDocument(text, { prettyErrors: false, logLevel: 'error' });
  if (document.errors.length > 0) throw new SvcError('config_invalid', 'the file is not valid YAML');
  return document;
};

/** Whether `after` says what `before` said, but for the one value. */
function says(after: string, before: string, path: readonly string[], value: unknown): boolean {
  try {
    const expected = (read(before).toJS() ?? {}) as Tree;
    setAt(expected, path, value);
    return isDeepStrictEqual(filled(read(after).toJS()), filled(expected));
  } catch {
    return false;
  }
}

// A section without members is the same as no section.
function filled(value: unknown): unknown {
  if (!isTree(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [name, filled(member)] as const);
  const kept = members.filter(([, member]) => member !== null && member !== undefined);
  return kept.length === 0 ? null : Object.fromEntries(kept);
}

/** The change by way of the parsed document. */
function rewrite(text: string, path: readonly string[], value: unknown): string {
  const document = read(text);
  if (value === null) {
    if (document.hasIn(path)) document.deleteIn(path);
    return document.toString({ lineWidth: 0, flowCollectionPadding: false });
  }
  for (let length = 1; length < path.length; length++) {
    const part = path.slice(0, length);
    const node = document.getIn(part, true);
    // `agents:` with nothing behind it is a null, which cannot take a member.
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

/** The change in the lines of the key alone, or undefined where lines cannot express it. */
function splice(text: string, path: readonly string[], value: unknown): string | undefined {
  const { contents } = read(text);
  let map: unknown = contents;
  let indent = '';
  let holder: Pair | undefined;
  for (const [depth, name] of path.entries()) {
    const rest = path.slice(depth);
    if (map === null || (isScalar(map) && map.value === null)) {
      const at = holder ? endOfLine(text, startOf(holder) ?? 0) : text.length;
      return value === null ? text : insert(text, at, indent, nested(rest, value));
    }
    if (!isMap(map) || map.flow) return undefined;
    const first = map.items[0];
    if (first) indent = margin(text, startOf(first) ?? 0) ?? indent;
    const pair = map.items.find(({ key }) => isScalar(key) && key.value === name);
    if (!pair) {
      const last = map.items.at(-1);
      const end = last && endOf(last);
      if (end === undefined) return undefined;
      return value === null
        ? text
        : insert(text, pastComments(text, endOfLine(text, end), indent), indent, nested(rest, value));
    }
    if (rest.length === 1) return replace(text, pair, indent, value);
    holder = pair;
    map = pair.value;
    indent += '  ';
  }
  return undefined;
}

function replace(text: string, pair: Pair, indent: string, value: unknown): string | undefined {
  const start = startOf(pair);
  const end = endOf(pair);
  if (start === undefined || end === undefined || margin(text, start) === undefined) return undefined;
  const line = start - indent.length;
  if (value === null) {
    return text.slice(0, line) + text.slice(Math.min(endOfLine(text, end) + 1, text.length));
  }
  const name = String(isScalar(pair.key) ? pair.key.value : pair.key);
  return text.slice(0, line) + lines(indent, { [name]: value }) + text.slice(end);
}

const nested = (path: readonly string[], value: unknown): unknown =>
  path.reduceRight<unknown>((inside, name) => ({ [name]: inside }), value);

function insert(text: string, at: number, indent: string, value: unknown): string {
  const before = text.slice(0, at);
  const gap = before === '' || before.endsWith('\n') ? '' : '\n';
  const after = text.slice(at);
  return `${before}${gap}${lines(indent, value)}${after.startsWith('\n') ? '' : '\n'}${after}`;
}

const lines = (indent: string, value: unknown): string =>
  stringify(value, { lineWidth: 0 })
    .trimEnd()
    .replace(/^(?=.)/gm, indent);

const startOf = ({ key }: Pair): number | undefined => (isNode(key) ? key.range?.[0] : undefined);

/** Where the value ends, without the comments and empty lines behind it. */
const endOf = ({ key, value }: Pair): number | undefined => endOfNode(value) ?? endOfNode(key);

// The range of a block collection reaches to whatever follows it, so its last member tells.
function endOfNode(node: unknown): number | undefined {
  if (isMap(node) && !node.flow && node.items.length > 0) return endOf(node.items.at(-1)!);
  if (isSeq(node) && !node.flow && node.items.length > 0) return endOfNode(node.items.at(-1));
  const end = isNode(node) ? node.range?.[1] : undefined;
  // A block of text ends behind its last line break.
  return end !== undefined && isScalar(node) && node.type?.startsWith('BLOCK') ? end - 1 : end;
}

const endOfLine = (text: string, offset: number): number => {
  const end = text.indexOf('\n', offset);
  return end === -1 ? text.length : end;
};

/** Past the comments that are indented deeper than `indent`: they belong to the member above. */
function pastComments(text: string, offset: number, indent: string): number {
  const deeper = new RegExp(`(?:\\n *)*\\n${indent} +#.*`, 'y');
  let at = offset;
  for (deeper.lastIndex = at; deeper.test(text); deeper.lastIndex = at) at = deeper.lastIndex;
  return at;
}

/** The white space in front of `offset`, or undefined when something else stands there. */
function margin(text: string, offset: number): string | undefined {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^ *$/.test(before) ? before : undefined;
}
