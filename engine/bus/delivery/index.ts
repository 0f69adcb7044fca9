import type { AgentNotify } from '../../agents/index.ts';
import { type Clock, rfc3339 } from '../../base/clock.ts';
import { createDueTimer } from '../../base/due-timer.ts';
import { asSvcError, SvcError } from '../../base/errors.ts';
import type { PrepareCommand } from '../../runner/processes/index.ts';
import type { Peers } from '../../sessions/index.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { MessageRow } from '../messages/rows.ts';
import type { Notices } from '../notices/index.ts';
import { needsBase, push } from './http.ts';
import { createLanes } from './lanes.ts';
import type { Tried } from './log.ts';
import { failed, MOST_TRIES, type Outcome, TOLD, tryAgainMs } from './outcome.ts';
import { pendingRows, type Settled } from './rows.ts';
import { run } from './shell.ts';
import { type Target, targetsOf } from './targets.ts';
import { inBlock, inPath, type Values, valuesOf } from './values.ts';

/** What the templates of `agents.notify` are made of. */
export interface NotifyTemplates {
  /** The entry of agents without one, of mode `file`. */
  fallback: AgentNotify;
  words(template: string): string[];
  fill(template: string, values: Values): string;
  isLoopback(host: string): boolean;
}

export interface DeliveryDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  peers: Peers;
  notices: Notices;
  templates: NotifyTemplates;
  entries(): Readonly<Record<string, AgentNotify>>;
  busLog: { add(tried: Tried): void };
  /** Where commands run. */
  root: string;
  prepare: PrepareCommand;
  onError(message: string): void;
}

/** Owns the way of a committed message to its recipient's notice; the inbox is the truth whatever comes of it. */
export interface Delivery {
  /** There is something new; what the commit holds goes out after it. */
  pending(): void;
  start(): void;
  /** Ends what is under way and leaves it pending for the next start. */
  close(): Promise<void>;
}

const STALLED_MS = 5000;
/** After these a session is there that was not. */
const ARRIVALS = new Set(['session_joined', 'dispatched', 'session_started']);

