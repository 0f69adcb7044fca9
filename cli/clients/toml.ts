import { isDeepStrictEqual } from 'node:util';
import { parse, stringify, TomlError } from 'smol-toml';
import type { ClientFormat } from './format.ts';
import { addEntry, nestEntry, readEntry, requireTree } from './format.ts';

/**
 * Edits TOML. The entry is a separate table: appended if new, replaced in place otherwise. smol-toml drops comments
 * when it writes, so it only parses and checks the result; whole tables are replaced as text, and the rest stays byte
 * for byte.
 * @decimalturn/toml-patch 3.3 keeps comments, but it drops the one above the next table when it replaces a table
 * below, and adds to `[mcp_servers.b]` an inline table with a trailing comma, which TOML 1.0 and so codex refuse.
 */
export const tomlFormat: ClientFormat = {
  find(text, path) {
    return readEntry(parseToml(text), path);
  },
  put(text, path, entry) {
    const before = parseToml(text);
    const eol = text.includes('\r\n') ? '\r\n' : '\n';
    const table = formatTomlTable(path, entry).replaceAll('\n', eol);
    const after =
      readEntry(before, path) === undefined
        ? appendTable(text, table, eol)
        : replaceTables(text, path, table);
    try {
      return isDeepStrictEqual(parseToml(after), addEntry(before, path, entry)) ? after : null;
    } catch {
      // Such as a table after an inline table of the same name, which cannot be extended.
      return null;
    }
  },
  show: (path, entry) => formatTomlTable(path, entry),
  fresh: (start, path, entry) => `${stringify({ ...start, ...nestEntry(path, entry) }).trim()}\n`,
};

const formatTomlTable = (path: readonly string[], entry: Record<string, unknown>): string =>
  stringify(nestEntry(path, entry)).trimEnd();

function parseToml(text: string): Record<string, unknown> {
  try {
    return requireTree(copyPlain(parse(text, { integersAsBigInt: 'asNeeded' })), 'the file');
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new SyntaxError(`is not valid TOML: line ${error.line}, column ${error.column}`);
  }
}

// The parser's tables have no prototype, which makes them unequal to any other.
const copyPlain = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(copyPlain)
    : typeof value === 'object' && value !== null && !(value instanceof Date)
      ? Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copyPlain(each)]))
      : value;

function appendTable(text: string, table: string, eol: string): string {
  const gap = text.trim() === '' ? '' : text.endsWith('\n') ? eol : eol + eol;
  return `${text}${gap}${table}${eol}`;
}

/** Replaces every table at the path or below it; everything else stays, including comments above the next table. */
function replaceTables(text: string, path: readonly string[], table: string): string {
  const headers = findHeaders(text);
  let result = '';
  let at = 0;
  let isPut = false;
  for (const [index, header] of headers.entries()) {
    if (!path.every((key, depth) => header.path[depth] === key)) continue;
    const next = headers[index + 1]?.start ?? text.length;
    const body = text.slice(header.start, next);
    const end = header.start + body.replace(/(?:\r?\n[ \t]*(?:#[^\n]*)?)+$/, '').length;
    result += text.slice(at, header.start) + (isPut ? '' : table);
    at = end;
    isPut = true;
  }
  return result + text.slice(at);
}

/** In order: comments, multi-line strings, strings, and other tokens that determine where a statement starts. */
const TOKEN =
  /#[^\n]*|"""(?:\\[\s\S]|[^\\])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|[[\]{}\n]|[^\s#"'[\]{}]+|[^\S\n]+/y;

/** Lists the `[table]` lines of a valid text. */
function findHeaders(text: string): { path: string[]; start: number }[] {
  const found: { path: string[]; start: number }[] = [];
  let depth = 0;
  let isStart = true;
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [token] = match;
    if (isStart && depth === 0 && token === '[')
      found.push({ path: readHeaderPath(text, match.index), start: match.index });
    if (token === '[' || token === '{') depth += 1;
    if (token === ']' || token === '}') depth -= 1;
    if (token === '\n') isStart = true;
    else if (token.trim() !== '') isStart = false;
  }
  return found;
}

/** Reads the keys of the header at `start` with the parser itself. */
function readHeaderPath(text: string, start: number): string[] {
  const end = text.indexOf('\n', start);
  const path: string[] = [];
  let inside: unknown = parse(text.slice(start, end === -1 ? undefined : end));
  for (;;) {
    const [key] = Object.keys(requireTree(Array.isArray(inside) ? inside[0] : inside, 'a header'));
    if (key === undefined) return path;
    path.push(key);
    const holder = (Array.isArray(inside) ? inside[0] : inside) as Record<string, unknown>;
    inside = holder[key];
  }
}
