import { asSvcError, type EngineClient } from '../../engine/index.ts';
import { detailOf, type Wanted, wanted } from '../state/details.ts';
import type { Details, Loaded, State, Trial } from '../state/model.ts';

/** The cursor has to rest this long before anything is fetched for it: held keys fly over a list. */
const REST_MS = 50;

/** Fetches what the selected row needs beyond itself. */
export function fetchDetails(options: {
  client(): EngineClient;
  get(): State;
  onLoaded(loaded: Loaded): void;
}): { look(): void; stop(): void } {
  let timer: NodeJS.Timeout | null = null;
  let underWay: string | null = null;

  const keyOf = (detail: NonNullable<Wanted['detail']>): string =>
    `${detail.kind} ${detail.id} ${detail.stamp}`;

  async function fetchNow(): Promise<void> {
    timer = null;
    const state = options.get();
    const { detail } = wanted(state);
    if (detail === null || state.link.phase !== 'live') return;
    const { kind, id, stamp } = detail;
    const key = keyOf(detail);
    if (key === underWay || detailOf(state, kind, id)?.stamp === stamp) return;
    underWay = key;
    const loaded = await load(options.client(), kind, id).then(
      (value) => ({ detail: value, problem: null }),
      (error: unknown) => ({ detail: null, problem: asSvcError(error).message }),
    );
    underWay = null;
    options.onLoaded({ kind, id, stamp, ...loaded });
  }

  return {
    look() {
      const state = options.get();
      const { detail } = wanted(state);
      if (detail === null || detailOf(state, detail.kind, detail.id)?.stamp === detail.stamp) return;
      if (keyOf(detail) === underWay) return;
      if (timer !== null) clearTimeout(timer);
      // What was never seen is fetched at once when nothing else is.
      timer = setTimeout(() => void fetchNow().catch(() => undefined), REST_MS);
    },
    stop() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

async function load(
  client: EngineClient,
  kind: Loaded['kind'],
  id: string,
): Promise<Details[Loaded['kind']]> {
  switch (kind) {
    case 'task': {
      const [shown, plan] = await Promise.all([
        client.call<Omit<Details['task'], 'plan'>>('task.show', { id }),
        client.call<Details['task']['plan']>('task.plan', { id }),
      ]);
      return { ...shown, plan };
    }
    case 'decision':
      return client.call<Details['decision']>('decision.show', { id });
    case 'work': {
      const [diff, trial] = await Promise.all([
        client.call<Omit<Details['work'], 'trial'>>('worktree.diff', { session: id }),
        client
          .call<Trial>('worktree.trial', { session: id })
          .catch((error: unknown) => ({ problem: asSvcError(error).message })),
      ]);
      return { ...diff, trial };
    }
  }
}
