import type { Files } from '../graph-rig.ts';

/**
 * A small program and all its calls: `f>g`, with names as in their file, `path:name` for files other than the first,
 * and an empty name for code outside functions. Any call that is not listed is wrong.
 */
export interface CallCase {
  name: string;
  /** The first file; a line `=== path` starts another file. */
  text: string;
  calls: string;
}

/** Parses cases in the form of `# name`, the program, and `-> calls`. */
export function readCases(text: string): CallCase[] {
  return text
    .split(/^# /m)
    .slice(1)
    .map((part) => {
      const [, name = '', body = '', calls = ''] = /^(.*)\n([\s\S]*)^->(.*)$/m.exec(part) ?? [];
      return { name, text: body, calls: calls.trim() };
    });
}

/** Returns the files of a case. @param first the path of the first one */
export function filesOf({ text }: CallCase, first: string): Files {
  const [main = '', ...others] = text.split(/^=== /m);
  const files = others.map((part): [string, string] => {
    const end = part.indexOf('\n');
    return [part.slice(0, end), part.slice(end + 1)];
  });
  return Object.fromEntries([[first, main], ...files]);
}

/** Returns the calls of a case in the form of `listCalls`, without their kind and confidence. */
export function callsOf({ calls }: CallCase, first: string): string[] {
  const place = (name: string): string =>
    name === '' ? first : name.includes(':') ? name : `${first}:${name}`;
  return calls
    .split(' ')
    .filter((each) => each !== '')
    .map((each) => each.split('>'))
    .map(([from = '', to = '']) => `${place(from)} -> ${place(to)}`)
    .sort();
}
