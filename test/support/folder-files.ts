import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The paths of all files below a folder, in order. */
export const listFilesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort();

/** Their texts, by path. */
export const readFilesBelow = (folder: string): Record<string, string> =>
  Object.fromEntries(listFilesBelow(folder).map((path) => [path, readFileSync(join(folder, path), 'utf8')]));
