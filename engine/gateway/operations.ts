import { z } from 'zod';
import { operation, toWire, wireOperation } from '../api/operation.ts';
import { tool } from '../api/tool.ts';
import { type Clock, rfc3339 } from '../base/clock.ts';
import { formatId } from '../base/ids.ts';
import type { Session, Sessions } from '../sessions/index.ts';
import type { Storage } from '../storage/index.ts';
import { createPricing, type Pricing } from './books/pricing.ts';
import type { BooksReader, RecentCall, UsagePart } from './books/read.ts';
import { sumAllUsage, sumUsage, USAGE_GROUPS, type UsageGroup, type UsageSum } from './books/sum-usage.ts';
import type { GatewayConfig } from './build-settings.ts';
import type { Keys } from './keys/index.ts';
import type { GatewayProcess } from './process.ts';

const NAME = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'expected a name: letters, digits, . _ -, at most 64');

const DAY_MS = 86_400_000;

/** Midnight in UTC, so many days before today's. */
const startOfDay = (now: number, daysBefore = 0): number =>
  Math.floor(now / DAY_MS) * DAY_MS - daysBefore * DAY_MS;

const formatDay = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Rows of each kind that a tool is given: what is beyond them is in `svc gateway usage`. */
const MOST_LISTED = 10;
/** Sessions that are looked at for calls that the books do not have. */
const MOST_SESSIONS = 1000;
/** A conversation with fewer calls says nothing about its cache. */
const LEAST_CALLS = 4;

/** The groups of the dashboard, in the order in which its key goes through them. */
const SHOWN_GROUPS = ['session', 'model', 'provider', 'task'] as const satisfies readonly UsageGroup[];

/** What one row of the dashboard's usage is about. */
export interface NamedUsage extends UsageSum {
  /** A title, where the key is of a session or a task. */
  label: string | null;
}

/** Usage of one UTC day, for people. */
export interface DayUsage {
  day: string;
  resets_at: string;
  mode: GatewayConfig['ai']['mode'];
  /** Whether models may be asked at all: in mode live a provider has to be there. */
  has_providers: boolean;
  /** Whether its process runs. */
  is_running: boolean;
  /** Where agents find it. */
  address: string;
  /** 0 for unlimited. */
  budget_tokens_day: number;
  total: Omit<UsageSum, 'key'>;
  /** Tokens by the hour in which their calls began: 24 numbers. */
  hours: number[];
  groups: Record<(typeof SHOWN_GROUPS)[number], NamedUsage[]>;
}

