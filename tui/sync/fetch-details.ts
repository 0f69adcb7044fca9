import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { asSvcError } from '../../engine/core/base/errors.ts';
import type { EngineClient } from '../../engine/index.ts';
import { loadLanguages } from '../diff/highlight.ts';
import { loadWordDiff } from '../diff/words.ts';
import { findDetail, isOfBranch, listWantedDetails, type WantedDetails } from '../state/details.ts';
import type { State } from '../state/model.ts';
import type { LoadedDetail, RowDetails } from '../state/rows.ts';

/** The cursor must rest this long before details are fetched: a held key scrolls quickly through a list. */
const REST_MS = 50;

type WantedDetail = WantedDetails['details'][number];

const getDetailKey = ({ kind, id, stamp }: WantedDetail): string => `${kind} ${id} ${stamp}`;

/** Fetches what the preview of the selected row needs beyond the row. */
export function fetchDetails(options: {
  client(): EngineClient;
  getState(): State;
  onLoaded(loaded: LoadedDetail): void;
}): { onStateChange(): void; retryUnsettled(): void; discardPendingWork(): void; close(): void } {
  let timer: NodeJS.Timeout | null = null;
  let pendingKeys = new Set<string>();

  const listMissing = (state: State): WantedDetail[] =>
    listWantedDetails(state).details.filter(
      (each) =>
        !pendingKeys.has(getDetailKey(each)) && findDetail(state, each.kind, each.id)?.stamp !== each.stamp,
    );

  async function fetchDetail(detail: WantedDetail): Promise<void> {
    const { kind, id, stamp } = detail;
    const asked = pendingKeys;
    asked.add(getDetailKey(detail));
    const before = findDetail(options.getState(), kind, id);
    // Known details stay on the screen in the meantime.
    const reportProgress = (progress: string): void =>
      options.onLoaded({ detail: null, problem: null, ...before, kind, id, stamp: '', progress });
    const base = options.getState().bases[id];
    const loaded = await loadDetail(options.client(), { kind, id, base, tell: reportProgress })
      .then(
        (value) => ({ detail: value, problem: null }),
        (error: unknown) => ({ detail: null, problem: asSvcError(error).message }),
      )
      .finally(() => asked.delete(getDetailKey(detail)));
    if (isOfBranch(kind) && asked !== pendingKeys) return;
    options.onLoaded(
      keepUnchangedWork({ kind, id, stamp, ...loaded }, findDetail(options.getState(), kind, id)),
    );
  }

  const fetchWhileLive = (details: readonly WantedDetail[]): void => {
    if (options.getState().link.phase !== 'live') return;
    for (const each of details) void fetchDetail(each).catch(() => undefined);
  };

  return {
    onStateChange() {
      if (listMissing(options.getState()).length === 0) return;
      if (timer !== null) clearTimeout(timer);
      timer = setTimeout(() => {
        timer = null;
        fetchWhileLive(listMissing(options.getState()));
      }, REST_MS);
    },
    /** Fetches details with a problem again. It may be gone: a commit was made, a file moved, a program installed. */
    retryUnsettled() {
      const state = options.getState();
      fetchWhileLive(
        listWantedDetails(state).details.filter(
          (each) => !isDetailSettled(findDetail(state, each.kind, each.id)),
        ),
      );
    },
    /** Ignores pending answers about work, since branches have moved after they were requested. */
    discardPendingWork() {
      pendingKeys = new Set();
    },
    close() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Keeps the earlier object, with its time, if the work is unchanged, so that nothing is redrawn. */
function keepUnchangedWork(loaded: LoadedDetail, before: LoadedDetail | undefined): LoadedDetail {
  if (!loaded.detail || !before?.detail || !('tried_at' in loaded.detail) || !('tried_at' in before.detail))
    return loaded;
  const then = { ...loaded.detail, tried_at: before.detail.tried_at };
  return isDeepStrictEqual(then, before.detail) ? { ...loaded, detail: before.detail } : loaded;
}

/** Reports whether a detail only changes with an event. One with a problem may change by itself. */
function isDetailSettled(loaded: LoadedDetail | undefined): boolean {
  // An impact is requested once; its key requests it again.
  if (loaded?.kind === 'impact') return true;
  if (!loaded?.detail) return loaded?.problem == null;
  if ('plan' in loaded.detail) return loaded.detail.plan.problem === null;
  if (!('trial' in loaded.detail)) return true;
  const { trial } = loaded.detail;
  return !('problem' in trial) && trial.checkout.state !== 'dirty';
}

/** The number of callers listed for an impact. */
const MOST_REACHED = 300;

async function loadDetail(
  client: EngineClient,
  {
    kind,
    id,
    base,
    tell,
  }: {
    kind: LoadedDetail['kind'];
    id: string;
    /** The base that a person has chosen for the run of a task. */
    base: string | undefined;
    tell(progress: string): void;
  },
): Promise<RowDetails[LoadedDetail['kind']]> {
  switch (kind) {
    case 'task': {
      const [shown, plan] = await Promise.all([
        client.call('task.show', { id }),
        client.call('task.plan', { id, ...(base === undefined ? {} : { base }) }),
      ]);
      return { ...shown, plan };
    }
    case 'decision':
      return client.call('decision.show', { id });
    case 'evidence':
      return client.call('verify.status', { session: id });
    case 'impact': {
      // No time limit; an answer by itself would only wait some seconds.
      await client.run('graph.index', { session: id }, { key: randomUUID(), onProgress: tell });
      return client.call('impact', { session: id, limit: MOST_REACHED });
    }
    case 'race':
      return client.call('task.compare', { id });
    case 'comments':
      return (await client.call('comment.list', { session: id })).comments;
    case 'work': {
      const triedAt = new Date().toISOString();
      const [diff, trial] = await Promise.all([
        client.call('worktree.diff', { session: id }),
        client
          .call('worktree.trial', { session: id })
          .catch((error: unknown) => ({ problem: asSvcError(error).message })),
      ]);
      // They are loaded for the first diff that is shown, and not before.
      await Promise.all([loadLanguages(diff.files.map(({ path }) => path)), loadWordDiff()]);
      return { ...diff, trial, tried_at: triedAt };
    }
  }
}
