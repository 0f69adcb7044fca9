import { collectRuns, type LedgerLine, type LedgerRun, leavesCommit } from './ledger.ts';

/** The row of a session, as the board has recorded it. */
export interface SessionRow {
  id: number;
  state: string;
  failure_code: string | null;
  failure_text: string | null;
  run_id: string | null;
}

/** The faults, a line each. All four have to be empty. */
export interface Verdict {
  lost: string[];
  acceptedTwice: string[];
  startedTwice: string[];
  aliveTwice: string[];
}

/** The board's records of the sessions. */
export interface BoardRecord {
  sessions: readonly SessionRow[];
  /** How often an end was recorded, how many runs were given up, and how often one paused, by session. */
  counts: ReadonlyMap<number, { ends: number; lost: number; pauses: number }>;
  /** The text of each commit on the branch of a session, by session. */
  work: ReadonlyMap<number, string[]>;
}

/** Compares what the board has recorded with what the machines have done. */
export function judgeSessions(
  { sessions, counts, work }: BoardRecord,
  ledgers: ReadonlyMap<string, readonly LedgerLine[]>,
): Verdict {
  const verdict: Verdict = { lost: [], acceptedTwice: [], startedTwice: [], aliveTwice: [] };
  const bySession = new Map<string, (LedgerRun & { machine: string })[]>();
  const machineOf = new Map<string, string>();
  for (const [machine, lines] of ledgers)
    for (const [id, run] of collectRuns(lines)) {
      const other = machineOf.get(id);
      if (other !== undefined) verdict.startedTwice.push(`${id} on ${other} and ${machine}`);
      machineOf.set(id, machine);
      bySession.set(run.session, [...(bySession.get(run.session) ?? []), { ...run, machine }]);
    }
  /** The machines that each session was placed on. */
  const places = new Map<string, string[]>();
  for (const [machine, lines] of ledgers)
    for (const line of lines)
      if (line.kind === 'place') places.set(line.session, [...(places.get(line.session) ?? []), machine]);
  for (const { id, state, failure_code: failure, failure_text: text, run_id: accepted } of sessions) {
    const session = `s-${id}`;
    const runs = (bySession.get(session) ?? []).toSorted((one, other) => one.startedAt - other.startedAt);
    const { ends = 0, lost = 0, pauses = 0 } = counts.get(id) ?? {};
    const commits = work.get(id) ?? [];
    const told = JSON.stringify({
      ...{
        session,
        state,
        failure,
        text,
        accepted,
        ends,
        lost,
        pauses,
        commits,
        runs,
        places: places.get(session),
      },
    });
    const last = runs.find(({ run }) => run === accepted);
    const isWhole =
      state === 'ended' && failure === null && ends > 0 && last !== undefined && !last.isStopped;
    const wanted = leavesCommit(session) ? `${session} ${accepted}` : undefined;
    if (!isWhole || commits.at(0) !== wanted) verdict.lost.push(told);
    if (ends > 1 || commits.length > 1) verdict.acceptedTwice.push(told);
    // Each run but the last was given up, or has paused.
    if (runs.length > 1 + lost + pauses) verdict.startedTwice.push(told);
    if (runs.some(({ startedAt }, at) => at > 0 && startedAt < (runs[at - 1]?.endsAt ?? 0)))
      verdict.aliveTwice.push(told);
  }
  return verdict;
}
