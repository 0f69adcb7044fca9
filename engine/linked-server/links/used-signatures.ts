import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { clockSetBackError } from '../../core/http/signature.ts';
import type { Tables } from '../database/tables.ts';

/** Longer than a signed time is accepted, in either direction. */
const KEPT_MS = 600_000;
/** The key of the newest signed time whose signatures may be forgotten. */
const FORGOTTEN_KEY = 'signatures_forgotten_until';

/** Signatures of deciding requests, stored in the database, so that none is accepted twice across a restart. */
export interface UsedSignatures {
  /**
   * Uses up a signature, in the caller's transaction. Throws `replayed`, and `timestamp_out_of_range` for a time
   * whose signatures may be forgotten, because the clock was set back.
   */
  use(change: Kysely<Tables>, signature: Buffer, signedAt: number): Promise<void>;
  /** Deletes signatures whose time is no longer accepted. */
  clean(): Promise<void>;
}

export function createUsedSignatures({ db, clock }: { db: Kysely<Tables>; clock: Clock }): UsedSignatures {
  async function readForgotten(from: Kysely<Tables>): Promise<number> {
    const row = await from
      .selectFrom('meta')
      .select('value')
      .where('key', '=', FORGOTTEN_KEY)
      .executeTakeFirst();
    return Number(row?.value ?? 0);
  }

  return {
    async use(change, signature, signedAt) {
      if (signedAt < (await readForgotten(change))) throw clockSetBackError(clock.now());
      const { numInsertedOrUpdatedRows } = await change
        .insertInto('used_signatures')
        .values({ signature: signature.toString('hex'), signed_at: signedAt })
        .onConflict((same) => same.doNothing())
        .executeTakeFirst();
      if (Number(numInsertedOrUpdatedRows) === 0)
        throw new SvcError('replayed', 'this signature was already used', {
          hint: 'sign again with the current time; a nonce in the body makes two requests of one second differ',
        });
    },
    clean: () =>
      db.transaction().execute(async (change) => {
        const until = Math.max(await readForgotten(change), clock.now() - KEPT_MS);
        await change.deleteFrom('used_signatures').where('signed_at', '<', until).execute();
        const value = String(until);
        await change
          .insertInto('meta')
          .values({ key: FORGOTTEN_KEY, value })
          .onConflict((same) => same.column('key').doUpdateSet({ value }))
          .execute();
      }),
  };
}