export function createDelivery(deps: DeliveryDeps): Delivery {
  const { storage, clock, notices, templates, busLog } = deps;
  const { fill, words, fallback } = templates;
  const rows = pendingRows(storage);
  const lanes = createLanes(clock);
  const closing = new AbortController();
  /** Messages that are being delivered. */
  const flying = new Map<number, Promise<void>>();
  /** What of a pending message is done already, so that a retry repeats the rest only. */
  const done = new Map<number, Set<string>>();
  /** Up to here an earlier host may have written a block and not lived to say so. */
  const earlier = rows.lastId();
  let isStarted = false;
  let mayBeDue = true;
  let mayHaveArrived = true;
  const timer = createDueTimer({ clock, onDue: wake });
  let woken: NodeJS.Immediate | undefined;

  deps.events.onAppend(({ kind }) => {
    if (ARRIVALS.has(kind)) mayHaveArrived = true;
  });
  const stopListening = storage.onCommit(() => {
    if (mayBeDue || mayHaveArrived || timer.isDue()) wake();
  });

  /** After the answers to whoever wrote, which go out first. */
  function wake(): void {
    if (isStarted) woken ??= setImmediate(look);
  }

  function look(): void {
    woken = undefined;
    if (closing.signal.aborted || !storage.db.open) return;
    try {
      const now = clock.now();
      const ids = mayHaveArrived ? [...rows.waiting(), ...rows.due(now)] : rows.due(now);
      mayBeDue = false;
      mayHaveArrived = false;
      for (const id of ids) if (!flying.has(id)) launch(id);
      timer.sleepUntil(rows.nextAfter(now));
    } catch (error) {
      deps.onError(asSvcError(error).message);
      timer.sleepUntil(clock.now() + STALLED_MS);
    }
  }

  function launch(id: number): void {
    const row = rows.get(id);
    if (row === undefined) return;
    const targets = targetsOf(row, { ...deps, ...templates });
    if (targets.length === 0 && row.next_at === null) return;
    // Files are written here and now, in the order of the messages; only what can hang takes a lane.
    const outcomes = targets.map((target) => tell(row, target));
    const flight = Promise.all(outcomes)
      .then((all) => settle(id, all))
      .catch(async (error: unknown) => {
        deps.onError(`the delivery of message ${id} was not recorded: ${asSvcError(error).message}`);
        // Trying again at once would only repeat it.
        await pause(STALLED_MS, closing.signal);
      })
      .finally(() => {
        flying.delete(id);
        mayBeDue = true;
        wake();
      });
    flying.set(id, flight);
  }

  async function settle(id: number, outcomes: readonly (Outcome | null)[]): Promise<void> {
    const known = outcomes.filter((outcome) => outcome !== null);
    if (closing.signal.aborted || known.length < outcomes.length) return;
    const row = rows.get(id);
    if (row === undefined) {
      done.delete(id);
      return;
    }
    const settled = verdict(row, known, clock.now());
    await storage.write(() => rows.settle(id, settled));
    if (settled.state !== 'pending') done.delete(id);
  }

  /** One session is told by its agent's entry; never throws. Null when closing ended it. */
  function tell(row: MessageRow, target: Target): Promise<Outcome | null> {
    const { mode } = target.entry;
    if (mode === 'none') return Promise.resolve({ state: 'none' });
    if (mode === 'file') return Promise.resolve(toFile(row, target, target.entry));
    if (mode === 'http') {
      // Agents answer yes with nobody at the screen: the file is written too.
      const written = toFile(row, target, fallback);
      if (needsBase(target.entry) && target.notifyBase === null) {
        const note = 'no address of the agent on this machine (SVC_NOTIFY_URL): only its file was written';
        return Promise.resolve(written.state === 'failed' ? written : { state: 'told', note });
      }
      return once(row.id, target, (values, signal) => push(target.entry, values, { fill, signal }));
    }
    const command = target.entry.cmd ?? '';
    return once(row.id, target, (values, signal) =>
      run(command, values, { words, fill, cwd: deps.root, prepare: deps.prepare, signal }),
    );
  }

  function toFile(row: MessageRow, target: Target, entry: AgentNotify): Outcome {
    const part = `file ${target.session}`;
    if (isDone(row.id, part)) return TOLD;
    const values = valuesOf(row, target);
    const outcome = attempted(() => {
      const file = notices.file(fill(entry.path ?? fallback.path ?? '', inPath(values)));
      const block = fill(entry.body ?? fallback.body ?? '', inBlock(values));
      if (row.id > earlier || !notices.has(file, block)) notices.append(file, block);
    });
    return noted(row, target, 'file', part, outcome);
  }

  /** In the target's lane, where only its id stands in line: the message itself is read when it is its turn. */
  async function once(
    id: number,
    target: Target,
    send: (values: Values, signal: AbortSignal) => Promise<Outcome | null>,
  ): Promise<Outcome | null> {
    const { mode } = target.entry;
    const part = `${mode} ${target.session}`;
    if (isDone(id, part)) return TOLD;
    return lanes.run(part, async () => {
      if (closing.signal.aborted) return null;
      const row = rows.get(id);
      // It was read or removed while it stood in line.
      if (row === undefined) return TOLD;
      const outcome = await send(valuesOf(row, target), closing.signal).catch((error: unknown) =>
        failed(asSvcError(error).message),
      );
      return outcome === null ? null : noted(row, target, mode, part, outcome);
    });
  }

  function noted(row: MessageRow, target: Target, mode: string, part: string, outcome: Outcome): Outcome {
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
    if (error === null) done.set(id, (done.get(id) ?? new Set()).add(part));
    return outcome;
  }

  const isDone = (id: number, part: string): boolean => done.get(id)?.has(part) === true;

  return {
    pending() {
      mayBeDue = true;
    },
    start() {
      isStarted = true;
      wake();
    },
    async close() {
      closing.abort();
      stopListening();
      timer.close();
      clearImmediate(woken);
      await Promise.all(flying.values());
    },
  };
}

/** What the outcomes for the sessions of a message mean for it. */
function verdict(row: MessageRow, outcomes: readonly Outcome[], now: number): Settled {
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
    return { ...base, state: 'pending', error, nextAt: until > now ? until : now + tryAgainMs(tries) };
  }
  const told = outcomes.filter((outcome) => outcome.state === 'told');
  if (told.length > 0) {
    return { ...base, state: 'delivered', deliveredAt: now, error: error ?? told[0]?.note ?? null };
  }
  return { ...base, state: failures.length > 0 ? 'failed' : 'none', error };
}

/** A path or template that is wrong stays so; a file system that fails may be well again. */
function attempted(work: () => void): Outcome {
  try {
    work();
    return TOLD;
  } catch (thrown) {
    const error = asSvcError(thrown);
    const code = (thrown as NodeJS.ErrnoException).code ?? error.code;
    const isWrong = thrown instanceof SvcError && error.code !== 'storage_full';
    return failed(
      isWrong ? `${error.code}: ${error.message}` : `the file was not written: ${code}`,
      !isWrong,
    );
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    timer.unref();
    signal.addEventListener('abort', end);
  });
}
