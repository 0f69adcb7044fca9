import { readFileSync, statSync } from 'node:fs';
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
} from 'yaml';
import { type ConfigTree, dropNulls, formatPath, isTree, type KeyPath } from './layers.ts';
import type { ConfigFinding, ConfigProblem } from './problems.ts';

/** Maximum size of a configuration file; a larger one is a mistake. */
const MAX_BYTES = 1024 * 1024;
/** A single error can make the parser complain about every following line. */
const MAX_SYNTAX = 5;

/** One YAML file: its values, and their positions. */
export interface YamlFile {
  file: string;
  /** The values, without names that have no value. Empty if the YAML is invalid. */
  tree: ConfigTree;
  /** The YAML errors of the file. */
  problems: ConfigProblem[];
  /** Returns the problem at the position of the finding, or of the nearest enclosing value. */
  place(finding: ConfigFinding): ConfigProblem;
}

/** Returns the text of a file, or the problem of reading it. */
export function readConfigFile(file: string): { text: string } | { problem: string } {
  try {
    const about = statSync(file);
    if (!about.isFile()) return { problem: 'is not a file' };
    if (about.size > MAX_BYTES) return { problem: 'is larger than 1 MiB' };
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
    return { text };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return { problem: 'is not UTF-8 text' };
    return { problem: `cannot be read (${code ?? 'unknown error'})` };
  }
}

/** Parses a YAML file. Never throws: all errors are in `problems`. */
export function readSource(file: string, given?: string): YamlFile {
  const read = given === undefined ? readConfigFile(file) : { text: given };
  if ('problem' in read) return brokenSource(file, read.problem);
  const lines = new LineCounter();
  let document: Document.Parsed;
  let value: unknown;
  try {
    // Pretty errors would quote the line, which may contain a key.
    document = parseDocument(read.text.replace(/^\uFEFF/, ''), {
      lineCounter: lines,
      prettyErrors: false,
      logLevel: 'error',
    });
    if (document.errors.some(({ message }) => /call stack/i.test(message))) throw new RangeError('too deep');
    const syntax = document.errors
      .slice(0, MAX_SYNTAX)
      .map(({ message, pos }) => placeAt(file, lines, pos[0], '', describeSyntaxError(message)));
    if (syntax.length > 0) return { ...brokenSource(file, ''), problems: syntax };
    const names = findReservedNames(file, document, lines);
    if (names.length > 0) return { ...brokenSource(file, ''), problems: names };
    value = dropNulls(document.toJS({ maxAliasCount: 100 }) ?? {});
  } catch (error) {
    const nested = error instanceof RangeError;
    return brokenSource(
      file,
      nested
        ? 'is nested too deeply, or an alias refers to itself'
        : 'has an alias without its anchor, or aliases that expand too far',
    );
  }
  if (!isTree(value)) {
    return {
      ...brokenSource(file, ''),
      problems: [placeAt(file, lines, 0, '', 'expected a mapping of sections')],
    };
  }
  return {
    file,
    tree: value,
    problems: [],
    place: ({ path, message, key }) =>
      placeAt(file, lines, findOffset(document, path, key ?? false), formatPath(path), message),
  };
}

function brokenSource(file: string, message: string): YamlFile {
  const problem: ConfigProblem = { file, line: null, column: null, path: '', message };
  return {
    file,
    tree: {},
    problems: [problem],
    place: (finding) => ({ ...problem, message: finding.message }),
  };
}

// The YAML library's message, without its advice for programmers.
const describeSyntaxError = (message: string): string =>
  message.charAt(0).toLowerCase() +
  message
    .slice(1)
    .replace(/; please.*$/, '')
    .replace(/(["'])quote/, '$1 quote');

const placeAt = (
  file: string,
  lines: LineCounter,
  offset: number,
  path: string,
  message: string,
): ConfigProblem => {
  const { line, col } = lines.linePos(offset);
  return { file, line, column: col, path, message };
};

/** Refuses names that would reach JavaScript's own objects, before anything is built from them. */
function findReservedNames(file: string, document: Document.Parsed, lines: LineCounter): ConfigProblem[] {
  const found: ConfigProblem[] = [];
  visit(document, {
    Pair(_, { key }) {
      if (!isScalar(key) || key.value !== '__proto__') return;
      found.push(placeAt(file, lines, key.range?.[0] ?? 0, '__proto__', 'unknown key'));
    },
  });
  return found;
}

/** Returns the start of the value at `path`, or of its name; otherwise of the nearest enclosing value. */
function findOffset(document: Document.Parsed, path: KeyPath, wantsName: boolean): number {
  let node: unknown = document.contents;
  let offset = 0;
  path.every((segment, depth) => {
    if (isAlias(node)) node = node.resolve(document);
    const last = depth === path.length - 1;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(segment));
      if (!pair) return false;
      const name = isNode(pair.key) ? pair.key.range?.[0] : undefined;
      node = pair.value;
      const value = isNode(pair.value) ? pair.value.range?.[0] : undefined;
      // A block mapping starts on a later line than its name; people look for the name.
      const points = last && !wantsName && !isMap(pair.value) ? value : name;
      offset = points ?? name ?? offset;
      return true;
    }
    if (!isSeq(node) || typeof segment !== 'number') return false;
    node = node.items[segment];
    if (!isNode(node)) return false;
    offset = node.range?.[0] ?? offset;
    return true;
  });
  return offset;
}
