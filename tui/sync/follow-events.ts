import { createSerialQueue } from '../../engine/core/base/serial-queue.ts';
import type { EngineClient } from '../../engine/index.ts';
import type { DataChange } from '../state/data.ts';
import type { EventRow } from '../state/rows.ts';
import { fetchChangedRows, fetchFirstRows, fetchLaterRows, fetchOlderTasks } from './fetch-rows.ts';

/** The rows of events that arrive within this time are fetched together. */
const BATCH_MS = 60;

/** The resume point of the next connection. */
export interface ResumePoint {
  logId: string;
  seq: number;
}

/**
 * Subscribes to events from a resume point, and fetches the rows that they refer to. It subscribes before it fetches
 * anything, so no change is missed; at worst a row is fetched twice. Resolves when the first screen can be drawn.
 */
export async function followEngineEvents(options: {
  client: EngineClient;
  from: ResumePoint | null;
  /** True if all older tasks are known. The last connection may have ended before. */
  complete: boolean;
  /** Lists the tasks that wait for one of these, whose reasons an event about it may change. */
  listFollowing(taskIds: ReadonlySet<string>): readonly string[];
  onChange(change: DataChange): void;
  onPoint(point: ResumePoint): void;
  onFailed(error: unknown): void;
}): Promise<void> {
  const { client, from, onChange, onPoint, onFailed } = options;
  let waiting: EventRow[] = [];
  let timer: NodeJS.Timeout | null = null;
  let isReady = false;
  let lastFlush = 0;
  const enqueue = createSerialQueue();

  function flushEvents(): void {
    timer = null;
    lastFlush = performance.now();
    const events = waiting;
    waiting = [];
    enqueue(async () => {
      onChange(await fetchChangedRows(client, events, options.listFollowing));
      const last = events.at(-1);
      // The resume point moves only after its rows are in the store.
      if (last !== undefined) onPoint({ logId: client.welcome.log_id, seq: last.seq });
    }).catch(onFailed);
  }

  function scheduleFlush(): void {
    if (!isReady || timer !== null || waiting.length === 0) return;
    // The first event after a pause does not wait for others.
    timer = setTimeout(flushEvents, performance.now() - lastFlush > BATCH_MS ? 0 : BATCH_MS);
  }

  async function fetchRemainingRows(first: DataChange): Promise<void> {
    onChange(await fetchLaterRows(client));
    const oldest = first.tasks?.at(-1)?.task_id;
    if (first.complete === true || oldest === undefined) return;
    for await (const page of fetchOlderTasks(client, oldest)) onChange(page);
  }

  const answer = await client.subscribe<{ subscription: number; from: number; reset: boolean }>(
    'events.subscribe',
    from === null ? {} : { after: from.seq, log_id: from.logId },
    ({ params }) => {
      if (params.event === undefined) return;
      waiting.push(params.event as EventRow);
      scheduleFlush();
    },
  );
  const resumed = from !== null && !answer.reset;
  // Another engine may have changed rows in the meantime, so the first screen is always fetched again.
  const rows = await fetchFirstRows(client);
  const first = resumed && options.complete ? { ...rows, complete: true } : rows;
  onChange({ ...first, reset: !resumed });
  if (!resumed) onPoint({ logId: client.welcome.log_id, seq: answer.from });
  isReady = true;
  scheduleFlush();
  void fetchRemainingRows(first).catch(onFailed);
}
