import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import { asSvcError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { retryDeadlocks } from '../database/errors.ts';
import { isSightingDue } from '../database/last-seen.ts';
import type { LinkedWorkspace, Tables } from '../database/tables.ts';

/** Delay after which seen workspaces are written together: with 1,000 of them, each second would write some. */
const GATHERED_MS = 10_000;
/** The maximum number in a statement. */
const MOST_AT_ONCE = 500;

/** Last-seen times of workspaces, for display: a crash loses some until the next poll. */
export interface LinkSightings {
  /** Records that it was seen now, in its cached row too. */
  note(workspace: Pick<LinkedWorkspace, 'id' | 'last_seen_at'>): void;
  /** Writes the recorded times. */
  close(): Promise<void>;
}

export function createSightings({
  db,
  clock,
  log,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  log: Log;
}): LinkSightings {
  const seen = new Set<string>();
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  async function writeDown(): Promise<void> {
    timer = null;
    const ids = [...seen];
    seen.clear();
    const last_seen_at = clock.now();
    for (let at = 0; at < ids.length; at += MOST_AT_ONCE)
      await retryDeadlocks(() =>
        db
          .updateTable('workspaces')
          .set({ last_seen_at })
          .where('id', 'in', ids.slice(at, at + MOST_AT_ONCE))
          .execute(),
      );
  }

  function writeSightings(): Promise<void> {
    writing = writing
      .then(writeDown)
      .catch((error: unknown) => log.warn({ error: asSvcError(error).message }, 'sightings were not saved'));
    return writing;
  }

  return {
    note(workspace) {
      const now = clock.now();
      if (!isSightingDue(workspace.last_seen_at, now)) return;
      workspace.last_seen_at = now;
      seen.add(workspace.id);
      timer ??= setTimeout(() => void writeSightings(), GATHERED_MS).unref();
    },
    close() {
      if (timer !== null) clearTimeout(timer);
      return writeSightings();
    },
  };
}
