import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { ChangeLog } from '../change-log.ts';
import type { MachineRow, PersonRow, Tables } from '../database/tables.ts';
import { hashToken, makeServerId, makeToken } from '../secrets.ts';

/** The pause between two polls, and the permanent increase by an early poll (section 3.5). */
export const INTERVAL_MS = 5000;
const SLOWER_MS = 5000;

/** The answer to a poll: errors as in section 3.5. */
export type PollAnswer =
  | { token: string; machine: MachineRow; person: PersonRow; account: string }
  | { error: 'authorization_pending' | 'slow_down' | 'expired_token' | 'access_denied' | 'invalid_grant' };

/** Returns a function that answers a poll of a terminal: with its token, once a person has allowed it. */
export function createDevicePolls({
  db,
  clock,
  changes,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
}) {
  async function redeem(deviceHash: string, now: number): Promise<PollAnswer> {
    const { token, hash: tokenHash } = makeToken('svcm_');
    const redeemed = await db.transaction().execute(async (change) => {
      // One compare-and-set: of concurrent polls one gets the token.
      const taken = await change
        .updateTable('device_requests')
        .set({ state: 'redeemed' })
        .where('device_hash', '=', deviceHash)
        .where('state', '=', 'approved')
        .returningAll()
        .executeTakeFirst();
      if (taken === undefined || taken.person_id === null) return null;
      const person = await change
        .selectFrom('people')
        .selectAll()
        .where('id', '=', taken.person_id)
        .executeTakeFirst();
      if (person === undefined) return null;
      const machine: MachineRow = {
        id: makeServerId('m'),
        account_id: person.account_id,
        person_id: person.id,
        name: taken.machine_name,
        token_hash: tokenHash,
        svc_version: taken.svc_version,
        system: taken.system,
        created_at: now,
        seen_at: now,
      };
      await change.insertInto('machines').values(machine).execute();
      const { name } = await change
        .selectFrom('accounts')
        .select('name')
        .where('id', '=', person.account_id)
        .executeTakeFirstOrThrow();
      await changes.record(change, {
        account: person.account_id,
        actor: person.name,
        what: 'machine logged in',
        detail: machine.name,
      });
      return { machine, person, account: name };
    });
    return redeemed === null ? { error: 'invalid_grant' } : { token, ...redeemed };
  }

  return async function poll(deviceCode: string): Promise<PollAnswer> {
    const hash = hashToken(deviceCode);
    const now = clock.now();
    const request = await db
      .selectFrom('device_requests')
      .selectAll()
      .where('device_hash', '=', hash)
      .executeTakeFirst();
    if (request === undefined || request.state === 'redeemed') return { error: 'invalid_grant' };
    if (request.state === 'denied') return { error: 'access_denied' };
    if (request.expires_at <= now) return { error: 'expired_token' };
    if (request.state === 'pending') {
      // A poll in the future was before the clock was set back.
      const isTooSoon = request.polled_at !== null && Math.abs(now - request.polled_at) < request.interval_ms;
      await db
        .updateTable('device_requests')
        .set(({ eb }) => ({
          polled_at: now,
          ...(isTooSoon ? { interval_ms: eb('interval_ms', '+', SLOWER_MS) } : {}),
        }))
        .where('device_hash', '=', hash)
        .execute();
      return { error: isTooSoon ? 'slow_down' : 'authorization_pending' };
    }
    return redeem(hash, now);
  };
}
