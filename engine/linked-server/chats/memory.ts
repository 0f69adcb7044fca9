import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { ChatKind, Tables } from '../database/tables.ts';
import type { ChatMemory } from './service.ts';

/** The persistent memory of one bot, in the database. */
export function createChatMemory({
  db,
  clock,
  kind,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  kind: ChatKind;
}): ChatMemory {
  return {
    async read(key) {
      const row = await db
        .selectFrom('chat_memory')
        .select('value')
        .where('kind', '=', kind)
        .where('key', '=', `value ${key}`)
        .executeTakeFirst();
      return row?.value ?? null;
    },
    async write(key, value) {
      await db
        .insertInto('chat_memory')
        .values({ kind, key: `value ${key}`, value, until: null })
        .onConflict((same) => same.columns(['kind', 'key']).doUpdateSet({ value }))
        .execute();
    },
    async claim(id, until) {
      const claimed = await db
        .insertInto('chat_memory')
        .values({ kind, key: `claim ${id}`, value: '', until })
        .onConflict((same) =>
          same.columns(['kind', 'key']).doUpdateSet({ until }).where('chat_memory.until', '<=', clock.now()),
        )
        .returning('key')
        .executeTakeFirst();
      return claimed !== undefined;
    },
  };
}
