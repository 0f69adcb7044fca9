import type { Clock } from '../../core/base/clock.ts';
import { type DayCounts, makeDayCounts } from '../../core/link-protocol/telemetry-day.ts';
import type { EventLog, LoggedEvent, Storage } from '../../storage/index.ts';
import { COUNTED_KINDS, countEvent } from './count-event.ts';
import { DAY_MS, dayOf, type TierTokens } from './day-body.ts';
import type { TelemetryRows } from './rows.ts';

/** Local retention of the figures. */
export const KEPT_MS = 30 * DAY_MS;
/** Events that are counted per transaction. */
const AT_ONCE = 500;

const isCounted = ({ kind }: LoggedEvent): boolean => COUNTED_KINDS.includes(kind);

export type DayCounter = ReturnType<typeof createDayCounter>;

/** Counts events by day, while that is wanted. */
export function createDayCounter(deps: {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  rows(): TelemetryRows;
  /** Returns null for a workspace that was unlinked, which has removed everything. */
  linked(): object | null;
  isWanted(): boolean;
  sumTierTokens(day: string, since: number): TierTokens;
  closing: AbortSignal;
}) {
  const { storage, events, clock, rows, closing } = deps;

  async function applySettings(): Promise<void> {
    if (deps.linked() === null) return;
    const isWanted = deps.isWanted();
    const isCounting = (): boolean => (rows().readState()?.countingSince ?? null) !== null;
    if (isWanted === isCounting()) return;
    await storage.write(() => {
      const state = rows().readState();
      if (isWanted === isCounting()) return;
      const seenSchema = state?.seenSchema ?? 0;
      const countingSince = isWanted ? clock.now() : null;
      // Earlier events were not meant for any server.
      rows().putState({ countingSince, countedSeq: events.lastSeq(), seenSchema });
      if (!isWanted) rows().dropDue();
    });
  }

  /** Counts the next events inside `storage.write`. False if there were no more. */
  function countNext(): boolean {
    const state = rows().readState();
    if (state === null || state.countingSince === null) return false;
    const found = events.listAfter(state.countedSeq, AT_ONCE);
    const last = found.at(-1);
    if (last === undefined) return false;
    for (const [day, ofDay] of Map.groupBy(found.filter(isCounted), ({ at }) => at.slice(0, 10))) {
      const counts = rows().readDay(day)?.counts ?? makeDayCounts();
      for (const event of ofDay) countEvent(counts, event, rows().readSession);
      rows().putCounts(day, counts);
    }
    rows().putState({ ...state, countedSeq: last.seq });
    return found.length === AT_ONCE;
  }

  async function countAll(): Promise<void> {
    while (!closing.aborted && (await storage.write(countNext)));
  }

  /** Adds days with only gateway usage, which have no events in the log; the engine may not have run since. */
  async function addGatewayDays(since: number): Promise<void> {
    const today = dayOf(clock.now());
    for (let at = Math.max(since, clock.now() - KEPT_MS); dayOf(at) <= today; at += DAY_MS) {
      const day = dayOf(at);
      if (rows().readDay(day) !== null) continue;
      if (Object.keys(deps.sumTierTokens(day, since)).length === 0) continue;
      await storage.write(() => {
        if (rows().readDay(day) === null) rows().putCounts(day, makeDayCounts());
      });
    }
  }

  /** Returns the current figures of today, if nothing is stored. */
  function countToday(): { day: string; counts: DayCounts } {
    const day = dayOf(clock.now());
    const counts = makeDayCounts();
    for (let before: number | undefined; ; ) {
      const found = events.listEvents({ before, limit: AT_ONCE });
      const today = found.filter(({ at }) => at.startsWith(day));
      for (const event of today.filter(isCounted)) countEvent(counts, event, rows().readSession);
      before = found.at(-1)?.seq;
      if (before === undefined || today.length === 0) return { day, counts };
    }
  }

  return { applySettings, countAll, addGatewayDays, countToday };
}
