import { isDeepStrictEqual } from 'node:util';
import { applyEdits, modify, type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import type { Format } from './format.ts';
import { asTree, entryAt, nest, withEntry } from './format.ts';

const BOM = '\uFEFF';

/** The text with another value at the path, undefined for none; `isInsertion` puts it before what is at a list's place. */
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
export const json: Format = {
  find(text, path) {
    return entryAt(read(text), path);
  },
  put(text, path, entry) {
    const mark = text.startsWith(BOM) ? BOM : '';
    const plain = text.slice(mark.length);
    const before = read(plain);
    const after = editJson(plain, path, entry, {});
    // A key that stands there twice, for instance, is read from one place and written to the other.
    return isDeepStrictEqual(read(after), withEntry(before, path, entry)) ? mark + after : null;
  },
  show: (path, entry) => JSON.stringify(nest(path, entry), null, 2),
  fresh: (start, path, entry) => `${JSON.stringify({ ...start, ...nest(path, entry) }, null, 2)}\n`,
};

function read(text: string): Record<string, unknown> {
  const plain = text.replace(BOM, '');
  const errors: ParseError[] = [];
  const value: unknown = parse(plain, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) {
    const line = plain.slice(0, error.offset).split('\n').length;
    throw new SyntaxError(`is not valid JSON: ${printParseErrorCode(error.error)} in line ${line}`);
  }
  return asTree(value, 'the file');
}
