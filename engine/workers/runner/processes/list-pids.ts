import { readdirSync } from 'node:fs';

/** Lists the pids of this machine, on Linux; null if the process table cannot be read. */
export function listPids(): number[] | null {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    return null;
  }
}
