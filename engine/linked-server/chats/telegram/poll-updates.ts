import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../../core/base/clock.ts';
import { type LimitCall, PATIENCE_MS, type TelegramCalls } from '../../../core/http/telegram-api.ts';
import type { ChatMemory } from '../service.ts';
import { OFFSET, type UpdateHandler } from './handle-updates.ts';

/** How long Telegram keeps a request for updates open, s. */
const POLL_S = 25;
export const UPDATES = ['message', 'callback_query'] as const;
const MOST_UPDATES = 50;
/** Telegram restarts its numbering after a week without activity: an older saved position is meaningless. */
const PLACE_KEPT_MS = 6 * 24 * 3600_000;
/** Pause before an update that has failed is requested again, ms. */
const RETRY_MS = 1000;

/** The bot's position in Telegram's updates. */
interface Place {
  next: number;
  at: number;
}

/** Returns a function that polls for updates, handles them, and only then records them as done. */
export function createUpdatePoll({
  api,
  memory,
  clock,
  limitCall,
  updates: handler,
  onAnswered,
  signal,
}: {
  api: TelegramCalls;
  memory: ChatMemory;
  clock: Clock;
  limitCall: LimitCall;
  updates: UpdateHandler;
  onAnswered(): void;
  signal: AbortSignal;
}) {
  async function readPlace(): Promise<number | null> {
    const kept = await memory.read(OFFSET);
    if (kept === null) return null;
    const { next, at } = JSON.parse(kept) as Place;
    return clock.now() - at > PLACE_KEPT_MS ? null : next;
  }

  return async function poll(): Promise<void> {
    const offset = await readPlace();
    const wish = { timeout: POLL_S, limit: MOST_UPDATES, allowed_updates: UPDATES };
    const updates = await api.getUpdates(
      { ...wish, ...(offset === null ? {} : { offset }) },
      limitCall(POLL_S * 1000 + PATIENCE_MS, true),
    );
    onAnswered();
    if (updates.length === 0) return;
    const results = await Promise.all(updates.map(handler.attempt));
    const firstLeft = results.indexOf(false);
    handler.noteDone(
      firstLeft < 0 ? [] : updates.flatMap(({ update_id }, at) => (results[at] === true ? [update_id] : [])),
    );
    const last = updates[firstLeft < 0 ? updates.length - 1 : firstLeft - 1];
    if (last !== undefined)
      await memory.write(
        OFFSET,
        JSON.stringify({ next: last.update_id + 1, at: clock.now() } satisfies Place),
      );
    if (firstLeft >= 0) await delay(RETRY_MS, undefined, { signal });
  };
}
