import type { Kysely } from 'kysely';
import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import { createDueTimer } from '../../core/base/due-timer.ts';
import { asSvcError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { KEPT_TELEMETRY_DAYS } from '../../core/link-protocol/telemetry-day.ts';
import type { Tables } from '../database/tables.ts';
import type { UsedSignatures } from '../links/used-signatures.ts';
import type { FailureCounter } from '../people/failures.ts';
import { bringTimesBack } from './clock-set-back.ts';

const HOUR = 3600_000;
const DAY = 24 * HOUR;
/** How long deliveries of a disabled, paused or locked target are kept. */
const KEPT_WAITING_MS = 7 * DAY;
/** How long deliveries are shown. */
const KEPT_DELIVERIES_MS = 30 * DAY;
/** How long the log of changes is kept. */
const KEPT_CHANGES_MS = 400 * DAY;

/** Removes expired data every hour, and corrects times that the clock put too far ahead. */
export interface ServerRetention {
  start(): void;
  clean(): Promise<void>;
  close(): Promise<void>;
}

export function createServerRetention({
  db,
  clock,
  log,
  failures,
  signatures,
  eraseDeleted,
  wake,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  log: Log;
  failures: Pick<FailureCounter, 'clean'>;
  signatures: Pick<UsedSignatures, 'clean'>;
  eraseDeleted(): Promise<void>;
  /** Called when something may have become due. */
  wake(): void;
}): ServerRetention {
  const timer = createDueTimer({ clock, onDue: startRetention });
  let cleaning: Promise<void> = Promise.resolve();

  async function clean(): Promise<void> {
    const now = clock.now();
    await bringTimesBack(db, now);
    await db
      .updateTable('deliveries')
      .set({ state: 'dead', last_error: 'it waited for seven days' })
      .where('state', '=', 'waiting')
      .where('first_at', '<', now - KEPT_WAITING_MS)
      .execute();
    await db
      .deleteFrom('deliveries')
      .where('state', '!=', 'waiting')
      .where('created_at', '<', now - KEPT_DELIVERIES_MS)
      .execute();
    await db
      .deleteFrom('changes')
      .where('at', '<', now - KEPT_CHANGES_MS)
      .execute();
    // Buttons of a forgotten message get this answer.
    await db
      .deleteFrom('chat_messages')
      .where('created_at', '<', now - KEPT_DELIVERIES_MS)
      .execute();
    await db.deleteFrom('chat_codes').where('expires_at', '<', now).execute();
    await db.deleteFrom('chat_memory').where('until', '<', now).execute();
    await db
      .deleteFrom('usage_days')
      .where('day', '<=', rfc3339(now - KEPT_TELEMETRY_DAYS * DAY).slice(0, 10))
      .execute();
    await db.deleteFrom('invitations').where('expires_at', '<', now).execute();
    await db
      .deleteFrom('device_requests')
      .where('expires_at', '<', now - HOUR)
      .execute();
    await failures.clean();
    await signatures.clean();
    await eraseDeleted();
  }

  function startRetention(): void {
    cleaning = clean()
      .then(wake)
      .catch((error: unknown) => log.error({ error: asSvcError(error).message }, 'old data was not removed'))
      .finally(() => timer.sleepUntil(clock.now() + HOUR));
  }

  return {
    start: startRetention,
    clean,
    async close() {
      timer.close();
      await cleaning;
    },
  };
}
