import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { ChangeLog } from '../change-log.ts';
import { networkOf } from '../client-address.ts';
import type { DeviceRequest, PersonRow, Tables } from '../database/tables.ts';
import { takeTurn } from '../database/take-turn.ts';
import { makeTypedCode, normalizeTypedCode } from '../people/first-run.ts';
import { hashToken, makeToken } from '../secrets.ts';
import { cleanToldWords } from '../told-words.ts';
import { createDevicePolls, INTERVAL_MS, type PollAnswer } from './poll-device.ts';

// The device authorization grant, RFC 8628.

/** How long a code is valid. */
export const EXPIRES_S = 15 * 60;
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

    poll: createDevicePolls({ db, clock, changes }),

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
