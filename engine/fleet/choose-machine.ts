import type { MachineState } from './machine-connection.ts';
import { hasDisk } from './machine-disk.ts';
import type { RunnerRecord } from './records.ts';

/** A machine that a session may go to. */
export interface Candidate {
  record: RunnerRecord;
  /** Null while the engine has not tried to connect to it. */
  state: MachineState | null;
  /** True if the agent's programs are there; null while that is not known. */
  hasAgent: boolean | null;
  /** How many sessions work there. */
  working: number;
  /** True if a run of the session that was given up may still be alive there. */
  isHolder: boolean;
}

/** Needs of a run. */
export interface WantedMachine {
  agent: string;
  isStrict: boolean;
}

/** Why a machine does not take a run. */
interface Obstacle {
  /** A clause. */
  why: string;
  /** True if it passes by itself soon: a session whose worktree is there waits for that. */
  isShort: boolean;
}

/** How long a machine may be silent before its sessions that wait go to others, ms. */
const SHORT_MS = 30_000;

/** Counts the workers that a machine takes at most: as told here, and as its own person allows. */
export const countSlots = ({ most }: RunnerRecord, state: MachineState | null): number =>
  Math.min(most, state?.facts?.most ?? most);

/** Finds why a machine does not take a run now; null if it does. */
function findObstacle(
  { record, state, hasAgent, working, isHolder }: Candidate,
  { agent, isStrict }: WantedMachine,
  now: number,
): Obstacle | null {
  const { name, isDrained, isRevoked } = record;
  const lasting = (why: string): Obstacle => ({ why, isShort: false });
  const short = (why: string): Obstacle => ({ why, isShort: true });
  if (isRevoked) return lasting(`${name} was revoked`);
  if (isDrained) return lasting(`${name} is drained`);
  const most = countSlots(record, state);
  if (state === null || state.state === 'connecting') return short(`${name} is being connected`);
  if (state.state === 'silent')
    return {
      why: `${name} is not connected: ${state.why ?? 'it does not answer'}`,
      isShort: now - state.since < SHORT_MS,
    };
  if (isHolder) return lasting(`${name} still has an earlier run of it`);
  const { agents = null, confinementProblem: problem = null, profile } = state.facts ?? {};
  if (agents !== null && !agents.includes(agent))
    return lasting(`the person of ${name} does not allow ${agent}`);
  if ((isStrict || profile === 'strict') && problem !== null)
    return lasting(`${name} cannot confine workers: ${problem}`);
  if (hasAgent === null) return short(`${name} is asked whether it has ${agent}`);
  if (!hasAgent) return lasting(`${name} has no ${agent}`);
  if (!hasDisk(state.load)) return lasting(`the disk of ${name} is almost full`);
  return working >= most ? short(`${name} is full: ${working} of ${most}`) : null;
}

/** A list of sessions repeats them for each. */
const MOST_REASONS = 5;

function joinReasons(reasons: readonly string[]): string {
  const more = reasons.length - MOST_REASONS;
  return [...reasons.slice(0, MOST_REASONS), ...(more > 0 ? [`and ${more} more machines`] : [])].join('; ');
}

/**
 * Chooses the machine with the most room; otherwise the reasons of all.
 * @param home the id of the machine that has the session's worktree and conversation; null for none. Others are
 * considered once that one has an obstacle that lasts.
 */
export function chooseCandidate(
  candidates: readonly Candidate[],
  wanted: WantedMachine,
  { home, now }: { home: string | null; now: number },
): { runner: string } | { why: string } {
  const reasons: string[] = [];
  let best: Candidate | null = null;
  const room = ({ record, state, working }: Candidate): number => countSlots(record, state) - working;
  const own = candidates.find(({ record }) => record.id === home);
  const ordered = own === undefined ? candidates : [own, ...candidates.filter((each) => each !== own)];
  for (const candidate of ordered) {
    const obstacle = findObstacle(candidate, wanted, now);
    if (obstacle !== null) reasons.push(obstacle.why);
    else if (best === null || room(candidate) > room(best)) best = candidate;
    if (candidate === own && (obstacle === null || obstacle.isShort)) break;
  }
  return best === null
    ? { why: joinReasons(reasons) || 'the pool has no machine' }
    : { runner: best.record.id };
}
