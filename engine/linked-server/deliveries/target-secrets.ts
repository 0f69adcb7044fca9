import { randomBytes } from 'node:crypto';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { shownAddress } from '../../core/http/shown-address.ts';
import type { SigningSecrets } from '../../notify/sending/index.ts';
import type { ChangeLog } from '../change-log.ts';
import type { TargetRow } from '../database/tables.ts';
import type { SecretSealer } from '../sealing.ts';
import { entryOf } from './target-wish.ts';

/** How long the previous secret also signs after a new one was created. */
export const OVERLAP_MS = 24 * 3600_000;
const SIGNS_YET = 'a new secret was created within the last day, and the previous one still signs';
/** Reports whether the previous secret still signs. */
export const isOverlapping = ({ old_until }: Pick<TargetRow, 'old_until'>, now: number): boolean =>
  (old_until ?? 0) > now;
const SECRET_BYTES = 32;

export const makeSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`;

/** Returns the stored address of a target, which may contain a secret. */
export const sealAddress = (sealer: SecretSealer, id: string, url: string) => ({
  url: sealer.seal(url, `targets.url.${id}`),
  shown_url: shownAddress(url),
});

/** The signing secrets of targets. */
export interface TargetSecrets {
  /**
   * Creates a new secret, returned only once; the old one also signs for a day. Throws `conflict` within that day,
   * unless the old one has to end immediately.
   */
  rotateSecret(target: TargetRow, actor: string, how?: { endsOverlap?: boolean }): Promise<string>;
  /** The current address and signing secrets of a target. */
  open(target: TargetRow): { url: string; secrets: SigningSecrets };
}

export function createTargetSecrets({
  clock,
  changes,
  sealer,
}: {
  clock: Clock;
  changes: ChangeLog;
  sealer: SecretSealer;
}): TargetSecrets {
  return {
    async rotateSecret(target, actor, { endsOverlap = false } = {}) {
      if (isOverlapping(target, clock.now()) && !endsOverlap)
        throw new SvcError('conflict', SIGNS_YET, {
          hint: 'another new secret would end the previous one immediately',
        });
      const secret = makeSecret();
      const old = sealer.unseal(target.secret, `targets.secret.${target.id}`);
      await changes.make(entryOf(target, 'new secret', actor), async (change) => {
        const { numUpdatedRows } = await change
          .updateTable('targets')
          .set({
            secret: sealer.seal(secret, `targets.secret.${target.id}`),
            old_secret: sealer.seal(old, `targets.old_secret.${target.id}`),
            old_until: clock.now() + OVERLAP_MS,
          })
          .where('id', '=', target.id)
          .where('secret', '=', target.secret)
          .executeTakeFirst();
        if (Number(numUpdatedRows) === 0)
          throw new SvcError('conflict', 'another person has just created a new secret', {
            hint: 'reload this page',
          });
      });
      return secret;
    },
    open({ id, url, secret, old_secret, old_until }) {
      const current = sealer.unseal(secret, `targets.secret.${id}`);
      const before = isOverlapping({ old_until }, clock.now()) ? old_secret : null;
      return {
        url: sealer.unseal(url, `targets.url.${id}`),
        secrets: before === null ? [current] : [current, sealer.unseal(before, `targets.old_secret.${id}`)],
      };
    },
  };
}
