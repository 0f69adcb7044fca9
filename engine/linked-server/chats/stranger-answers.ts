import type { Clock } from '../../core/base/clock.ts';
import type { ChatKind } from '../database/tables.ts';
import type { ChatUser } from './service.ts';

/** How often an unconnected chat user gets the same answer. */
const SILENCE_MS = 5 * 60_000;
/** Maximum number of remembered users; others get no answer. */
const MOST_REMEMBERED = 1000;

/** Limits answers, so that unconnected people cannot make a bot send constantly. */
export interface StrangerAnswers {
  /** Returns the text, or null if this user received it recently. */
  limit(kind: ChatKind, user: Pick<ChatUser, 'id'>, text: string): string | null;
}

export function createStrangerAnswers({ clock }: { clock: Clock }): StrangerAnswers {
  /** Until when a user gets no further answer, ordered by time. */
  const silent = new Map<string, number>();

  function forgetOver(now: number): void {
    for (const [key, until] of silent) {
      if (until > now) return;
      silent.delete(key);
    }
  }

  return {
    limit(kind, { id }, text) {
      const now = clock.now();
      forgetOver(now);
      const key = `${kind} ${id} ${text}`;
      if (silent.has(key) || silent.size >= MOST_REMEMBERED) return null;
      silent.set(key, now + SILENCE_MS);
      return text;
    },
  };
}
