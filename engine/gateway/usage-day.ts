import { toWire, type WireValue } from '../core/api/operation.ts';
import { type Clock, rfc3339 } from '../core/base/clock.ts';
import { type SessionUsage, sumUsages } from '../workers/sessions/index.ts';
import { createPricing } from './books/pricing.ts';
import type { BooksReader } from './books/read.ts';
import { describeParts } from './books/session-books.ts';
import { sumAllUsage, type UsageGroup, type UsageSum } from './books/sum-usage.ts';
import type { GatewayConfig } from './build-settings.ts';
import { DAY_MS, formatDay, type NamedSums, startOfDay } from './named-sums.ts';
import type { GatewayProcess } from './process.ts';
import type { UsageScope } from './usage-scope.ts';

/** The groups of the dashboard, in the order of its key. */
const SHOWN_GROUPS = ['session', 'model', 'provider', 'task'] as const satisfies readonly UsageGroup[];

/** The subject of one row of the dashboard's usage. */
export interface NamedUsage extends UsageSum {
  /** A title, if the key is a session or a task. */
  label: string | null;
}

/** Usage of one UTC day, for people. */
export interface DayUsage {
  /** The owner of these calls; null for all calls. */
  of_session: string | null;
  day: string;
  resets_at: string;
  mode: GatewayConfig['ai']['mode'];
  /** True if models may be called at all: in mode live a provider is required. */
  has_providers: boolean;
  /** True if its process runs. */
  is_running: boolean;
  /** The address for agents. */
  address: string;
  /** 0 for unlimited. */
  budget_tokens_day: number;
  total: Omit<UsageSum, 'key'>;
  /** The same calls, and what agents claim about runs that made none; null for nothing. */
  spent: WireValue<SessionUsage> | null;
  /** Tokens by the hour in which their calls started: 24 numbers. */
  hours: number[];
  groups: Record<(typeof SHOWN_GROUPS)[number], NamedUsage[]>;
}

/** The part of it that is in the books. */
type CountedDay = Omit<DayUsage, 'spent' | 'is_running'> & { counted: SessionUsage | null };

/** Creates a reader for the usage of this UTC day, for the dashboard. */
export function createDayReader({
  clock,
  books,
  config,
  gateway,
  sumClaims,
  sums: { findSessions, sumBy },
}: {
  clock: Clock;
  books: BooksReader;
  config(): GatewayConfig;
  gateway: Pick<GatewayProcess, 'isRunning' | 'buildRoute'>;
  sumClaims(day: string): SessionUsage | null;
  sums: NamedSums;
}): (scope: UsageScope) => DayUsage {
  let shown: { version: number; usage: CountedDay; config: GatewayConfig } | null = null;

  function sumDay(since: number, now: GatewayConfig, { session, number }: UsageScope): CountedDay {
    const { ai } = now;
    const day = formatDay(since);
    const parts = books.listUsage(day, number);
    const pricing = createPricing(now);
    const known = findSessions(parts.map((part) => part.session_id));
    const titles = new Map<string, string>();
    for (const { sessionId, taskId, title } of known.values())
      titles.set(sessionId, title).set(taskId, title);
    const listDayUsage = (group: UsageGroup): NamedUsage[] =>
      sumBy(parts, group, pricing).map((sum) => ({ ...sum, label: titles.get(sum.key ?? '') ?? null }));
    return {
      of_session: session,
      day,
      resets_at: rfc3339(since + DAY_MS),
      mode: ai.mode,
      has_providers:
        ai.providers.some(({ enabled }) => enabled !== false) ||
        ai.ollama.host !== '' ||
        ai.passthrough.anthropic.base_url !== '',
      address: gateway.buildRoute(),
      budget_tokens_day: ai.budget_tokens_day,
      total: sumAllUsage(parts, pricing),
      counted: describeParts(parts, pricing),
      hours: books.listHours(day, number),
      groups: {
        session: listDayUsage('session'),
        model: listDayUsage('model'),
        provider: listDayUsage('provider'),
        task: listDayUsage('task'),
      },
    };
  }

  /** The dashboard requests this every few seconds: the books are only read again after a change. */
  return (scope) => {
    const since = startOfDay(clock.now());
    const day = formatDay(since);
    const now = config();
    const version = books.readVersion();
    const isKnown =
      shown?.version === version &&
      shown.config === now &&
      shown.usage.day === day &&
      shown.usage.of_session === scope.session;
    const usage = isKnown && shown !== null ? shown.usage : sumDay(since, now, scope);
    shown = { version, config: now, usage };
    const { counted, ...calls } = usage;
    // Only the Chair sees what others do.
    const claimed = scope.session === null ? sumClaims(day) : null;
    return { ...calls, spent: toWire(sumUsages([counted, claimed])), is_running: gateway.isRunning() };
  };
}
