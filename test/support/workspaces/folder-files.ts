import { readdirSync, readFileSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';
import { settled } from '../wait.ts';

/** Returns the paths of all files below a folder, sorted. */
export const listFilesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort();

/** Returns the files' texts by path. */
export const readFilesBelow = (folder: string): Record<string, string> =>
  Object.fromEntries(listFilesBelow(folder).map((path) => [path, readFileSync(join(folder, path), 'utf8')]));

/** Resolves once a matching name has existed in a folder, even briefly. Watches from the call on. */
export async function appears(folder: string, isIt: (name: string) => boolean, what: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watcher = watch(folder, (_event, name) => {
    if (name !== null && isIt(name)) resolve();
  });
  try {
    await settled(promise, what);
  } finally {
    watcher.close();
  }
}
