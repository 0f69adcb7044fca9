import { formatId } from '../core/base/ids.ts';
import type { Session, Sessions } from '../workers/sessions/index.ts';
import type { ModelPricing } from './books/pricing.ts';
import type { UsagePart } from './books/read.ts';
import { sumUsage, type UsageGroup, type UsageSum } from './books/sum-usage.ts';

/** Sums the books by the client-facing names of sessions, tasks and workers. */
export interface NamedSums {
  /** Returns existing sessions by number. */
  findSessions(numbers: Iterable<number | null>): Map<number, Session>;
  sumBy(parts: readonly UsagePart[], group: UsageGroup, pricing: ModelPricing): UsageSum[];
}

export const DAY_MS = 86_400_000;

/** Returns midnight UTC, the given number of days before today. */
export const startOfDay = (now: number, daysBefore = 0): number =>
  Math.floor(now / DAY_MS) * DAY_MS - daysBefore * DAY_MS;

export const formatDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

export function createNamedSums(sessions: Pick<Sessions, 'list'>): NamedSums {
  function findSessions(numbers: Iterable<number | null>): Map<number, Session> {
    const ids = [...new Set(numbers)].filter((id): id is number => id !== null);
    const found = ids.length === 0 ? [] : sessions.list({ ids: ids.map((id) => formatId('s', id)) });
    return new Map(found.map((session) => [Number(session.sessionId.slice(2)), session]));
  }

  /** Returns the client-facing key of a part in each group. */
  function nameParts(parts: readonly UsagePart[], group: UsageGroup): (part: UsagePart) => string | null {
    if (group === 'worker') {
      const known = findSessions(parts.map((part) => part.session_id));
      return (part) => known.get(part.session_id ?? -1)?.workerId ?? null;
    }
    if (group === 'session')
      return (part) => (part.session_id === null ? null : formatId('s', part.session_id));
    if (group === 'task') return (part) => (part.task_id === null ? null : formatId('t', part.task_id));
    return (part) => part[group];
  }

  return {
    findSessions,
    sumBy: (parts, group, pricing) => sumUsage(parts, nameParts(parts, group), pricing),
  };
}
