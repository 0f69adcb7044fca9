import { mkdirSync } from 'node:fs';
import { makeFoldersWithin } from '../private-files.ts';

/**
 * Makes a folder below `top`, where a worker may have written before, step by step, so that nothing is made behind a link
 * that it has left. Null, or the path that is in the way.
 */
export function madeWithin(top: string, folder: string): string | null {
  mkdirSync(top, { recursive: true, mode: 0o700 });
  return makeFoldersWithin(top, folder);
}
