import { findProgram } from '../../core/base/find-program.ts';
import { listPrograms, locateAgent } from './locate-agent.ts';

/** An agent whose program is on the path. */
export interface InstalledAgent {
  preset: string;
  program: string;
  path: string;
}

/** Finds the presets whose programs can be started from here, in the order of `commands`. Runs nothing. */
export function detectAgents(
  commands: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
  cwd = process.cwd(),
): InstalledAgent[] {
  const found: InstalledAgent[] = [];
  for (const [preset, template] of Object.entries(commands)) {
    const programs = listPrograms(locateAgent(template, preset));
    const paths = programs.map((program) => findProgram(program, { cwd, path: env.PATH }));
    if (paths.every((path) => path !== undefined))
      found.push({ preset, program: programs.at(-1) ?? '', path: paths.at(-1) ?? '' });
  }
  return found;
}
