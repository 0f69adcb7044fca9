import type { Kysely } from 'kysely';
import type { Tables } from '../database/tables.ts';

/** Waits for the outcomes of commands. */
export function createOutcomeWaits(db: Kysely<Tables>) {
  const waiting = new Map<string, Set<() => void>>();
  return {
    /** Called after the commit of an outcome. */
    wake(id: string): void {
      for (const wake of waiting.get(id) ?? []) wake();
    },
    /** Waits until a command has its outcome, or for a time in ms. */
    async wait(id: string, ms: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const all = waiting.get(id) ?? new Set();
      waiting.set(id, all.add(resolve));
      const timer = setTimeout(resolve, ms);
      // It may have ended before anyone waited.
      const row = await db.selectFrom('commands').select('outcome').where('id', '=', id).executeTakeFirst();
      if (row?.outcome == null) await promise;
      clearTimeout(timer);
      all.delete(resolve);
      if (all.size === 0) waiting.delete(id);
    },
  };
}
