import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import { createDueTimer } from '../../core/base/due-timer.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { AgentNotify } from '../../workers/agents/index.ts';
import type { PrepareCommand } from '../../workers/runner/processes/index.ts';
import type { SessionPeers } from '../../workers/sessions/index.ts';
import type { MessageRow } from '../messages/rows.ts';
import type { Notices } from '../notices/index.ts';
import { needsBase, sendRequests } from './http.ts';
import { createLanes } from './lanes.ts';
import type { TriedDelivery } from './log.ts';
import { type DeliveryOutcome, failedOutcome, MOST_TRIES, retryDelayMs, TOLD } from './outcome.ts';
import { createPendingRows, type SettledDelivery } from './rows.ts';
import { runNotifyCommand } from './run-command.ts';
import { findTargets, type NoticeTarget } from './targets.ts';
import { buildNoticeValues, escapeForBlock, restrictToFileNames, type TemplateValues } from './values.ts';

/** Splits and fills the templates of `agents.notify`. */
export interface NotifyTemplates {
  /** The entry of agents without one, of mode `file`. */
  fallback: AgentNotify;
  words(template: string): string[];
  fill(template: string, values: TemplateValues): string;
  isLoopback(host: string): boolean;
}

export interface DeliveryDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  peers: SessionPeers;
  notices: Notices;
  templates: NotifyTemplates;
  entries(): Readonly<Record<string, AgentNotify>>;
  busLog: { add(tried: TriedDelivery): void };
  /** The working folder of commands. */
  root: string;
  prepare: PrepareCommand;
  onError(message: string): void;
}

/** Delivers notices of committed messages. The inbox stays authoritative, regardless of notices. */
export interface BusDelivery {
  /** Marks that a message was written; it is delivered after the commit. */
  pending(): void;
  start(): void;
  /** Aborts deliveries in progress and leaves them pending for the next start. */
  close(): Promise<void>;
}

const STALLED_MS = 5000;
/** Events after which a new session may be live. */
const ARRIVALS = new Set(['session_joined', 'dispatched', 'session_started']);

