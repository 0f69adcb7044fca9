import { isDeepStrictEqual } from 'node:util';
import { applyEdits, modify, type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import type { ClientFormat } from './format.ts';
import { addEntry, nestEntry, readEntry, requireTree } from './format.ts';

const BOM = '\uFEFF';

/**
 * Returns the text with another value at the path, undefined for none; `isInsertion` inserts it before the item at a
 * list index.
 */
export function editJson(
  text: string,
  path: readonly (string | number)[],
  value: unknown,
  { isInsertion = false }: { isInsertion?: boolean },
): string {
  const mark = text.startsWith(BOM) ? BOM : '';
  const plain = text.slice(mark.length);
  const [, indent = '  '] = /^([ \t]+)["}]/m.exec(plain) ?? [];
  const edits = modify(plain, [...path], value, {
    isArrayInsertion: isInsertion,
    formattingOptions: {
      insertSpaces: !indent.startsWith('\t'),
      tabSize: indent.startsWith('\t') ? 1 : indent.length,
      eol: plain.includes('\r\n') ? '\r\n' : '\n',
    },
  });
  return mark + applyEdits(plain, edits);
}

/** JSON, also with comments and trailing commas, as several programs allow them. */
export const jsonFormat: ClientFormat = {
  find(text, path) {
    return readEntry(parseObject(text), path);
  },
  put(text, path, entry) {
    const mark = text.startsWith(BOM) ? BOM : '';
    const plain = text.slice(mark.length);
    const before = parseObject(plain);
    const after = editJson(plain, path, entry, {});
    // Such as a duplicate key, which is read from one place and written to the other.
    return isDeepStrictEqual(parseObject(after), addEntry(before, path, entry)) ? mark + after : null;
  },
  show: (path, entry) => JSON.stringify(nestEntry(path, entry), null, 2),
  fresh: (start, path, entry) => `${JSON.stringify({ ...start, ...nestEntry(path, entry) }, null, 2)}\n`,
};

function parseObject(text: string): Record<string, unknown> {
  const plain = text.replace(BOM, '');
  const errors: ParseError[] = [];
  const value: unknown = parse(plain, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) {
    const line = plain.slice(0, error.offset).split('\n').length;
    throw new SyntaxError(`is not valid JSON: ${printParseErrorCode(error.error)} in line ${line}`);
  }
  return requireTree(value, 'the file');
}
