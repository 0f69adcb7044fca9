import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { backoffMs } from '../../../core/base/backoff.ts';
import { ChatSendError } from '../service.ts';
import type { SlackPace } from './pace.ts';
import type { WebApi } from './web-api.ts';

/** The identity of the bot. */
export interface SlackIdentity {
  teamId: string;
  botUserId: string;
  botName: string;
}

/** Asks Slack for the owner of the bot token. */
export interface IdentityCheck {
  /** Slack's last answer; null before the first. */
  current(): SlackIdentity | null;
  /** Retries until Slack accepts the token, one attempt at a time; resolves then, or at the end. */
  check(): Promise<void>;
}

const identified = z.looseObject({ team_id: z.string(), user_id: z.string(), user: z.string() });

export function createIdentityCheck({
  api,
  botToken,
  teamId,
  pace,
  signal,
  onProblem,
}: {
  api: WebApi;
  botToken: string;
  /** The required Slack workspace; null for any. */
  teamId: string | null;
  pace: SlackPace;
  signal: AbortSignal;
  /** Null if all is well. */
  onProblem(words: string | null): void;
}): IdentityCheck {
  let current: SlackIdentity | null = null;
  let checking: Promise<void> | null = null;

  async function askOnce(): Promise<void> {
    const found = await api.call('auth.test', { token: botToken, answer: identified });
    if (teamId !== null && teamId !== found.team_id)
      throw new ChatSendError(
        'refused',
        'the bot token belongs to a different Slack workspace than the configured one',
      );
    current = { teamId: found.team_id, botUserId: found.user_id, botName: `@${found.user}` };
  }

  async function askUntilTaken(): Promise<void> {
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        await askOnce();
        onProblem(null);
        return;
      } catch (thrown) {
        if (signal.aborted) return;
        const { message, problem, retryAfterMs } = thrown as ChatSendError;
        onProblem(message);
        const backoff = backoffMs(failures, { ...pace, random: Math.random });
        const pause = problem === 'later' ? Math.max(retryAfterMs ?? 0, backoff) : pace.longestMs;
        await delay(pause, undefined, { signal }).catch(() => undefined);
      }
    }
  }

  return {
    current: () => current,
    check() {
      checking ??= askUntilTaken().finally(() => {
        checking = null;
      });
      return checking;
    },
  };
}
