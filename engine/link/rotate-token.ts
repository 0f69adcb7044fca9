import type { Clock } from '../core/base/clock.ts';
import { asSvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { tokenAnswer } from '../core/link-protocol/messages.ts';
import type { Storage } from '../storage/index.ts';
import type { LinkRecord } from './link-record.ts';
import type { LinkRows } from './rows.ts';
import type { ServerCalls } from './server-calls.ts';
import type { TokenFile } from './token-file.ts';

/** Age at which a token is replaced. */
const TOKEN_LIFE_MS = 90 * 86_400_000;
/** Retry interval of a failed replacement. */
const NEXT_TRY_MS = 3600_000;

/**
 * Returns a function that replaces an old token of a workspace automatically. It stays valid: if it cannot be
 * replaced, the link continues.
 */
export function createTokenRotation(deps: {
  storage: Storage;
  clock: Clock;
  log: Log;
  rows: Pick<LinkRows, 'setTokenAt'>;
  record: Pick<LinkRecord, 'row' | 'setRow'>;
  tokenFile: Pick<TokenFile, 'write'>;
}) {
  const { clock, record } = deps;
  let nextTry = 0;

  async function setTokenAt(tokenAt: number): Promise<void> {
    await deps.storage.write(() => deps.rows.setTokenAt(tokenAt));
    const row = record.row();
    if (row !== null) record.setRow({ ...row, tokenAt });
  }

  return async (calls: ServerCalls, signal: AbortSignal): Promise<void> => {
    const tokenAt = record.row()?.tokenAt ?? clock.now();
    if (clock.now() - tokenAt < TOKEN_LIFE_MS || clock.monotonic() < nextTry) return;
    nextTry = clock.monotonic() + NEXT_TRY_MS;
    try {
      const request = { method: 'POST', answer: tokenAnswer, signal } as const;
      const { token } = await calls.call('/v1/workspace/token', request);
      // The old one is valid until this one was used, so that nothing is lost if it cannot be written.
      deps.tokenFile.write(token);
      await setTokenAt(clock.now());
    } catch (error) {
      deps.log.warn({ error: asSvcError(error).message }, 'the token for the linked server was not replaced');
    }
  };
}
