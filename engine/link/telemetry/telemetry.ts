import { backoffMs } from '../../core/base/backoff.ts';
import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { version } from '../../core/base/own-package.ts';
import { isDoNotTrackSet } from '../../core/link-protocol/do-not-track.ts';
import { timeAnswer } from '../../core/link-protocol/messages.ts';
import {
  ARCHITECTURES,
  addCount,
  type DayCounts,
  findWord,
  makeDayCounts,
  PLATFORMS,
  TELEMETRY_SCHEMA,
  type TelemetryDay,
  type TOKEN_TIERS,
} from '../../core/link-protocol/telemetry-day.ts';
import type { EventLog, LoggedEvent, Storage } from '../../storage/index.ts';
import { nothing, type ServerCalls } from '../server-calls.ts';
import { COUNTED_KINDS, countEvent } from './count-event.ts';
import { createTelemetryRows, type TelemetryRow, type TelemetryRows } from './rows.ts';
import type { ShownDay, TelemetryView } from './view.ts';

const DAY_MS = 86_400_000;
/** Delay after a day's end before it is sent: calls that started in it have ended then. */
const SETTLING_MS = 3600_000;
/** Local retention of the figures. */
const KEPT_MS = 30 * DAY_MS;
/** Interval of checks for days to send. */
const LOOK_MS = 15 * 60_000;
/** Delay before a day that the server has refused is sent again: it may have been updated. */
const REFUSED_MS = DAY_MS;
const BACKOFF = { firstMs: 60_000, longestMs: 3600_000 };
/** Events that are counted per transaction. */
const AT_ONCE = 500;

const dayOf = (at: number): string => rfc3339(at).slice(0, 10);

