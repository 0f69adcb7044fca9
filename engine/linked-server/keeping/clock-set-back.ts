import type { Kysely } from 'kysely';
import { COMMAND_LIFE_MS } from '../../core/link-protocol/messages.ts';
import { CODE_MS } from '../chats/connection-codes.ts';
import type { Tables } from '../database/tables.ts';
import { OVERLAP_MS } from '../deliveries/target-secrets.ts';
import { EXPIRES_S } from '../login/device-requests.ts';
import { INVITATION_MS } from '../people/invitations.ts';

/** Retries wait no longer than an hour, and chat services request pauses of less than a day. */
const LONGEST_PAUSE_MS = 3600_000;
const LONGEST_CHAT_PAUSE_MS = 86_400_000;
/** Tolerance for times ahead: another process may have written it a moment ago. */
const SLACK_MS = 60_000;

/**
 * Finds times that are further ahead than possible, since the clock was ahead when they were written: pending work
 * would not be sent, and secrets would be valid for too long.
 */
export async function bringTimesBack(db: Kysely<Tables>, now: number): Promise<void> {
  await db
    .updateTable('deliveries')
    .set({ first_at: now, next_at: now })
    .where('state', '=', 'waiting')
    .where('next_at', '>', now + LONGEST_PAUSE_MS + SLACK_MS)
    .execute();
  await db
    .updateTable('chat_messages')
    .set({ due_at: now })
    .where('due_at', '>', now + LONGEST_PAUSE_MS + SLACK_MS)
    .execute();
  await db
    .updateTable('chat_channels')
    .set({ next_at: now })
    .where('next_at', '>', now + LONGEST_CHAT_PAUSE_MS)
    .execute();
  await db
    .updateTable('browser_sessions')
    .set({ created_at: now, seen_at: now })
    .where('created_at', '>', now + SLACK_MS)
    .execute();
  await db
    .updateTable('browser_sessions')
    .set({ seen_at: now })
    .where('seen_at', '>', now + SLACK_MS)
    .execute();
  await db
    .updateTable('targets')
    .set({ failing_since: now })
    .where('failing_since', '>', now + SLACK_MS)
    .execute();
  await db
    .updateTable('targets')
    .set({ old_until: now + OVERLAP_MS })
    .where('old_until', '>', now + OVERLAP_MS + SLACK_MS)
    .execute();
  await db
    .deleteFrom('chat_codes')
    .where('expires_at', '>', now + CODE_MS + SLACK_MS)
    .execute();
  // The request was for that hour, which is over.
  await db
    .updateTable('commands')
    .set({ expires_at: now })
    .where('outcome', 'is', null)
    .where('expires_at', '>', now + COMMAND_LIFE_MS + SLACK_MS)
    .execute();
  await db
    .updateTable('invitations')
    .set({ expires_at: now + INVITATION_MS })
    .where('expires_at', '>', now + INVITATION_MS + SLACK_MS)
    .execute();
  await db
    .deleteFrom('device_requests')
    .where('expires_at', '>', now + EXPIRES_S * 1000 + SLACK_MS)
    .execute();
}
