import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { findProgram } from '../../engine/core/base/find-program.ts';
import { until } from './wait.ts';
import { temporaryFolder } from './workspaces/git.ts';

/** Runs the real program, and once kills a process before or after that, as the file of its plan says. */
const buildScript = (real: string, plan: string): string => `#!/bin/sh
plan='${plan}'
hit=
if [ -e "$plan" ]; then
  { read -r pid moment; read -r pattern; } <"$plan"
  case "$*" in *$pattern*) hit=$moment ;; esac
fi
[ -n "$hit" ] || exec '${real}' "$@"
if [ "$hit" = before ]; then kill -9 "$pid"; rm "$plan"; exit 1; fi
'${real}' "$@"; code=$?
kill -9 "$pid"; rm "$plan"
exit $code
`;

/** Programs that kill a process once, when they are called with certain arguments. */
export interface DeadlyPrograms {
  /** The variables of a process that finds them first. */
  env: Record<string, string>;
  /**
   * Plans a death.
   * @param pattern a part of the arguments, in which `*` stands for anything
   */
  plan(program: string, death: { pid: number; moment: 'before' | 'after'; pattern: string }): void;
  /** Resolves once the planned death has happened. */
  awaitDeath(program: string): Promise<unknown>;
  close(): void;
}

export function installDeadlyPrograms(...programs: string[]): DeadlyPrograms {
  const folder = temporaryFolder();
  const bin = join(folder, 'bin');
  const path = process.env.PATH ?? '';
  const findPlan = (program: string): string => join(folder, `${program}.plan`);
  mkdirSync(bin);
  for (const program of programs) {
    const real = findProgram(program, { cwd: '/', path }) ?? program;
    writeFileSync(join(bin, program), buildScript(real, findPlan(program)));
    chmodSync(join(bin, program), 0o755);
  }
  return {
    env: { PATH: `${bin}${delimiter}${path}` },
    plan(program, { pid, moment, pattern }) {
      writeFileSync(findPlan(program), `${pid} ${moment}\n${pattern}\n`);
    },
    awaitDeath: (program) => until(() => !existsSync(findPlan(program)), `the death at ${program}`),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}