/** Tokens through the gateway, by the tier of the provider. */
export type TierTokens = Partial<Record<(typeof TOKEN_TIERS)[number], number>>;

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
  const { storage, events, clock, log, env } = deps;
  let prepared: TelemetryRows | null = null;
  // A workspace that is not linked never needs them.
  const rows = (): TelemetryRows => (prepared ??= createTelemetryRows(storage));
  let looking: Promise<void> | null = null;
  let isDueAgain = false;
  let nextLook = 0;
  let failures = 0;
  const closing = new AbortController();

  const readWork = (): TelemetryView['work'] =>
    (deps.config().telemetry.work || 'auto') as TelemetryView['work'];

  const isLinked = (): boolean => deps.linked()?.revokedAt === null;

  /** Returns the reason that forbids counting, linked or not. */
  function findProhibition(): string | null {
    if (isDoNotTrackSet(env)) return 'DO_NOT_TRACK is set where the engine was started';
    return readWork() === 'off' ? 'telemetry.work is off' : null;
  }

  /** Returns why nothing may be counted. */
  const findRefusal = (): string | null =>
    findProhibition() ?? (isLinked() ? null : 'this workspace is not linked');

  const waitsForPerson = (): boolean =>
    findRefusal() === null && (rows().readState()?.seenSchema ?? 0) < TELEMETRY_SCHEMA;

  const findObstacle = (): string | null =>
    findRefusal() ??
    (waitsForPerson()
      ? 'a person must review it first: svc telemetry show in a terminal, or svc telemetry on'
      : null);

  async function applySettings(): Promise<void> {
    // Unlinking has removed everything.
    if (deps.linked() === null) return;
    const isWanted = findRefusal() === null;
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

  async function countDay(): Promise<void> {
    while (!closing.signal.aborted && (await storage.write(countNext)));
  }

  const isFinished = (day: string): boolean => clock.now() >= Date.parse(day) + DAY_MS + SETTLING_MS;

  function buildBody({ day, counts }: Pick<TelemetryRow, 'day' | 'counts'>, since: number): TelemetryDay {
    const tokens = { ...counts.tokens };
    for (const [tier, n] of Object.entries(deps.sumTierTokens(day, since)) as [keyof TierTokens, number][])
      addCount(tokens, tier, n);
    return {
      schema: TELEMETRY_SCHEMA,
      day,
      version: /^\d+\.\d+\.\d+/.exec(version)?.[0] ?? '0.0.0',
      node: Number.parseInt(process.versions.node, 10),
      platform: findWord(PLATFORMS, process.platform),
      architecture: findWord(ARCHITECTURES, process.arch),
      ...counts,
      tokens,
    };
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

  async function sendDay(calls: ServerCalls, row: TelemetryRow, body: TelemetryDay): Promise<void> {
    try {
      await calls.call(`/v1/usage/${row.day}`, {
        method: 'PUT',
        body,
        answer: timeAnswer,
        signal: closing.signal,
      });
    } catch (thrown) {
      const { code, message } = asSvcError(thrown);
      if (code !== 'fields_invalid') throw thrown;
      // A refused day must not block the others.
      log.warn({ day: row.day, refused: message }, 'the linked server rejected the figures of a day');
      await storage.write(() => rows().setRefused(row.day, clock.now(), message));
      return;
    }
    await storage.write(() => rows().setSent(row, JSON.stringify(body), clock.now()));
  }

  async function runDueChecks(): Promise<void> {
    const calls = deps.calls();
    await applySettings();
    const since = rows().readState()?.countingSince ?? null;
    if (since === null) return;
    await countDay();
    await addGatewayDays(since);
    for (const row of rows().listDays()) {
      // A person may have switched it off in the meantime, or linked the workspace elsewhere.
      if (calls === null || calls !== deps.calls() || findObstacle() !== null) return;
      const isHeld = row.refusedAt !== null && Math.abs(clock.now() - row.refusedAt) < REFUSED_MS;
      if (row.isDue && isFinished(row.day) && !isHeld) await sendDay(calls, row, buildBody(row, since));
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

  async function deleteThrough(calls: ServerCalls): Promise<void> {
    await calls.call('/v1/usage', { method: 'DELETE', answer: nothing }).catch((thrown: unknown) => {
      const { code, message } = asSvcError(thrown);
      if (code !== 'server_unreachable') throw thrown;
      throw new SvcError(code, message, {
        hint: 'try again once it answers; svc telemetry off stops further figures',
        cause: thrown,
      });
    });
    await storage.write(() => rows().dropSent());
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

  async function showTelemetry(): Promise<TelemetryView> {
    await applySettings();
    await countDay();
    const state = rows().readState();
    const since = state?.countingSince ?? null;
    if (since !== null) await addGatewayDays(since);
    const toShown = (row: TelemetryRow, body: string): ShownDay => ({
      day: row.day,
      isFinished: isFinished(row.day),
      body,
      sentAt: row.sentAt === null ? null : rfc3339(row.sentAt),
      refusedWhy: row.refusedWhy,
    });
    const days = rows().listDays();
    const next =
      since === null
        ? []
        : days.filter(({ isDue }) => isDue).map((row) => toShown(row, JSON.stringify(buildBody(row, since))));
    const today = countToday();
    const preview: ShownDay = {
      day: today.day,
      isFinished: false,
      body: JSON.stringify(buildBody(today, Date.parse(today.day))),
      sentAt: null,
      refusedWhy: null,
    };
    return {
      work: readWork(),
      prohibition: findProhibition(),
      obstacle: findObstacle(),
      isWaiting: waitsForPerson(),
      schema: TELEMETRY_SCHEMA,
      seenSchema: state?.seenSchema ?? 0,
      next: since === null ? [preview] : next,
      sent: days
        .filter(({ sentBody }) => sentBody !== null)
        .map((row) => toShown(row, row.sentBody ?? ''))
        .reverse(),
    };
  }

  return {
    wake: wakeTelemetry,
    applySettings,
    waitsForPerson,
    show: showTelemetry,
    async agree(schema) {
      if (schema !== TELEMETRY_SCHEMA)
        throw new SvcError('conflict', `schema ${TELEMETRY_SCHEMA} is sent, but ${schema} was reviewed`, {
          hint: 'svc telemetry show shows what is sent now',
        });
      // Linking reports it again.
      if (!isLinked()) return;
      await storage.write(() => {
        const state = rows().readState() ?? { countingSince: null, countedSeq: 0 };
        rows().putState({ ...state, seenSchema: schema });
      });
      nextLook = 0;
    },
    async deleteSent() {
      const calls = deps.calls();
      if (calls === null)
        throw new SvcError('not_linked', 'this workspace is not linked', {
          hint: "the figures on its former server are deleted on that server's page /app/usage",
        });
      while (looking !== null) await looking;
      const deleting = deleteThrough(calls);
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

const isCounted = ({ kind }: LoggedEvent): boolean => COUNTED_KINDS.includes(kind);
