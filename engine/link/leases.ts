import type { LeaseFacts } from '../core/access/index.ts';
import { backoffMs } from '../core/base/backoff.ts';
import type { Clock } from '../core/base/clock.ts';
import { createDueTimer } from '../core/base/due-timer.ts';
import { asSvcError, type ErrorCode } from '../core/base/errors.ts';
import { createHeldLease, type HeldLeaseDeps } from './held-lease.ts';
import { createLeaseStore } from './lease-store.ts';
import { FIRST_CALL_MS } from './server-calls.ts';

// The lease of a workspace: fetched every six hours, stored in a file, and checked with a clock that the server has
// corrected. It is an operator's rule for cooperating machines; the owner of a machine can change the program.

const RENEW_MS = 6 * 3600_000;
const RETRY = { firstMs: 60_000, longestMs: 3600_000, shortestMs: 10_000 };

export interface LeasesDeps extends HeldLeaseDeps {
  /** The file of the lease. */
  file: string;
  clock: Clock;
  random?(): number;
}

export interface AccountLeases {
  /** Reads the stored lease. */
  read(): Promise<void>;
  /** Starts renewing, once the lease was read and the link is stored. */
  start(): void;
  view(): LeaseFacts;
  /** Requests a lease now: for the `refresh` command, and after linking. `failure` is the code of a failure. */
  refresh(): Promise<LeaseFacts & { failure: ErrorCode | null }>;
  /** Forgets the lease: the workspace was unlinked, or its token revoked. */
  drop(state: 'none' | 'revoked'): void;
  close(): Promise<void>;
}

export function createLeases(deps: LeasesDeps): AccountLeases {
  const { clock, log, random = Math.random } = deps;
  const closing = new AbortController();
  // Due by the earlier of two clocks: one stops while the machine sleeps, the other may be set back.
  const waits = [clock.monotonic, clock.now].map((now) => ({
    now,
    timer: createDueTimer({ clock: { now }, onDue: () => void renew() }),
  }));
  const renewAfter = (ms: number | null): void => {
    for (const { now, timer } of waits) timer.sleepUntil(ms === null ? null : now() + ms);
  };
  const store = createLeaseStore(deps);
  const held = createHeldLease(deps, store, closing.signal);
  let failures = 0;
  let renewing: Promise<ErrorCode | null> | null = null;
  let first: NodeJS.Timeout | undefined;

  /** Resolves with the code of a failure. */
  async function renewOnce(): Promise<ErrorCode | null> {
    store.noteTime();
    const link = deps.link();
    if (link === null) {
      renewAfter(null);
      return null;
    }
    let failure: ErrorCode | null = null;
    try {
      await held.fetchOnce(link);
      failures = 0;
    } catch (thrown) {
      const error = asSvcError(thrown);
      failures += 1;
      failure = error.code;
      held.setProblem(error.message);
      log.warn({ error: error.message }, 'the lease was not renewed');
    }
    const pause = failures === 0 ? RENEW_MS : backoffMs(failures, { ...RETRY, random });
    // A revoked link is not requested again; linking again restarts it.
    renewAfter(held.isRevoked() ? null : pause);
    return failure;
  }

  function renew(): Promise<ErrorCode | null> {
    renewing ??= renewOnce().finally(() => {
      renewing = null;
    });
    return renewing;
  }

  function viewLeases(): LeaseFacts {
    const isOver = held.isOver();
    const facts = held.view();
    // The local clock may have been set forward, and the server knows better; if it did not answer, the timer retries.
    if (isOver && failures === 0 && deps.link() !== null && !closing.signal.aborted) void renew();
    return facts;
  }

  return {
    read: held.read,
    start() {
      if (deps.link() !== null) first = setTimeout(() => void renew(), FIRST_CALL_MS).unref();
    },
    view: viewLeases,
    async refresh() {
      // A request in progress may have been answered before the change.
      await renewing;
      const failure = await renew();
      return { ...viewLeases(), failure };
    },
    drop(state) {
      held.drop(state, null);
      renewAfter(null);
    },
    async close() {
      closing.abort();
      clearTimeout(first);
      for (const { timer } of waits) timer.close();
      await renewing;
    },
  };
}
