import { parse } from 'node:path';
import { readProgramEnd } from '../core/base/read-program-end.ts';
import { runProgram } from '../core/base/run-program.ts';
import type { ForgePrograms } from './program-transport.ts';

/** A token for a code host, and the variable that holds it. */
export interface ForgeToken {
  variable: string;
  /** Undefined if the variable is not set. */
  value: string | undefined;
}

/** The means by which code hosts are asked. */
export interface ForgeAccess {
  programs: ForgePrograms;
  now(): number;
  /** The environment of the programs. */
  env: NodeJS.ProcessEnv;
  /** Finds the token that svc.yaml names for a host; null if the person's program is logged in there. */
  findToken(host: string): ForgeToken | null;
}

/** Limits of one request to a code host, made by the person's program. */
export const REQUEST_MS = 60_000;
export const REQUEST_BYTES = 32 * 1024 * 1024;
/** Limits of one log, of which only the end is kept. */
export const LOG_MS = 180_000;
export const LOG_BYTES = 4 * 1024 * 1024;

/** Runs the person's programs outside of any repository, whose settings a worker could have changed. */
export function createForgeAccess({ env, ...others }: Omit<ForgeAccess, 'programs'>): ForgeAccess {
  const where = { cwd: parse(process.cwd()).root, env };
  return {
    ...others,
    env,
    programs: {
      run: (program, args) =>
        runProgram(program, args, { ...where, timeoutMs: REQUEST_MS, mostBytes: REQUEST_BYTES }),
      readEnd: (program, args) =>
        readProgramEnd(program, args, { ...where, timeoutMs: LOG_MS, mostBytes: LOG_BYTES }),
    },
  };
}
