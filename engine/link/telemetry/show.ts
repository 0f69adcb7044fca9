import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import { TELEMETRY_SCHEMA, type TelemetryDay } from '../../core/link-protocol/telemetry-day.ts';
import type { TelemetryConsent } from './consent.ts';
import type { DayCounter } from './count-days.ts';
import { isDayFinished } from './day-body.ts';
import type { TelemetryRow, TelemetryRows } from './rows.ts';
import type { ShownDay, TelemetryView } from './view.ts';

/** Returns the figures that were sent, and the next ones exactly as they would be sent. */
export async function showTelemetry({
  clock,
  rows,
  consent,
  counter,
  bodyOf,
}: {
  clock: Clock;
  rows(): TelemetryRows;
  consent: TelemetryConsent;
  counter: DayCounter;
  bodyOf(row: Pick<TelemetryRow, 'day' | 'counts'>, since: number): TelemetryDay;
}): Promise<TelemetryView> {
  await counter.applySettings();
  await counter.countAll();
  const state = rows().readState();
  const since = state?.countingSince ?? null;
  if (since !== null) await counter.addGatewayDays(since);
  const toShown = (row: TelemetryRow, body: string): ShownDay => ({
    day: row.day,
    isFinished: isDayFinished(row.day, clock.now()),
    body,
    sentAt: row.sentAt === null ? null : rfc3339(row.sentAt),
    refusedWhy: row.refusedWhy,
  });
  const days = rows().listDays();
  const next =
    since === null
      ? []
      : days.filter(({ isDue }) => isDue).map((row) => toShown(row, JSON.stringify(bodyOf(row, since))));
  const today = counter.countToday();
  const preview: ShownDay = {
    day: today.day,
    isFinished: false,
    body: JSON.stringify(bodyOf(today, Date.parse(today.day))),
    sentAt: null,
    refusedWhy: null,
  };
  return {
    work: consent.readWork(),
    prohibition: consent.findProhibition(),
    obstacle: consent.findObstacle(),
    isWaiting: consent.waitsForPerson(),
    schema: TELEMETRY_SCHEMA,
    seenSchema: state?.seenSchema ?? 0,
    next: since === null ? [preview] : next,
    sent: days
      .filter(({ sentBody }) => sentBody !== null)
      .map((row) => toShown(row, row.sentBody ?? ''))
      .reverse(),
  };
}