/** What clients may ask of the gateway and its books. Nothing here has content of a call. */
export function gatewayOperations({
  storage,
  clock,
  keys,
  gateway,
  books,
  config,
  sessions,
  routedAgents,
  policy,
  sumSavings,
}: {
  storage: Storage;
  clock: Clock;
  keys: Keys;
  gateway: GatewayProcess;
  books: BooksReader;
  config(): GatewayConfig;
  sessions: Pick<Sessions, 'list'>;
  /** Agents whose runs go through the gateway. */
  routedAgents(): string[];
  /** `policy`, for those who ask what is in force. */
  policy(): { mode: string };
  /** What was kept out of contexts, by session and tool, and all together. */
  sumSavings(session: null, limit: number): { total: object; savings: readonly object[] };
}) {
  /** Sessions by number, as far as they are there. */
  const findSessions = (numbers: Iterable<number | null>): Map<number, Session> => {
    const ids = [...new Set(numbers)].filter((id): id is number => id !== null);
    const found = ids.length === 0 ? [] : sessions.list({ ids: ids.map((id) => formatId('s', id)) });
    return new Map(found.map((session) => [Number(session.sessionId.slice(2)), session]));
  };

  /** The key of a part in each group, as clients know it. */
  function nameParts(parts: readonly UsagePart[], group: UsageGroup): (part: UsagePart) => string | null {
    if (group === 'worker') {
      const known = findSessions(parts.map((part) => part.session_id));
      return (part) => known.get(part.session_id ?? -1)?.workerId ?? null;
    }
    if (group === 'session')
      return (part) => (part.session_id === null ? null : formatId('s', part.session_id));
    if (group === 'task') return (part) => (part.task_id === null ? null : formatId('t', part.task_id));
    return (part) => part[group];
  }

  const sumBy = (parts: readonly UsagePart[], group: UsageGroup, pricing: Pricing): UsageSum[] =>
    sumUsage(parts, nameParts(parts, group), pricing);

  const views = {
    summary({ recent }: { recent: number }) {
      const since = startOfDay(clock.now());
      const parts = books.listUsage(formatDay(since));
      const pricing = createPricing(config());
      const list = (group: UsageGroup): UsageSum[] => sumBy(parts, group, pricing).slice(0, MOST_LISTED);
      return {
        today: sumAllUsage(parts, pricing),
        by_session: list('session'),
        by_worker: list('worker'),
        by_model: list('model'),
        by_provider: list('provider'),
        ...(recent === 0 ? {} : { recent: books.listRecent(recent).map(describeCall) }),
        kept_out: toWire(sumSavings(null, MOST_LISTED)),
      };
    },
    leaks() {
      const since = startOfDay(clock.now());
      const day = formatDay(since);
      const parts = books.listUsage(day);
      const today = sumAllUsage(parts, createPricing(config()));
      const known = findSessions(parts.map((part) => part.session_id));
      const repeated = books.countRepeated(day);
      const late = books.countAfterEnd(day, (id) => {
        const { endedAt = null } = known.get(id) ?? {};
        return endedAt === null ? null : Date.parse(endedAt);
      });
      const persons = sumAllUsage(
        parts.filter((part) => part.task_id === null),
        createPricing(config()),
      );
      const unbooked = sessions
        .list({ limit: MOST_SESSIONS })
        .filter(
          ({ auth, usage, startedAt, sessionId }) =>
            auth === 'gateway' &&
            usage !== null &&
            usage.input + usage.output > 0 &&
            startedAt !== null &&
            Date.parse(startedAt) >= since &&
            !known.has(Number(sessionId.slice(2))),
        );
      const busting = books
        .listSessionHabits(day)
        .filter((each) => each.calls >= LEAST_CALLS && each.fresh_calls * 2 > each.calls);
      const long = books.countLongToolOutputs(day);
      return {
        after_end_calls: late.calls,
        after_end_tokens: late.tokens,
        without_task_tokens: persons.spent,
        bypassing_sessions: unbooked.slice(0, MOST_LISTED).map(({ sessionId, agent, usage }) => ({
          session_id: sessionId,
          agent,
          tokens: (usage?.input ?? 0) + (usage?.output ?? 0),
        })),
        repeated_calls: repeated.calls,
        repeated_tokens: repeated.tokens,
        retries: repeated.retries,
        failed_calls: today.failed,
        long_tool_outputs: long.calls,
        long_tool_output_bytes: long.bytes,
        cache_busting_sessions: busting.slice(0, MOST_LISTED).map((each) => ({
          session_id: formatId('s', each.session_id),
          calls: each.calls,
          fresh_calls: each.fresh_calls,
          tokens: each.fresh_tokens,
        })),
        cache_write_tokens: today.cache_write,
        cache_read_tokens: today.cache_read,
        estimated_tokens: today.estimated,
      };
    },
    governance() {
      const since = startOfDay(clock.now());
      const { ai, gateway: settings } = config();
      const today = sumAllUsage(books.listUsage(formatDay(since)), createPricing(config()));
      return {
        mode: ai.mode,
        budget_tokens_day: ai.budget_tokens_day,
        spent_tokens_day: today.spent,
        cost_usd_day: today.cost_usd,
        resets_at: rfc3339(since + DAY_MS),
        denied_calls: today.denied,
        budgets_met: books.listMetBudgets(0).filter(({ at }) => at >= since).length,
        policy: policy().mode || 'solo',
        routed_agents: routedAgents(),
        providers: ai.providers
          .filter(({ enabled }) => enabled !== false)
          .map(({ name, tier }) => ({ name, tier })),
        cache_ttl_sec: settings.cache.ttl_sec,
        person_keys: keys.listPersonKeys().length,
      };
    },
  };

  let shown: { version: number; day: string; config: GatewayConfig; usage: DayUsage } | null = null;

  /** What the dashboard asks for every few seconds: the books are read again only when they have changed. */
  function readDay(): DayUsage {
    const since = startOfDay(clock.now());
    const day = formatDay(since);
    const now = config();
    const version = books.readVersion();
    if (shown?.version !== version || shown.day !== day || shown.config !== now)
      shown = { version, day, config: now, usage: sumDay(since, now) };
    return { ...shown.usage, is_running: gateway.isRunning() };
  }

  function sumDay(since: number, now: GatewayConfig): DayUsage {
    const { ai } = now;
    const day = formatDay(since);
    const parts = books.listUsage(day);
    const pricing = createPricing(now);
    const known = findSessions(parts.map((part) => part.session_id));
    const titles = new Map<string, string>();
    for (const { sessionId, taskId, title } of known.values())
      titles.set(sessionId, title).set(taskId, title);
    const list = (group: UsageGroup): NamedUsage[] =>
      sumBy(parts, group, pricing).map((sum) => ({ ...sum, label: titles.get(sum.key ?? '') ?? null }));
    return {
      day,
      resets_at: rfc3339(since + DAY_MS),
      mode: ai.mode,
      has_providers:
        ai.providers.some(({ enabled }) => enabled !== false) ||
        ai.ollama.host !== '' ||
        ai.passthrough.anthropic.base_url !== '',
      is_running: false,
      address: gateway.buildRoute(),
      budget_tokens_day: ai.budget_tokens_day,
      total: sumAllUsage(parts, pricing),
      hours: books.listHours(day),
      groups: {
        session: list('session'),
        model: list('model'),
        provider: list('provider'),
        task: list('task'),
      },
    };
  }

  return [
    operation({
      name: 'gateway.status',
      about: 'How the gateway does: its process, its mode, its providers. Null while it does not run.',
      seat: 'any',
      changes: false,
      input: z.strictObject({}),
      run: () => gateway.readState(),
    }),
    wireOperation({
      name: 'gateway.serve',
      about:
        'Starts the gateway unless it runs, and answers where it is and what is known of the models there.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ allow_remote: z.boolean().default(false) }),
      run: ({ allow_remote }) => gateway.open({ allowRemote: allow_remote }),
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
        'What calls through the gateway have used, in tokens and money, by day, session, worker, task, person, provider, model or protocol.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        days: z.int().min(1).max(366).default(1),
        by: z.enum(USAGE_GROUPS).default('provider'),
      }),
      run({ days, by: group }) {
        const since = startOfDay(clock.now(), days - 1);
        const parts = books.listUsage(formatDay(since));
        const pricing = createPricing(config());
        return {
          since: rfc3339(since),
          by: group,
          rows: sumBy(parts, group, pricing),
          total: sumAllUsage(parts, pricing),
        };
      },
    }),
    wireOperation({
      name: 'gateway.today',
      about:
        'Usage of this UTC day by session, model, provider and task, by the hour, and what is left of its budget.',
      seat: 'any',
      changes: false,
      input: z.strictObject({}),
      run: () => readDay(),
    }),
    tool({
      name: 'usage.status',
      about: 'What model calls have used today, without their content.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        view: z.enum(['summary', 'leaks', 'governance']).default('summary'),
        recent: z.int().min(0).max(100).default(0).describe('newest calls in the summary'),
      }),
      output: z.looseObject({}),
      run: ({ view, recent }): Record<string, unknown> => views[view]({ recent }),
    }),
  ];
}

/** A call for those who may not see its content. */
const describeCall = (row: RecentCall): object => ({
  at: rfc3339(row.started_at),
  session_id: row.session_id === null ? null : formatId('s', row.session_id),
  provider: row.provider,
  model: row.model,
  outcome: row.outcome,
  tokens: row.tokens,
  ms: row.total_ms === null ? null : Math.round(row.total_ms),
});
