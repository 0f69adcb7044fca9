import { lstatSync, mkdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

/**
 * Makes a folder below `top`, where a worker may have written before, step by step, so that nothing is made behind a link
 * that it has left. Null, or the path that is in the way.
 */
export function madeWithin(top: string, folder: string): string | null {
  mkdirSync(top, { recursive: true, mode: 0o700 });
  let at = top;
  for (const part of relative(top, folder).split(sep)) {
    if (part === '') continue;
    at = join(at, part);
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (found === undefined) mkdirSync(at, { mode: 0o700 });
    else if (!found.isDirectory()) return at;
  }
  return null;
}
