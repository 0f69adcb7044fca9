import type { Books } from './books.ts';
import type { Holder } from './holders.ts';

/** What a call was refused for. */
export interface Refusal {
  scope: 'day' | 'task';
  /** The UTC day, or the task's number. */
  subject: string;
  limit: number;
  spent: number;
  /** What is set aside for calls that are still being answered. */
  reserved: number;
  /** When it may be tried again, Unix ms; null when waiting does not help. */
  until: number | null;
}

/** What is set aside for a call until its usage is known. */
export interface Reservation {
  tokens: number;
  /** Puts what was used in the place of what was set aside. */
  settle(used: number): void;
}

/** Holds the budgets: by UTC day for all, and by task. All in memory, from the books at the start. */
export interface Budget {
  /** Sets tokens aside, or says why not. A budget that has anything left takes one more call: only the last one goes beyond it. */
  reserve(holder: Holder, tokens: number): Reservation | Refusal;
  setDayLimit(tokens: number): void;
  spentToday(): number;
  reservedToday(): number;
}

export const isRefusal = (found: Reservation | Refusal): found is Refusal => 'scope' in found;

const DAY_MS = 86_400_000;
/** When a budget that is only reserved may be tried again. */
const RESERVED_MS = 60_000;
let lastDay = { number: 0, name: '1970-01-01' };

/** Of a time in Unix ms, in UTC. */
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
  books: Pick<Books, 'spentOnDay' | 'spentByTask'>;
  now(): number;
  dayLimit: number;
}): Budget {
  let limit = dayLimit;
  let day = dayOf(now());
  let today: Account = { spent: books.spentOnDay(day), reserved: 0 };
  const tasks = new Map<number, Account>();

  function currentDay(): Account {
    const now_ = dayOf(now());
    if (now_ !== day) {
      day = now_;
      // Calls of the day before settle with the account that they began with.
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

  /** What is only reserved is mostly given back: calls that are being answered now use less. */
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
        if (most !== null && isSpent(account, most))
          return {
            ...account,
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
