import { setTimeout as delay } from 'node:timers/promises';
import type { Engine } from './compose/compose.ts';
import type { SubscriptionChannel } from './open-subscriptions.ts';

const LOG_PART_BYTES = 64 * 1024;
const LOG_LOOK_MS = 100;

export interface StreamSource {
  engine: Pick<Engine, 'onCommit' | 'events'>;
  channel: SubscriptionChannel;
}

async function pushNotification(
  channel: SubscriptionChannel,
  signal: AbortSignal,
  method: string,
  params: object,
): Promise<void> {
  if (signal.aborted || channel.notify(method, params)) return;
  await channel.drained(signal);
}

/** @param taskId the only task whose events are sent; null for all */
export async function followEvents(
  { engine, channel }: StreamSource,
  subscription: number,
  from: number,
  taskId: string | null,
  signal: AbortSignal,
): Promise<void> {
  let cursor = from;
  let wakeReader: () => void = () => undefined;
  const stopListening = engine.onCommit(() => wakeReader());
  signal.addEventListener('abort', () => wakeReader(), { once: true });
  try {
    while (!signal.aborted) {
      const events = engine.events.listAfter(cursor, 200);
      if (events.length === 0) {
        await new Promise<void>((resolve) => {
          wakeReader = resolve;
        });
        continue;
      }
      for (const event of events) {
        if (taskId === null || event.taskId === taskId)
          await pushNotification(channel, signal, 'event', { subscription, event });
        cursor = event.seq;
      }
    }
  } finally {
    stopListening();
  }
}

/** A log that is followed: of a session, or of a command in its worktree. */
interface FollowedLog {
  read(part: {
    from: number;
    maxBytes: number;
    ended: boolean;
  }): Promise<{ text: string; next: number; dropped: number; end: number }>;
  /** True if there will be no more output. */
  hasEnded(): boolean;
}

export async function followLog(
  channel: SubscriptionChannel,
  subscription: number,
  { read, hasEnded }: FollowedLog,
  from: number,
  signal: AbortSignal,
): Promise<void> {
  let offset = from;
  while (!signal.aborted) {
    // Checked before reading, so that everything written before the end is read too.
    const ended = hasEnded();
    const part = await read({ from: offset, maxBytes: LOG_PART_BYTES, ended });
    const isLast = ended && part.next >= part.end;
    if (part.text !== '' || part.dropped > 0 || isLast) {
      await pushNotification(channel, signal, 'log', {
        subscription,
        text: part.text,
        next: part.next,
        dropped: part.dropped,
        ended: isLast,
      });
    }
    const isStill = part.next === offset;
    offset = part.next;
    if (isLast) return;
    if (part.next >= part.end || isStill) await delay(LOG_LOOK_MS, undefined, { signal });
  }
}
