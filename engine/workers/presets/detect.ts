import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { tokenise } from '../template.ts';

/** An agent whose program is on the path. */
export interface InstalledAgent {
  preset: string;
  program: string;
  path: string;
}

/** The presets whose program can be started from here, in the order of `commands`. Nothing is run. */
export function detectAgents(
  commands: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
): InstalledAgent[] {
  const found: InstalledAgent[] = [];
  for (const [preset, template] of Object.entries(commands)) {
    const program = tokenise(template)[0] ?? '';
    const path = findProgram(program, env);
    if (path !== undefined) found.push({ preset, program, path });
  }
  return found;
}

/** The absolute path of `program` as the operating system would look it up. */
export function findProgram(program: string, env: NodeJS.ProcessEnv): string | undefined {
  if (program === '') return undefined;
  if (program.includes('/')) return isProgram(program) ? program : undefined;
  return (env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
