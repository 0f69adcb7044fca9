import type { Transaction } from 'kysely';
import type { Tables } from './tables.ts';

/** Checks once per account of a transaction, which may contain events of many workspaces. */
export function askOncePerAccount<Answer>(
  ask: (change: Transaction<Tables>, account: string) => Promise<Answer>,
): (change: Transaction<Tables>, account: string) => Promise<Answer> {
  const answers = new WeakMap<Transaction<Tables>, Map<string, Promise<Answer>>>();
  return (change, account) => {
    const known = answers.get(change) ?? new Map<string, Promise<Answer>>();
    answers.set(change, known);
    const answer = known.get(account) ?? ask(change, account);
    known.set(account, answer);
    return answer;
  };
}
