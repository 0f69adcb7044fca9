import type { Clock } from '../core/base/clock.ts';
import { asSvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { tokenAnswer } from '../core/link-protocol/messages.ts';
import type { ServerCalls } from './server-calls.ts';

/** Age at which a token is replaced. */
const TOKEN_LIFE_MS = 90 * 86_400_000;
/** Retry interval of a failed replacement. */
const NEXT_TRY_MS = 3600_000;

/** Replaces the token of a workspace automatically. An old token stays valid: if it cannot be replaced, the link continues. */
export function createTokenRotation({
  clock,
  log,
  write,
  setTokenAt,
}: {
  clock: Clock;
  log: Log;
  write(token: string): void;
  setTokenAt(at: number): Promise<void>;
}) {
  let nextTry = 0;

  return {
    async rotateIfDue(tokenAt: number, calls: ServerCalls, signal: AbortSignal): Promise<void> {
      if (clock.now() - tokenAt < TOKEN_LIFE_MS || clock.monotonic() < nextTry) return;
      nextTry = clock.monotonic() + NEXT_TRY_MS;
      try {
        const request = { method: 'POST', answer: tokenAnswer, signal } as const;
        const { token } = await calls.call('/v1/workspace/token', request);
        // The old one is valid until this one was used, so that nothing is lost if it cannot be written.
        write(token);
        await setTokenAt(clock.now());
      } catch (error) {
        log.warn({ error: asSvcError(error).message }, 'the token for the linked server was not replaced');
      }
    },
  };
}
