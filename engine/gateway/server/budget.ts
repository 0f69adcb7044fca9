import type { UsageBooks } from './books.ts';
import type { KeyHolder } from './holders.ts';

/** The reason for refusing a call. */
export interface BudgetRefusal {
  scope: 'day' | 'task';
  /** The UTC day, or the task's number. */
  subject: string;
  limit: number;
  spent: number;
  /** Tokens reserved for calls in progress. */
  reserved: number;
  /** The time of a useful retry, Unix ms; null if waiting does not help. */
  until: number | null;
}

/** The reservation for a call until its usage is known. */
export interface BudgetReservation {
  tokens: number;
  /** Replaces the reservation with the actual usage. */
  settle(used: number): void;
}

/** Owns the budgets: one per UTC day for all calls, and one per task. In memory, loaded from the books at the start. */
export interface BudgetGuard {
  /**
   * Reserves tokens, or returns the reason for a refusal. A budget with any tokens left accepts one more call: only
   * the last call exceeds it.
   */
  reserve(holder: KeyHolder, tokens: number): BudgetReservation | BudgetRefusal;
  setDayLimit(tokens: number): void;
  spentToday(): number;
  reservedToday(): number;
}

export const isRefusal = (found: BudgetReservation | BudgetRefusal): found is BudgetRefusal =>
  'scope' in found;

const DAY_MS = 86_400_000;
/** Retry time of a budget that is only reserved. */
const RESERVED_MS = 60_000;
let lastDay = { number: 0, name: '1970-01-01' };

/** Returns the UTC day of a time in Unix ms. */
export function dayOf(at: number): string {
  const number = Math.floor(at / DAY_MS);
  if (number !== lastDay.number)
    lastDay = { number, name: new Date(number * DAY_MS).toISOString().slice(0, 10) };
  return lastDay.name;
}
export const nextDayAt = (day: string): number => Date.parse(`${day}T00:00:00Z`) + DAY_MS;

interface Account {
  spent: number;
  reserved: number;
}

export function createBudget({
  books,
  now,
  dayLimit,
}: {
  books: Pick<UsageBooks, 'spentOnDay' | 'spentByTask'>;
  now(): number;
  dayLimit: number;
}): BudgetGuard {
  let limit = dayLimit;
  let day = dayOf(now());
  let today: Account = { spent: books.spentOnDay(day), reserved: 0 };
  const tasks = new Map<number, Account>();

  function currentDay(): Account {
    const now_ = dayOf(now());
    if (now_ !== day) {
      day = now_;
      // Calls of the previous day settle with the account that they started with.
      today = { spent: books.spentOnDay(day), reserved: 0 };
    }
    return today;
  }

  function accountOf(taskId: number): Account {
    const known = tasks.get(taskId);
    if (known !== undefined) return known;
    const account = { spent: books.spentByTask(taskId), reserved: 0 };
    tasks.set(taskId, account);
    return account;
  }

  /** Returns when a reserved daily budget may be retried. Most reservations are released again: calls in progress use less. */
  const findDayReset = (): number =>
    today.spent >= limit ? nextDayAt(day) : Math.min(nextDayAt(day), now() + RESERVED_MS);

  const isSpent = ({ spent, reserved }: Account, most: number): boolean => spent + reserved >= most;

  return {
    reserve(holder, tokens) {
      const accounts = [currentDay()];
      if (limit > 0 && isSpent(today, limit))
        return { ...today, scope: 'day', subject: day, limit, until: findDayReset() };
      if (holder.kind === 'run') {
        const account = accountOf(holder.taskId);
        const most = holder.budgetTokens;
        const { spent, reserved } = account;
        const all = { spent: spent + holder.claimedTokens, reserved };
        if (most !== null && isSpent(all, most))
          return {
            ...all,
            scope: 'task',
            subject: String(holder.taskId),
            limit: most,
            until: null,
          };
        accounts.push(account);
      }
      for (const account of accounts) account.reserved += tokens;
      let isSettled = false;
      return {
        tokens,
        settle(used) {
          if (isSettled) return;
          isSettled = true;
          for (const account of accounts) {
            account.reserved -= tokens;
            account.spent += used;
          }
        },
      };
    },
    setDayLimit(tokens) {
      limit = tokens;
    },
    spentToday: () => currentDay().spent,
    reservedToday: () => currentDay().reserved,
  };
}
