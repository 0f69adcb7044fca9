import { z } from 'zod';
import { operation, wireOperation } from '../api/operation.ts';
import { tool } from '../api/tool.ts';
import { type Clock, rfc3339 } from '../base/clock.ts';
import { formatId } from '../base/ids.ts';
import type { Storage } from '../storage/index.ts';
import { type BooksReader, USAGE_GROUPS, type UsageSum } from './books/read.ts';
import type { GatewayConfig } from './build-settings.ts';
import type { Keys } from './keys/index.ts';
import type { GatewayProcess } from './process.ts';
import { sumRowTokens } from './tokens.ts';

const NAME = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'expected a name: letters, digits, . _ -, at most 64');

const DAY_MS = 86_400_000;

/** Midnight in UTC, so many days before today's. */
const startOfDay = (now: number, daysBefore = 0): number =>
  Math.floor(now / DAY_MS) * DAY_MS - daysBefore * DAY_MS;

/** What clients may ask of the gateway and its books. Nothing here has content of a call. */
export function gatewayOperations({
  storage,
  clock,
  keys,
  gateway,
  books,
  config,
  liveTasks,
}: {
  storage: Storage;
  clock: Clock;
  keys: Keys;
  gateway: GatewayProcess;
  books: BooksReader;
  config(): GatewayConfig;
  /** Numbers of tasks that are not over. */
  liveTasks(): ReadonlySet<number>;
}) {
  const NOTHING: UsageSum = {
    key: null,
    calls: 0,
    failed: 0,
    denied: 0,
    input: 0,
    output: 0,
    cache_read: 0,
    cache_write: 0,
    estimated: 0,
  };
  const total = (since: number): UsageSum => books.sumUsage(since, null)[0] ?? NOTHING;

  function nameKey(group: (typeof USAGE_GROUPS)[number], key: UsageSum['key']): string | null {
    if (key === null) return null;
    if (group === 'session') return formatId('s', Number(key));
    return group === 'task' ? formatId('t', Number(key)) : String(key);
  }

  const views = {
    summary() {
      const since = startOfDay(clock.now());
      const today = total(since);
      return {
        today: { ...today, tokens: sumRowTokens(today) },
        by_provider: books.sumUsage(since, 'provider').map((row) => ({ ...row, tokens: sumRowTokens(row) })),
      };
    },
    leaks() {
      const since = startOfDay(clock.now());
      const live = liveTasks();
      const ended = books.sumUsage(since, 'task').filter(({ key }) => key !== null && !live.has(Number(key)));
      const repeated = books.countRepeated(since);
      const today = total(since);
      return {
        ended_tasks_tokens: ended.reduce((sum, row) => sum + sumRowTokens(row), 0),
        repeated_calls: repeated.calls,
        repeated_tokens: repeated.tokens,
        failed_calls: today.failed,
        estimated_tokens: today.estimated,
        cache_write_tokens: today.cache_write,
        cache_read_tokens: today.cache_read,
      };
    },
    governance() {
      const since = startOfDay(clock.now());
      const today = total(since);
      const { ai } = config();
      return {
        mode: ai.mode,
        budget_tokens_day: ai.budget_tokens_day,
        spent_tokens_day: sumRowTokens(today),
        resets_at: rfc3339(since + DAY_MS),
        denied_calls: today.denied,
        budgets_met: books.listMetBudgets(0).filter(({ at }) => at >= since).length,
      };
    },
  };

  return [
    operation({
      name: 'gateway.status',
      about: 'How the gateway does: its process, its mode, its providers. Null while it does not run.',
      seat: 'any',
      changes: false,
      input: z.strictObject({}),
      run: () => gateway.readState(),
    }),
    operation({
      name: 'gateway.serve',
      about: 'Starts the gateway unless it runs, and answers where it is.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ allow_remote: z.boolean().default(false) }),
      run: async ({ allow_remote }) => ({ url: await gateway.open({ allowRemote: allow_remote }) }),
    }),
    operation({
      name: 'gateway.stop',
      about: 'Ends the gateway once the calls that it is answering are over.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({}),
      async run() {
        await gateway.stop();
        return {};
      },
    }),
    operation({
      name: 'gateway.try',
      about: 'Asks every provider for one short answer, which costs what that costs.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({}),
      async run() {
        await gateway.open({ allowRemote: false });
        return { trials: await gateway.tryProviders() };
      },
    }),
    wireOperation({
      name: 'gateway.metrics',
      about: 'The gateway’s counters in the text format of Prometheus; empty while it does not run.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({}),
      run: async () => ({ text: await gateway.readMetrics() }),
    }),
    operation({
      name: 'gateway.keys',
      about: 'Keys of persons for the gateway, by name.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({}),
      run: () => keys.listPersonKeys(),
    }),
    operation({
      name: 'gateway.add_key',
      about: 'Makes a key for a person’s own agents; it is shown this once.',
      seat: 'chair',
      changes: true,
      isSecret: true,
      input: z.strictObject({
        name: NAME,
        pid: z.int().positive().nullable().default(null).describe('it ends with that process'),
      }),
      run: async ({ name, pid }) => ({
        name,
        key: await storage.write(() => keys.addPersonKey(name, pid)),
      }),
    }),
    operation({
      name: 'gateway.remove_key',
      about: 'Ends a person’s key, at once.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ name: NAME }),
      async run({ name }) {
        await storage.write(() => keys.removePersonKey(name));
        return { name };
      },
    }),
    wireOperation({
      name: 'gateway.usage',
      about:
        'What calls through the gateway have used, by day, session, task, person, provider, model or protocol.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        days: z.int().min(1).max(366).default(1),
        by: z.enum(USAGE_GROUPS).default('provider'),
      }),
      run({ days, by: group }) {
        const since = startOfDay(clock.now(), days - 1);
        const rows = books
          .sumUsage(since, group)
          .map((row) => ({ ...row, key: nameKey(group, row.key), tokens: sumRowTokens(row) }));
        const all = total(since);
        return { since: rfc3339(since), by: group, rows, total: { ...all, tokens: sumRowTokens(all) } };
      },
    }),
    tool({
      name: 'usage.status',
      about: 'What model calls have used today, without their content.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ view: z.enum(['summary', 'leaks', 'governance']).default('summary') }),
      output: z.looseObject({}),
      run: ({ view }): Record<string, unknown> => views[view](),
    }),
  ];
}
