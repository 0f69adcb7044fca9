import { backoffMs } from '../../core/base/backoff.ts';
import type { Clock } from '../../core/base/clock.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import type { TelemetryDay } from '../../core/link-protocol/telemetry-day.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { ServerCalls } from '../server-calls.ts';
import { createTelemetryConsent } from './consent.ts';
import { createDayCounter, KEPT_MS } from './count-days.ts';
import { buildDayBody, DAY_MS, dayOf, isDayFinished, type TierTokens } from './day-body.ts';
import { createFigureCalls } from './figure-calls.ts';
import { createTelemetryRows, type TelemetryRow, type TelemetryRows } from './rows.ts';
import { showTelemetry } from './show.ts';
import type { TelemetryView } from './view.ts';

/** Interval of checks for days to send. */
const LOOK_MS = 15 * 60_000;
/** Delay before a day that the server has refused is sent again: it may have been updated. */
const REFUSED_MS = DAY_MS;
const BACKOFF = { firstMs: 60_000, longestMs: 3600_000 };

export interface TelemetryDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  log: Log;
  env: NodeJS.ProcessEnv;
  config(): { telemetry: { work: string } };
  /** Returns the linked server of this workspace; null without one. */
  linked(): { revokedAt: number | null } | null;
  /** Returns null while it is not linked; changes when it is linked again. */
  calls(): ServerCalls | null;
  /** Returns for calls that started on that UTC day, and at `since` (Unix ms) or later. */
  sumTierTokens(day: string, since: number): TierTokens;
}

/** Counts events by day while the workspace is linked, and sends each day once it is over. */
export interface LinkTelemetry {
  /** Called while the server answers this engine: checks at intervals for days to send. */
  wake(): void;
  /** Starts or stops counting, by the current settings and link. */
  applySettings(): Promise<void>;
  /** Reports whether there is something that no one has agreed to. */
  waitsForPerson(): boolean;
  show(): Promise<TelemetryView>;
  /**
   * Records that a person has seen what that schema sends; ignored while the workspace is not linked. Throws
   * `conflict` for a schema other than the one in use.
   */
  agree(schema: number): Promise<void>;
  /** Deletes the server's figures of this workspace. Throws `not_linked`, and the errors of server calls. */
  deleteSent(): Promise<void>;
  /** Resolves when nothing is in progress. */
  close(): Promise<void>;
}

export function createTelemetry(deps: TelemetryDeps): LinkTelemetry {
  const { storage, clock, log } = deps;
  let prepared: TelemetryRows | null = null;
  // A workspace that is not linked never needs them.
  const rows = (): TelemetryRows => (prepared ??= createTelemetryRows(storage));
  let looking: Promise<void> | null = null;
  let isDueAgain = false;
  let nextLook = 0;
  let failures = 0;
  const closing = new AbortController();
  const consent = createTelemetryConsent({ ...deps, rows });
  const counter = createDayCounter({
    ...deps,
    rows,
    isWanted: () => consent.findRefusal() === null,
    closing: closing.signal,
  });
  const bodyOf = (row: Pick<TelemetryRow, 'day' | 'counts'>, since: number): TelemetryDay =>
    buildDayBody(row, deps.sumTierTokens(row.day, since));

  const figures = createFigureCalls({ storage, clock, log, rows, signal: closing.signal });

  async function runDueChecks(): Promise<void> {
    const calls = deps.calls();
    await counter.applySettings();
    const since = rows().readState()?.countingSince ?? null;
    if (since === null) return;
    await counter.countAll();
    await counter.addGatewayDays(since);
    for (const row of rows().listDays()) {
      // A person may have switched it off in the meantime, or linked the workspace elsewhere.
      if (calls === null || calls !== deps.calls() || consent.findObstacle() !== null) return;
      const isHeld = row.refusedAt !== null && Math.abs(clock.now() - row.refusedAt) < REFUSED_MS;
      if (row.isDue && isDayFinished(row.day, clock.now()) && !isHeld)
        await figures.sendDay(calls, row, bodyOf(row, since));
    }
    const oldest = dayOf(clock.now() - KEPT_MS);
    if (
      rows()
        .listDays()
        .some(({ day }) => day < oldest)
    )
      await storage.write(() => rows().dropBefore(oldest));
  }

  function wakeTelemetry(): void {
    if (closing.signal.aborted || clock.monotonic() < nextLook) return;
    // The check in progress may have passed an item that is due now.
    isDueAgain = looking !== null;
    if (isDueAgain) return;
    nextLook = clock.monotonic() + LOOK_MS;
    looking = runDueChecks()
      .then(() => {
        failures = 0;
      })
      .catch((thrown: unknown) => {
        failures += 1;
        const { code, message, data } = asSvcError(thrown);
        const asked = typeof data.retry_after_ms === 'number' ? data.retry_after_ms : 0;
        nextLook = clock.monotonic() + Math.max(asked, backoffMs(failures, BACKOFF));
        if (code !== 'revoked' && !closing.signal.aborted)
          log.warn({ error: message }, 'the figures of a day were not sent');
      })
      .finally(endLook);
  }

  function endLook(): void {
    looking = null;
    if (isDueAgain) wakeTelemetry();
  }

  return {
    wake: wakeTelemetry,
    applySettings: counter.applySettings,
    waitsForPerson: consent.waitsForPerson,
    show: () => showTelemetry({ clock, rows, consent, counter, bodyOf }),
    async agree(schema) {
      if (await consent.agree(schema)) nextLook = 0;
    },
    async deleteSent() {
      const calls = deps.calls();
      if (calls === null)
        throw new SvcError('not_linked', 'this workspace is not linked', {
          hint: "the figures on its former server are deleted on that server's page /app/usage",
        });
      while (looking !== null) await looking;
      const deleting = figures.deleteSent(calls);
      // Items that become due in the meantime are sent after it.
      looking = deleting.catch(() => undefined).finally(endLook);
      await deleting;
    },
    async close() {
      closing.abort();
      await looking;
    },
  };
}
