import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

/** The default search path, as for execvp. */
export const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/** Finds the program's absolute path, as execvp would find it from the folder `cwd`; undefined if there is none. */
export function findProgram(
  name: string,
  { cwd, path = DEFAULT_PATH }: { cwd: string; path: string | undefined },
): string | undefined {
  if (name === '') return undefined;
  const candidates = name.includes('/')
    ? [isAbsolute(name) ? name : resolve(cwd, name)]
    : path.split(delimiter).map((folder) => join(resolve(cwd, folder), name));
  return candidates.find(isProgram);
}

/** Finds a program on the path of an environment; undefined if it is not there. */
export const findOnPath = (name: string, { PATH }: NodeJS.ProcessEnv): string | undefined =>
  findProgram(name, { cwd: '/', path: PATH });

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
