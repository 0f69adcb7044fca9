import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { ChangeLog } from '../change-log.ts';
import { networkOf } from '../client-address.ts';
import type { DeviceRequest, MachineRow, PersonRow, Tables } from '../database/tables.ts';
import { takeTurn } from '../database/take-turn.ts';
import { makeTypedCode, normalizeTypedCode } from '../people/first-run.ts';
import { hashToken, makeServerId, makeToken } from '../secrets.ts';
import { cleanToldWords } from '../told-words.ts';

// The device authorization grant, RFC 8628.

/** How long a code is valid. */
export const EXPIRES_S = 15 * 60;
/** The pause between two polls, and the permanent increase by an early poll (section 3.5). */
const INTERVAL_MS = 5000;
const SLOWER_MS = 5000;
/** Maximum number of pending codes per network. */
const MOST_OPEN = 20;
/** How long ended requests are kept, so that a late poll gets `expired_token` and not `invalid_grant`. */
const KEPT_MS = 24 * 3600_000;

/** A terminal's own description, '' for none; shown as untrusted. */
export interface DeviceFacts {
  machine: string;
  version: string;
  system: string;
}

/** The answer to a poll: errors as in section 3.5. */
export type PollAnswer =
  | { token: string; machine: MachineRow; person: PersonRow; account: string }
  | { error: 'authorization_pending' | 'slow_down' | 'expired_token' | 'access_denied' | 'invalid_grant' };

export interface DeviceRequests {
  /** Null if too many codes of the address are pending; IPv6 counts by /64. */
  start(
    facts: DeviceFacts,
    address: string,
  ): Promise<{ deviceCode: string; userCode: string; intervalS: number } | null>;
  poll(deviceCode: string): Promise<PollAnswer>;
  /** Finds the request of a typed code, and binds it to that person; null for wrong, expired, used and taken ones. */
  look(userCode: string, person: PersonRow): Promise<DeviceRequest | null>;
  /** Only the person who looked may answer; false if they no longer can. */
  answer(userCode: string, person: PersonRow, isAllowed: boolean): Promise<boolean>;
}

export function createDeviceRequests({
  db,
  clock,
  changes,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
}): DeviceRequests {
  const hashUserCode = (code: string): string => hashToken(normalizeTypedCode(code));

  return {
    async start({ machine, version, system }, address) {
      const now = clock.now();
      await db
        .deleteFrom('device_requests')
        .where('expires_at', '<', now - KEPT_MS)
        .execute();
      const { token: deviceCode, hash } = makeToken();
      const network = networkOf(address);
      return db.transaction().execute(async (change) => {
        await takeTurn(change);
        const { waiting } = await change
          .selectFrom('device_requests')
          .select(({ fn }) => fn.countAll().as('waiting'))
          .where('network', '=', network)
          .where('state', '=', 'pending')
          .where('expires_at', '>', now)
          .executeTakeFirstOrThrow();
        if (Number(waiting) >= MOST_OPEN) return null;
        for (;;) {
          const userCode = makeTypedCode();
          const { numInsertedOrUpdatedRows } = await change
            .insertInto('device_requests')
            .values({
              device_hash: hash,
              user_hash: hashUserCode(userCode),
              state: 'pending',
              machine_name: cleanToldWords(machine, 64, 'unnamed'),
              svc_version: cleanToldWords(version, 32, 'unknown'),
              system: cleanToldWords(system, 64, 'unknown'),
              address,
              network,
              created_at: now,
              expires_at: now + EXPIRES_S * 1000,
              interval_ms: INTERVAL_MS,
              polled_at: null,
              person_id: null,
            })
            .onConflict((same) => same.doNothing())
            .executeTakeFirst();
          // A code that is already in use is regenerated.
          if (Number(numInsertedOrUpdatedRows) === 1)
            return { deviceCode, userCode, intervalS: INTERVAL_MS / 1000 };
        }
      });
    },

    async poll(deviceCode) {
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
        const isTooSoon =
          request.polled_at !== null && Math.abs(now - request.polled_at) < request.interval_ms;
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
      const { token, hash: tokenHash } = makeToken('svcm_');
      const redeemed = await db.transaction().execute(async (change) => {
        // One compare-and-set: of concurrent polls one gets the token.
        const taken = await change
          .updateTable('device_requests')
          .set({ state: 'redeemed' })
          .where('device_hash', '=', hash)
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
    },

    async look(userCode, person) {
      const found = await db
        .updateTable('device_requests')
        .set({ person_id: person.id })
        .where('user_hash', '=', hashUserCode(userCode))
        .where('state', '=', 'pending')
        .where('expires_at', '>', clock.now())
        .where((where) => where.or([where('person_id', 'is', null), where('person_id', '=', person.id)]))
        .returningAll()
        .executeTakeFirst();
      return found ?? null;
    },

    answer: (userCode, person, isAllowed) =>
      db.transaction().execute(async (change) => {
        const answered = await change
          .updateTable('device_requests')
          .set({ state: isAllowed ? 'approved' : 'denied' })
          .where('user_hash', '=', hashUserCode(userCode))
          .where('state', '=', 'pending')
          .where('person_id', '=', person.id)
          .where('expires_at', '>', clock.now())
          .returning('machine_name')
          .executeTakeFirst();
        if (answered === undefined) return false;
        await changes.record(change, {
          account: person.account_id,
          actor: person.name,
          what: isAllowed ? 'login allowed' : 'login refused',
          detail: answered.machine_name,
        });
        return true;
      }),
  };
}
