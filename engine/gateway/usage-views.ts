import { toWire } from '../core/api/operation.ts';
import { type Clock, rfc3339 } from '../core/base/clock.ts';
import { asWorkerSession, formatId } from '../core/base/ids.ts';
import type { Sessions } from '../workers/sessions/index.ts';
import { createPricing } from './books/pricing.ts';
import type { BooksReader, RecentCall } from './books/read.ts';
import { sumAllUsage, type UsageGroup, type UsageSum } from './books/sum-usage.ts';
import type { GatewayConfig } from './build-settings.ts';
import type { ContentChoices } from './content-choices.ts';
import type { GatewayKeys } from './keys/index.ts';
import { DAY_MS, formatDay, type NamedSums, startOfDay } from './named-sums.ts';
import type { UsageScope } from './usage-scope.ts';

/** Maximum rows of each kind in a tool answer: `svc gateway usage` shows the rest. */
const MOST_LISTED = 10;
/** Sessions that are checked for calls missing from the books. */
const MOST_SESSIONS = 1000;
/** A conversation with fewer calls says nothing about its cache. */
const LEAST_CALLS = 4;

export interface UsageViewDeps {
  clock: Clock;
  keys: Pick<GatewayKeys, 'listPersonKeys'>;
  books: BooksReader;
  content: Pick<ContentChoices, 'list'>;
  config(): GatewayConfig;
  sessions: Pick<Sessions, 'list'>;
  /** Agents whose runs go through the gateway. */
  routedAgents(): string[];
  /** Returns `policy`, for showing the rules in force. */
  policy(): { mode: string };
  /** Returns bytes kept out of contexts, by session and tool, and in total. */
  sumSavings(session: string | null, limit: number): { total: object; savings: readonly object[] };
}

/** Creates the answer of the tool `usage_status` for today, by the names of its views. */
export const createUsageViews = (deps: UsageViewDeps, sums: NamedSums) => ({
  summary: (scope: UsageScope, { recent }: { recent: number }) => summarizeUsage(deps, sums, scope, recent),
  leaks: (scope: UsageScope) => findLeaks(deps, sums, scope),
  governance: (scope: UsageScope) => describeGovernance(deps, scope),
});

function summarizeUsage(
  { clock, books, config, sumSavings }: UsageViewDeps,
  { sumBy }: NamedSums,
  { session, number }: UsageScope,
  recent: number,
) {
  const since = startOfDay(clock.now());
  const parts = books.listUsage(formatDay(since), number);
  const pricing = createPricing(config());
  const list = (group: UsageGroup): UsageSum[] => sumBy(parts, group, pricing).slice(0, MOST_LISTED);
  return {
    of_session: session,
    today: sumAllUsage(parts, pricing),
    by_session: list('session'),
    by_worker: list('worker'),
    by_model: list('model'),
    by_provider: list('provider'),
    ...(recent === 0 ? {} : { recent: books.listRecent(recent, number).map(describeCall) }),
    kept_out: toWire(sumSavings(session, MOST_LISTED)),
  };
}

function findLeaks(
  { clock, books, config, sessions }: UsageViewDeps,
  { findSessions }: NamedSums,
  { session, number }: UsageScope,
) {
  const since = startOfDay(clock.now());
  const day = formatDay(since);
  const parts = books.listUsage(day, number);
  const today = sumAllUsage(parts, createPricing(config()));
  const known = findSessions(parts.map((part) => part.session_id));
  const repeated = books.countRepeated(day, number);
  const late = books.countAfterEnd(day, number, (id) => {
    const { endedAt = null } = known.get(id) ?? {};
    return endedAt === null ? null : Date.parse(endedAt);
  });
  const persons = sumAllUsage(
    parts.filter((part) => part.task_id === null),
    createPricing(config()),
  );
  const unbooked = sessions
    .list(session === null ? { limit: MOST_SESSIONS } : { ids: listIds(session) })
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
    .listSessionHabits(day, number)
    .filter((each) => each.calls >= LEAST_CALLS && each.fresh_calls * 2 > each.calls);
  const long = books.countLongToolOutputs(day, number);
  return {
    of_session: session,
    after_end_calls: late.calls,
    after_end_tokens: late.tokens,
    without_task_tokens: persons.tokens,
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
    estimated_tokens: today.estimated_tokens,
  };
}

function describeGovernance(
  { clock, keys, books, content, config, routedAgents, policy }: UsageViewDeps,
  { session, number }: UsageScope,
) {
  const since = startOfDay(clock.now());
  const { ai, gateway: settings } = config();
  const today = sumAllUsage(books.listUsage(formatDay(since), number), createPricing(config()));
  const isMine = (id: number | null): boolean => number === null || id === number;
  const logged = content.list();
  return {
    of_session: session,
    mode: ai.mode,
    budget_tokens_day: ai.budget_tokens_day,
    spent_tokens_day: today.tokens,
    cost_usd_day: today.cost_usd,
    resets_at: rfc3339(since + DAY_MS),
    denied_calls: today.denied,
    budgets_met: books.listMetBudgets(0).filter((met) => met.at >= since && isMine(met.session_id)).length,
    policy: policy().mode || 'solo',
    routed_agents: routedAgents(),
    providers: ai.providers
      .filter(({ enabled }) => enabled !== false)
      .map(({ name, tier }) => ({ name, tier })),
    cache_ttl_sec: settings.cache.ttl_sec,
    // Only the Chair may see other sessions.
    ...(session === null ? { person_keys: keys.listPersonKeys().length } : {}),
    content_logged: session === null ? logged : logged.filter((each) => each === session),
  };
}

/** Resolves a session like worker sessions: a seat may have a name that is not an id. */
const listIds = (session: string): string[] => [asWorkerSession(session)].filter((id) => id !== null);

/** Returns a call for callers that may not see its content. */
const describeCall = (row: RecentCall): object => ({
  at: rfc3339(row.started_at),
  session_id: row.session_id === null ? null : formatId('s', row.session_id),
  provider: row.provider,
  model: row.model,
  outcome: row.outcome,
  tokens: row.tokens,
  ms: row.total_ms === null ? null : Math.round(row.total_ms),
});
