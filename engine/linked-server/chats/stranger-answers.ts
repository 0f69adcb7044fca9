import type { Clock } from '../../core/base/clock.ts';
import type { ChatKind, ChatUser } from './service.ts';

/** A chat user whom nobody has connected is told the same thing once in so long. */
const SILENCE_MS = 5 * 60_000;
/** Of so many at a time; others are told nothing. */
const MOST_REMEMBERED = 1000;

/** Sees to it that people who are not connected cannot make a bot speak all the time. */
export interface StrangerAnswers {
  /** The text, or null when this user was told so just now. */
  limit(kind: ChatKind, user: Pick<ChatUser, 'id'>, text: string): string | null;
}

export function createStrangerAnswers({ clock }: { clock: Clock }): StrangerAnswers {
  /** Until when somebody is told nothing more, in the order of these times. */
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
