import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { LEASE_MS, signLease } from '../../core/link-protocol/lease.ts';
import type { LinkedWorkspace, Tables } from '../database/tables.ts';
import type { RootSecret } from '../secrets.ts';
import type { AccountPlans } from './plans.ts';

/** Signs the plan of a workspace's account. */
export interface LeaseIssuer {
  /** The `x` of the JWK that verifies leases: pinned by a workspace when it is linked. */
  publicKey: string;
  /**
   * Creates a lease for three days.
   * @param nonce of the request, 16 to 64 letters, digits, `-` and `_`; throws `fields_invalid` for any other
   */
  issue(workspace: Pick<LinkedWorkspace, 'id' | 'account_id'>, nonce: string): Promise<string>;
}

export function createLeaseIssuer({
  db,
  clock,
  plans,
  leaseKey,
  origin,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  plans: Pick<AccountPlans, 'entitlementsOf'>;
  leaseKey: RootSecret['leaseKey'];
  origin: string;
}): LeaseIssuer {
  return {
    publicKey: leaseKey.publicKey,
    async issue({ id, account_id }, nonce) {
      if (!/^[\w-]{16,64}$/.test(nonce))
        throw new SvcError('fields_invalid', 'nonce: 16 to 64 letters, digits, - and _');
      const { name } = await db
        .selectFrom('accounts')
        .select('name')
        .where('id', '=', account_id)
        .executeTakeFirstOrThrow();
      const { plan, quotas, capabilities } = await plans.entitlementsOf(account_id);
      const iat = Math.floor(clock.now() / 1000);
      return signLease(
        {
          iss: origin,
          sub: id,
          jti: randomUUID(),
          iat,
          exp: iat + LEASE_MS / 1000,
          nonce,
          account: name,
          plan,
          quotas,
          capabilities: [...capabilities],
        },
        leaseKey.privateKey,
      );
    },
  };
}
