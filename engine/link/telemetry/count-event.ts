import {
  addCount,
  type DayCounts,
  DURATIONS,
  findWord,
  PRESET_NAMES,
  RUN_ENDS,
  TASK_SOURCES,
} from '../../core/link-protocol/telemetry-day.ts';
import type { EventKind, LoggedEvent } from '../../storage/index.ts';

/** The facts about an ended session; times are Unix ms. */
export interface CountedSession {
  started_at: number | null;
  ended_at: number | null;
  /** The total that its agent claims about runs without calls through the gateway; null for none. */
  tokens: number | null;
}

const DECISIONS: Partial<Record<EventKind, 'approved' | 'denied' | 'expired'>> = {
  approved: 'approved',
  denied: 'denied',
  decision_expired: 'expired',
};
const ENDS: readonly EventKind[] = ['sealed', 'failed', 'session_dropped'];

/** The events that are counted. */
export const COUNTED_KINDS: readonly EventKind[] = [
  'task_created',
  ...(Object.keys(DECISIONS) as EventKind[]),
  ...ENDS,
];

const CLASSES_MS = [60_000, 600_000, 3600_000, 6 * 3600_000];

function findDuration(ms: number): (typeof DURATIONS)[number] {
  const index = CLASSES_MS.findIndex((limit) => ms < limit);
  return DURATIONS[index] ?? 'longer';
}

/** Adds an event to its day. Unlisted names are counted as `other`. */
export function countEvent(
  to: DayCounts,
  { kind, via, data, sessionId }: Pick<LoggedEvent, 'kind' | 'via' | 'data' | 'sessionId'>,
  findSession: (sessionId: string) => CountedSession | null,
): void {
  if (kind === 'task_created') addCount(to.tasks, findWord(TASK_SOURCES, via));
  const outcome = DECISIONS[kind];
  if (outcome !== undefined) addCount(to.decisions, outcome);
  // A task can fail without a session too.
  if (!ENDS.includes(kind) || sessionId === null) return;
  const preset = findWord(PRESET_NAMES, data.agent);
  to.runs[preset] ??= {};
  addCount(to.runs[preset], kind === 'sealed' ? 'sealed' : findWord(RUN_ENDS, data.code));
  const session = findSession(sessionId);
  if (session === null || session.started_at === null || session.ended_at === null) return;
  addCount(to.durations, findDuration(session.ended_at - session.started_at));
  if (session.tokens !== null) addCount(to.tokens, 'account', Math.max(0, session.tokens));
}
