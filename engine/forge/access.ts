import { parse } from 'node:path';
import { readProgramEnd } from '../core/base/read-program-end.ts';
import { runProgram } from '../core/base/run-program.ts';
import type { ForgePrograms } from './program-transport.ts';

/** What requests to code hosts need. */
export interface ForgeAccess {
  programs: ForgePrograms;
  now(): number;
  /** The environment of the programs. */
  env: NodeJS.ProcessEnv;
}

/** Limits of one request to a code host, made by the person's program. */
const REQUEST_MS = 60_000;
const REQUEST_BYTES = 32 * 1024 * 1024;
/** Limits of one log, of which only the end is kept. */
const LOG_MS = 180_000;
const LOG_BYTES = 4 * 1024 * 1024;

/** Runs the person's programs outside of any repository, whose settings a worker could have changed. */
export function createForgeAccess({ env, now }: Pick<ForgeAccess, 'env' | 'now'>): ForgeAccess {
  const where = { cwd: parse(process.cwd()).root, env };
  return {
    env,
    now,
    programs: {
      run: (program, args) =>
        runProgram(program, args, { ...where, timeoutMs: REQUEST_MS, mostBytes: REQUEST_BYTES }),
      readEnd: (program, args) =>
        readProgramEnd(program, args, { ...where, timeoutMs: LOG_MS, mostBytes: LOG_BYTES }),
    },
  };
}
