import { findProgram } from '../program.ts';
import { splitCommand } from '../template.ts';

/** An agent whose program is on the path. */
export interface InstalledAgent {
  preset: string;
  program: string;
  path: string;
}

/** Finds the presets whose program can be started from here, in the order of `commands`. Runs nothing. */
export function detectAgents(
  commands: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
  cwd = process.cwd(),
): InstalledAgent[] {
  const found: InstalledAgent[] = [];
  for (const [preset, template] of Object.entries(commands)) {
    const program = splitCommand(template)[0] ?? '';
    const path = findProgram(program, { cwd, path: env.PATH });
    if (path !== undefined) found.push({ preset, program, path });
  }
  return found;
}
