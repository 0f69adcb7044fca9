import type { MachineState } from './machine-connection.ts';
import type { RunnerRecord } from './records.ts';

/** A machine that a session may go to. */
export interface Candidate {
  record: RunnerRecord;
  /** Null while the engine has not tried to connect to it. */
  state: MachineState | null;
  /** Whether the agent's programs are there; null while that is not known. */
  hasAgent: boolean | null;
  /** How many sessions work there. */
  working: number;
}

/** Counts the workers that a machine takes at most: as told here, and as its own person allows. */
export const countSlots = ({ most }: RunnerRecord, state: MachineState | null): number =>
  Math.min(most, state?.facts?.most ?? most);

/** Explains why a machine does not take a run now, a clause; null if it does. */
export function explainMachine(
  { record, state, hasAgent, working }: Candidate,
  { agent, isStrict }: { agent: string; isStrict: boolean },
): string | null {
  const { name, isDrained } = record;
  if (isDrained) return `${name} is drained`;
  const most = countSlots(record, state);
  if (state === null || state.state === 'connecting') return `${name} is being connected`;
  if (state.state === 'silent') return `${name} is not connected: ${state.why ?? 'it does not answer'}`;
  const { agents = null, confinementProblem: problem = null, profile } = state.facts ?? {};
  if (agents !== null && !agents.includes(agent)) return `the person of ${name} does not allow ${agent}`;
  if ((isStrict || profile === 'strict') && problem !== null)
    return `${name} cannot confine workers: ${problem}`;
  if (hasAgent === null) return `${name} is asked whether it has ${agent}`;
  if (!hasAgent) return `${name} has no ${agent}`;
  return working >= most ? `${name} is full: ${working} of ${most}` : null;
}

/** Chooses the machine with the most room; otherwise the reasons of all. */
export function chooseCandidate(
  candidates: readonly Candidate[],
  wanted: { agent: string; isStrict: boolean },
): { runner: string } | { why: string } {
  const reasons: string[] = [];
  let best: Candidate | null = null;
  const room = ({ record, state, working }: Candidate): number => countSlots(record, state) - working;
  for (const candidate of candidates) {
    const why = explainMachine(candidate, wanted);
    if (why !== null) reasons.push(why);
    else if (best === null || room(candidate) > room(best)) best = candidate;
  }
  return best === null
    ? { why: reasons.join('; ') || 'the pool has no machine' }
    : { runner: best.record.id };
}
