import { createSerialQueue, type EngineClient } from '../../engine/index.ts';
import type { DataChange } from '../state/data.ts';
import type { EventRow } from '../state/model.ts';
import { firstRows, olderTasks, otherRows, rowsOf } from './rows.ts';

/** A burst of events is asked about once. */
const BATCH_MS = 60;

/** Where the next connection takes up. */
export interface ResumePoint {
  logId: string;
  seq: number;
}

/**
 * One subscription from a resume point, and the rows that its events are about. The subscription begins before the
 * rows are fetched, so nothing falls between the two; whatever comes twice is only asked for twice. Resolves when the
 * first screen can be drawn.
 */
export async function followEvents(options: {
  client: EngineClient;
  from: ResumePoint | null;
  /** Whether every older task is known already; a connection may have been lost half-way. */
  complete: boolean;
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

  function flush(): void {
    timer = null;
    lastFlush = performance.now();
    const events = waiting;
    waiting = [];
    enqueue(async () => {
      onChange(await rowsOf(client, events));
      const last = events.at(-1);
      // The point moves only when what it stands for is on the screen.
      if (last !== undefined) onPoint({ logId: client.welcome.log_id, seq: last.seq });
    }).catch(onFailed);
  }

  function plan(): void {
    if (!isReady || timer !== null || waiting.length === 0) return;
    // The first event after a pause is not made to wait for others.
    timer = setTimeout(flush, performance.now() - lastFlush > BATCH_MS ? 0 : BATCH_MS);
  }

  async function fetchRest(first: DataChange): Promise<void> {
    onChange(await otherRows(client));
    const oldest = first.tasks?.at(-1)?.task_id;
    if (first.complete === true || oldest === undefined) return;
    for await (const page of olderTasks(client, oldest)) onChange(page);
  }

  const answer = await client.subscribe<{ subscription: number; from: number; reset: boolean }>(
    'events.subscribe',
    from === null ? {} : { after: from.seq, log_id: from.logId },
    ({ params }) => {
      if (params.event === undefined) return;
      waiting.push(params.event as EventRow);
      plan();
    },
  );
  const resumed = from !== null && !answer.reset;
  // The rows may have been made by another engine since: what is shown first is fetched anew in any case.
  const rows = await firstRows(client);
  const first = resumed && options.complete ? { ...rows, complete: true } : rows;
  onChange({ ...first, reset: !resumed });
  if (!resumed) onPoint({ logId: client.welcome.log_id, seq: answer.from });
  isReady = true;
  plan();
  void fetchRest(first).catch(onFailed);
}
