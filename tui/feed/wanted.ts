import { isDeepStrictEqual } from 'node:util';
import { asSvcError, type EngineClient } from '../../engine/index.ts';
import { detailOf, type Wanted, wanted } from '../state/details.ts';
import type { Details, Loaded, State } from '../state/model.ts';

/** The cursor has to rest this long before anything is fetched for it: held keys fly over a list. */
const REST_MS = 50;

type Detail = Wanted['details'][number];

const keyOf = ({ kind, id, stamp }: Detail): string => `${kind} ${id} ${stamp}`;

/** Fetches what the selected row needs beyond itself. */
export function fetchDetails(options: {
  client(): EngineClient;
  get(): State;
  onLoaded(loaded: Loaded): void;
}): { look(): void; again(): void; outdate(): void; stop(): void } {
  let timer: NodeJS.Timeout | null = null;
  let underWay = new Set<string>();

  const missing = (state: State): Detail[] =>
    wanted(state).details.filter(
      (each) => !underWay.has(keyOf(each)) && detailOf(state, each.kind, each.id)?.stamp !== each.stamp,
    );

  async function fetchOne(detail: Detail): Promise<void> {
    const { kind, id, stamp } = detail;
    const asked = underWay;
    asked.add(keyOf(detail));
    const loaded = await load(options.client(), kind, id)
      .then(
        (value) => ({ detail: value, problem: null }),
        (error: unknown) => ({ detail: null, problem: asSvcError(error).message }),
      )
      .finally(() => asked.delete(keyOf(detail)));
    if (kind === 'work' && asked !== underWay) return;
    options.onLoaded(asBefore({ kind, id, stamp, ...loaded }, detailOf(options.get(), kind, id)));
  }

  const fetchAll = (details: readonly Detail[]): void => {
    if (options.get().link.phase !== 'live') return;
    for (const each of details) void fetchOne(each).catch(() => undefined);
  };

  return {
    look() {
      if (missing(options.get()).length === 0) return;
      if (timer !== null) clearTimeout(timer);
      timer = setTimeout(() => {
        timer = null;
        fetchAll(missing(options.get()));
      }, REST_MS);
    },
    /** What stood in the way may have been put right outside: a commit was made, a file moved, a program installed. */
    again() {
      const state = options.get();
      fetchAll(wanted(state).details.filter((each) => !isSettled(detailOf(state, each.kind, each.id))));
    },
    /** Branches have moved: an answer about work that is under way may be of before that, and does not count. */
    outdate() {
      underWay = new Set();
    },
    stop() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Of work that was found as it was, the time stays too: nothing is drawn anew because it was asked for again. */
function asBefore(loaded: Loaded, before: Loaded | undefined): Loaded {
  if (!loaded.detail || !before?.detail || !('tried_at' in loaded.detail) || !('tried_at' in before.detail))
    return loaded;
  const then = { ...loaded.detail, tried_at: before.detail.tried_at };
  return isDeepStrictEqual(then, before.detail) ? { ...loaded, detail: before.detail } : loaded;
}

/** What does not change by itself, or is told of when it does, as branches are that have moved. */
function isSettled(loaded: Loaded | undefined): boolean {
  if (!loaded?.detail) return loaded?.problem == null;
  if ('plan' in loaded.detail) return loaded.detail.plan.problem === null;
  if (!('trial' in loaded.detail)) return true;
  const { trial } = loaded.detail;
  return !('problem' in trial) && trial.checkout.state !== 'dirty';
}

async function load(
  client: EngineClient,
  kind: Loaded['kind'],
  id: string,
): Promise<Details[Loaded['kind']]> {
  switch (kind) {
    case 'task': {
      const [shown, plan] = await Promise.all([
        client.call('task.show', { id }),
        client.call('task.plan', { id }),
      ]);
      return { ...shown, plan };
    }
    case 'decision':
      return client.call('decision.show', { id });
    case 'evidence':
      return client.call('verify.show', { session: id });
    case 'work': {
      const triedAt = new Date().toISOString();
      const [diff, trial] = await Promise.all([
        client.call('worktree.diff', { session: id }),
        client
          .call('worktree.trial', { session: id })
          .catch((error: unknown) => ({ problem: asSvcError(error).message })),
      ]);
      return { ...diff, trial, tried_at: triedAt };
    }
  }
}
