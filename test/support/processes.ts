import { readdirSync, readFileSync } from 'node:fs';

/** What /proc says of a process; null when there is none. */
export interface ProcessStat {
  pid: number;
  /** One letter, `Z` for a process that has ended and waits for its parent. */
  state: string;
  parent: number;
  /** The process that called setsid for it: the program that a terminal was opened for. */
  session: number;
  /** Start time in clock ticks: with the pid it names one process for good. */
  started: string;
}

/** Reads `/proc/<pid>/stat`. The program's name may hold blanks and brackets, so fields are counted from its end. */
export function processStat(pid: number): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state = '', parent, , session] = fields;
    return { pid, state, parent: Number(parent), session: Number(session), started: fields[19] ?? '' };
  } catch {
    return null;
  }
}

/** Running, and not a zombie that waits for its parent. */
export function isRunning(pid: number): boolean {
  const stat = processStat(pid);
  return stat !== null && stat.state !== 'Z';
}

/** The running processes of a session, its leader among them. */
export function processesOfSession(session: number): ProcessStat[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => processStat(Number(name)) ?? [])
    .filter((stat) => stat.session === session && stat.state !== 'Z');
}
