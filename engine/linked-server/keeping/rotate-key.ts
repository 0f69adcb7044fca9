import type { Kysely } from 'kysely';
import { deriveRootKey } from '../../core/link-protocol/root-key.ts';
import { placeOfBot } from '../chats/bot-store.ts';
import type { Tables } from '../database/tables.ts';
import { createSealer } from '../sealing.ts';
import { checkValueOf, ROOT_CHECK_KEY, SEALING } from '../secrets.ts';

/** Encrypted columns, of tables with an id. */
const SEALED = { targets: ['url', 'secret', 'old_secret'] } as const;

/** Re-encrypts everything with another root secret, in one transaction. Leases signed with the old one become invalid. */
export async function encryptAnew(
  db: Kysely<Tables>,
  secrets: { before: string; after: string },
): Promise<{ values: number }> {
  const before = createSealer(deriveRootKey(secrets.before, SEALING));
  const after = createSealer(deriveRootKey(secrets.after, SEALING));
  return db.transaction().execute(async (change) => {
    let values = 0;
    for (const target of await change.selectFrom('targets').selectAll().execute()) {
      const sealed: Partial<Record<(typeof SEALED.targets)[number], string>> = {};
      for (const column of SEALED.targets) {
        const value = target[column];
        if (value === null) continue;
        const place = `targets.${column}.${target.id}`;
        sealed[column] = after.seal(before.unseal(value, place), place);
        values += 1;
      }
      await change.updateTable('targets').set(sealed).where('id', '=', target.id).execute();
    }
    for (const { kind, settings } of await change.selectFrom('bots').selectAll().execute()) {
      const place = placeOfBot(kind);
      const sealed = after.seal(before.unseal(settings, place), place);
      await change.updateTable('bots').set({ settings: sealed }).where('kind', '=', kind).execute();
      values += 1;
    }
    await change
      .updateTable('meta')
      .set({ value: checkValueOf(secrets.after) })
      .where('key', '=', ROOT_CHECK_KEY)
      .execute();
    return { values };
  });
}
