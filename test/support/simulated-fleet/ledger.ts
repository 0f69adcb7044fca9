import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** The steps of a simulated machine, a line each: written before anyone hears of it. Times are of the system's own clock, ms. */
export type LedgerLine =
  /** A session was placed. */
  | { kind: 'place'; session: string; branch: string; base: string }
  /** A run was born, and ends by itself after that time. */
  | { kind: 'start'; session: string; run: string; branch: string; at: number; ms: number }
  /** A run was ended before its time, and is dead at that moment. */
  | { kind: 'stop'; session: string; run: string; at: number }
  /** A run that was not started never will be. */
  | { kind: 'never'; run: string }
  /** Its worktree was removed. */
  | { kind: 'clear'; branch: string };

/** A run as its machine knows it. */
export interface LedgerRun {
  session: string;
  run: string;
  branch: string;
  startedAt: number;
  /** When it ends, or has ended. */
  endsAt: number;
  isStopped: boolean;
}

/** Reports whether the runs of a session leave a commit. Most do not: git is slower than all else that they need. */
export const leavesCommit = (session: string): boolean => Number(session.slice('s-'.length)) % 4 === 0;

/** Reads a clock that is the same for all processes of this machine, ms. */
export const readClock = (): number => Number(process.hrtime.bigint()) / 1e6;

export function readLedger(file: string): LedgerLine[] {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LedgerLine);
}

/** Adds up the lines about runs, by their ids. Throws for a run that was started twice. */
export function collectRuns(lines: readonly LedgerLine[]): Map<string, LedgerRun> {
  const runs = new Map<string, LedgerRun>();
  for (const line of lines) {
    if (line.kind === 'start') {
      if (runs.has(line.run)) throw new Error(`the run ${line.run} was started twice on one machine`);
      const { session, run, branch, at: startedAt, ms } = line;
      runs.set(run, { session, run, branch, startedAt, endsAt: startedAt + ms, isStopped: false });
    } else if (line.kind === 'stop') {
      const found = runs.get(line.run);
      if (found !== undefined && line.at < found.endsAt)
        Object.assign(found, { endsAt: line.at, isStopped: true });
    }
  }
  return runs;
}

export const appendLedger = (file: string, line: LedgerLine): void =>
  appendFileSync(file, `${JSON.stringify(line)}\n`);