export function createDelivery(deps: DeliveryDeps): BusDelivery {
  const { storage, clock, notices, templates, busLog } = deps;
  const { fill, words, fallback } = templates;
  const rows = createPendingRows(storage);
  const lanes = createLanes(clock);
  const closing = new AbortController();
  /** Messages that are being delivered. */
  const deliveries = new Map<number, Promise<void>>();
  /** The finished parts of each pending message, so that a retry repeats only the rest. */
  const doneParts = new Map<number, Set<string>>();
  /** Up to this id, an earlier host may have written a block and died before recording it. */
  const earlier = rows.lastId();
  let isStarted = false;
  let mayBeDue = true;
  let mayHaveArrived = true;
  const timer = createDueTimer({ clock, onDue: scheduleDelivery });
  let woken: NodeJS.Immediate | undefined;

  deps.events.onAppend(({ kind }) => {
    if (ARRIVALS.has(kind)) mayHaveArrived = true;
  });
  const stopListening = storage.onCommit(() => {
    if (mayBeDue || mayHaveArrived || timer.isDue()) scheduleDelivery();
  });

  /** Schedules a delivery for after the answers to the writers, which are sent first. */
  function scheduleDelivery(): void {
    if (isStarted) woken ??= setImmediate(deliverDue);
  }

  function deliverDue(): void {
    woken = undefined;
    if (closing.signal.aborted || !storage.db.open) return;
    try {
      const now = clock.now();
      const ids = mayHaveArrived ? [...rows.waiting(), ...rows.due(now)] : rows.due(now);
      mayBeDue = false;
      mayHaveArrived = false;
      for (const id of ids) if (!deliveries.has(id)) startDelivery(id);
      timer.sleepUntil(rows.nextAfter(now));
    } catch (error) {
      deps.onError(asSvcError(error).message);
      timer.sleepUntil(clock.now() + STALLED_MS);
    }
  }

  function startDelivery(id: number): void {
    const row = rows.get(id);
    if (row === undefined) return;
    const targets = findTargets(row, { ...deps, ...templates });
    if (targets.length === 0 && row.next_at === null) return;
    // Files are written synchronously, in message order; only what can hang takes a lane.
    const outcomes = targets.map((target) => notifyTarget(row, target));
    const flight = Promise.all(outcomes)
      .then((all) => recordOutcomes(id, all))
      .catch(async (error: unknown) => {
        deps.onError(`the delivery of message ${id} was not recorded: ${asSvcError(error).message}`);
        // An immediate retry would fail the same way.
        await waitUnlessAborted(STALLED_MS, closing.signal);
      })
      .finally(() => {
        deliveries.delete(id);
        mayBeDue = true;
        scheduleDelivery();
      });
    deliveries.set(id, flight);
  }

  async function recordOutcomes(id: number, outcomes: readonly (DeliveryOutcome | null)[]): Promise<void> {
    const known = outcomes.filter((outcome) => outcome !== null);
    if (closing.signal.aborted || known.length < outcomes.length) return;
    const row = rows.get(id);
    if (row === undefined) {
      doneParts.delete(id);
      return;
    }
    const settled = judgeOutcomes(row, known, clock.now());
    await storage.write(() => rows.settle(id, settled));
    if (settled.state !== 'pending') doneParts.delete(id);
  }

  /** Notifies one session according to its agent's entry. Never throws. Null if closing aborted it. */
  function notifyTarget(row: MessageRow, target: NoticeTarget): Promise<DeliveryOutcome | null> {
    const { mode } = target.entry;
    if (mode === 'none') return Promise.resolve({ state: 'none' });
    if (mode === 'file') return Promise.resolve(writeNoticeFile(row, target, target.entry));
    if (mode === 'http') {
      // An agent may accept a request with no one at its screen, so the file is written too.
      const written = writeNoticeFile(row, target, fallback);
      if (needsBase(target.entry) && target.notifyBase === null) {
        const note = 'no local address of the agent is known (SVC_NOTIFY_URL): only its file was written';
        return Promise.resolve(written.state === 'failed' ? written : { state: 'told', note });
      }
      return sendInLane(row.id, target, (values, signal) =>
        sendRequests(target.entry, values, { fill, signal }),
      );
    }
    const command = target.entry.cmd ?? '';
    return sendInLane(row.id, target, (values, signal) =>
      runNotifyCommand(command, values, { words, fill, cwd: deps.root, prepare: deps.prepare, signal }),
    );
  }

  function writeNoticeFile(row: MessageRow, target: NoticeTarget, entry: AgentNotify): DeliveryOutcome {
    const part = `file ${target.session}`;
    if (isDone(row.id, part)) return TOLD;
    const values = buildNoticeValues(row, target);
    const outcome = tryToWrite(() => {
      const file = notices.file(fill(entry.path ?? fallback.path ?? '', restrictToFileNames(values)));
      const block = fill(entry.body ?? fallback.body ?? '', escapeForBlock(values));
      if (row.id > earlier || !notices.has(file, block)) notices.append(file, block);
    });
    return recordTry(row, target, 'file', part, outcome);
  }

  /** Runs `send` in the target's lane. Only the id is queued; the message is read when its turn comes. */
  async function sendInLane(
    id: number,
    target: NoticeTarget,
    send: (values: TemplateValues, signal: AbortSignal) => Promise<DeliveryOutcome | null>,
  ): Promise<DeliveryOutcome | null> {
    const { mode } = target.entry;
    const part = `${mode} ${target.session}`;
    if (isDone(id, part)) return TOLD;
    return lanes.run(part, async () => {
      if (closing.signal.aborted) return null;
      const row = rows.get(id);
      // It was acknowledged or removed while it was queued.
      if (row === undefined) return TOLD;
      const outcome = await send(buildNoticeValues(row, target), closing.signal).catch((error: unknown) =>
        failedOutcome(asSvcError(error).message),
      );
      return outcome === null ? null : recordTry(row, target, mode, part, outcome);
    });
  }

  function recordTry(
    row: MessageRow,
    target: NoticeTarget,
    mode: string,
    part: string,
    outcome: DeliveryOutcome,
  ): DeliveryOutcome {
    const error = outcome.state === 'failed' ? outcome.error : null;
    const { id, kind, from_session: from } = row;
    busLog.add({
      at: rfc3339(clock.now()),
      id,
      kind,
      from,
      to: target.session,
      mode,
      ok: error === null,
      error,
    });
    if (error === null) doneParts.set(id, (doneParts.get(id) ?? new Set()).add(part));
    return outcome;
  }

  const isDone = (id: number, part: string): boolean => doneParts.get(id)?.has(part) === true;

  return {
    pending() {
      mayBeDue = true;
    },
    start() {
      isStarted = true;
      scheduleDelivery();
    },
    async close() {
      closing.abort();
      stopListening();
      timer.close();
      clearImmediate(woken);
      await Promise.all(deliveries.values());
    },
  };
}

/** Derives a message's delivery state from the outcomes for its sessions. */
function judgeOutcomes(row: MessageRow, outcomes: readonly DeliveryOutcome[], now: number): SettledDelivery {
  const base = { nextAt: null, deliveredAt: null, error: null, tried: true };
  if (outcomes.length === 0) {
    const who = row.to_worker === null ? `agent ${row.to_agent}` : `worker ${row.to_worker}`;
    return { ...base, state: 'pending', error: `waits for a live session of ${who}`, tried: false };
  }
  const failures = outcomes.filter((outcome) => outcome.state === 'failed');
  const again = failures.filter(({ retry }) => retry);
  const tries = row.attempts + 1;
  const error = failures[0]?.error ?? null;
  if (again.length > 0 && tries < MOST_TRIES) {
    const until = Math.max(...again.map((outcome) => outcome.until ?? 0));
    return { ...base, state: 'pending', error, nextAt: until > now ? until : now + retryDelayMs(tries) };
  }
  const told = outcomes.filter((outcome) => outcome.state === 'told');
  if (told.length > 0) {
    return { ...base, state: 'delivered', deliveredAt: now, error: error ?? told[0]?.note ?? null };
  }
  return { ...base, state: failures.length > 0 ? 'failed' : 'none', error };
}

/** Converts an error of `work` to an outcome: a wrong path or template is final, a failing file system is retried. */
function tryToWrite(work: () => void): DeliveryOutcome {
  try {
    work();
    return TOLD;
  } catch (thrown) {
    const error = asSvcError(thrown);
    const code = (thrown as NodeJS.ErrnoException).code ?? error.code;
    const isWrong = thrown instanceof SvcError && error.code !== 'storage_full';
    return failedOutcome(
      isWrong ? `${error.code}: ${error.message}` : `the file was not written: ${code}`,
      !isWrong,
    );
  }
}

function waitUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const endWait = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', endWait);
      resolve();
    };
    const timer = setTimeout(endWait, ms);
    timer.unref();
    signal.addEventListener('abort', endWait);
  });
}
