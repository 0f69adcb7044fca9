import { z } from 'zod';
import { operation, wireOperation } from '../core/api/operation.ts';
import { tool } from '../core/api/tool.ts';
import { rfc3339 } from '../core/base/clock.ts';
import { SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import type { Storage } from '../storage/index.ts';
import type { Sessions, SessionUsage } from '../workers/sessions/index.ts';
import { createPricing } from './books/pricing.ts';
import { sumAllUsage, USAGE_GROUPS } from './books/sum-usage.ts';
import { type ContentChoices, contentLogPath, namePersonHolder } from './content-choices.ts';
import type { GatewayKeys } from './keys/index.ts';
import { createNamedSums, formatDay, startOfDay } from './named-sums.ts';
import type { GatewayProcess } from './process.ts';
import { createDayReader } from './usage-day.ts';
import { scopeUsage } from './usage-scope.ts';
import { createUsageViews, type UsageViewDeps } from './usage-views.ts';

const NAME = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'expected a name: letters, digits, . _ -, at most 64');

export interface GatewayOperationsDeps extends UsageViewDeps {
  storage: Storage;
  keys: GatewayKeys;
  gateway: GatewayProcess;
  content: ContentChoices;
  /** The data folder. */
  data: string;
  sessions: Pick<Sessions, 'list' | 'resolve'>;
  /** Returns what agents claim about the runs of a UTC day that made no call; null for nothing. */
  sumClaims(day: string): SessionUsage | null;
}

/** Creates the operations of clients on the gateway and its books. None of them returns the content of a call. */
export const gatewayOperations = (deps: GatewayOperationsDeps) => [
  ...processOperations(deps),
  ...keyOperations(deps),
  ...contentOperations(deps),
  ...usageOperations(deps),
];

function processOperations({ gateway }: Pick<GatewayOperationsDeps, 'gateway'>) {
  return [
    operation({
      name: 'gateway.status',
      about: 'State of the gateway: its process, mode and providers. Null while it is not running.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({}),
      run: () => gateway.readState(),
    }),
    wireOperation({
      name: 'gateway.serve',
      about: 'Starts the gateway unless it is running, and returns its address and the models known there.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ allow_remote: z.boolean().default(false) }),
      run: ({ allow_remote }) => gateway.open({ allowRemote: allow_remote }),
    }),
    operation({
      name: 'gateway.stop',
      about: 'Stops the gateway once the calls in progress are answered.',
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
      about: 'The gateway’s counters in the text format of Prometheus; empty while it is not running.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({}),
      run: async () => ({ text: await gateway.readMetrics() }),
    }),
  ];
}

function keyOperations({
  storage,
  keys,
  gateway,
  content,
}: Pick<GatewayOperationsDeps, 'storage' | 'keys' | 'gateway' | 'content'>) {
  return [
    operation({
      name: 'gateway.keys',
      about: 'Gateway keys of persons, by name.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({}),
      run: () => keys.listPersonKeys(),
    }),
    operation({
      name: 'gateway.add_key',
      about: 'Creates a key for a person’s own agents; it is shown only once.',
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
      about: 'Ends a person’s key immediately.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ name: NAME }),
      async run({ name }) {
        const holder = namePersonHolder(name);
        const wasLogged = content.list().includes(holder);
        await storage.write(() => {
          keys.removePersonKey(name);
          if (wasLogged) content.drop([holder]);
        });
        // A later key of the same name is a different key.
        if (wasLogged) await gateway.applySettings();
        return { name };
      },
    }),
  ];
}

function contentOperations({ storage, keys, gateway, content, data, sessions }: GatewayOperationsDeps) {
  /** Throws `not_found` for an unknown holder, and `usage` for both at once. */
  function nameHolder({
    session,
    key,
  }: {
    session: string | undefined;
    key: string | undefined;
  }): string | null {
    if (session !== undefined && key !== undefined)
      throw new SvcError('usage', 'expected a session or a key, not both');
    if (session !== undefined) return sessions.resolve(session).sessionId;
    if (key === undefined) return null;
    if (!keys.listPersonKeys().some(({ name }) => name === key))
      throw new SvcError('not_found', `no key ${JSON.stringify(key)}`, {
        hint: sentence`{gateway.keys} lists them`,
      });
    return namePersonHolder(key);
  }

  /** Returns logged holders that no longer exist: ended sessions and removed keys. */
  function listEnded(holders: readonly string[]): string[] {
    const live = new Set(keys.listPersonKeys().map(({ name }) => namePersonHolder(name)));
    const known = sessions.list({ ids: holders.filter((each) => each.startsWith('s-')) });
    for (const { sessionId, endedAt } of known) if (endedAt === null) live.add(sessionId);
    return holders.filter((each) => !live.has(each));
  }

  return [
    operation({
      name: 'gateway.log_content',
      about:
        'Logs the content of the calls of one session or of one person’s key, or stops logging it. Without either it only reports whose content is logged.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        session: z.string().optional(),
        key: NAME.optional(),
        on: z.boolean().default(true),
      }),
      async run({ session, key, on }) {
        const holder = nameHolder({ session, key });
        if (holder !== null) {
          await storage.write(() => {
            content.drop(on ? listEnded(content.list()) : [holder]);
            if (on) content.choose(holder);
          });
          await gateway.applySettings();
        }
        return { logged: content.list().map((each) => ({ of: each, file: contentLogPath(data, each) })) };
      },
    }),
  ];
}

function usageOperations(deps: GatewayOperationsDeps) {
  const { clock, books, config, gateway, sessions, sumClaims } = deps;
  const sums = createNamedSums(sessions);
  const views = createUsageViews(deps, sums);
  const readDay = createDayReader({ clock, books, config, gateway, sumClaims, sums });
  return [
    wireOperation({
      name: 'gateway.usage',
      about:
        'Usage of calls through the gateway, in tokens and money, by day, session, worker, task, person, provider, model or protocol: everyone’s for the Chair, for others their own session’s.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        days: z.int().min(1).max(366).default(1),
        by: z.enum(USAGE_GROUPS).default('provider'),
      }),
      run({ days, by: group }, caller) {
        const { session, number } = scopeUsage(caller);
        const since = startOfDay(clock.now(), days - 1);
        const parts = books.listUsage(formatDay(since), number);
        const pricing = createPricing(config());
        return {
          of_session: session,
          since: rfc3339(since),
          by: group,
          rows: sums.sumBy(parts, group, pricing),
          total: sumAllUsage(parts, pricing),
        };
      },
    }),
    wireOperation({
      name: 'gateway.today',
      about:
        'Usage of this UTC day by session, model, provider and task, by the hour, and the budget of the day; for the same calls as gateway.usage. `spent` adds what agents claim about runs without such calls.',
      seat: 'any',
      changes: false,
      input: z.strictObject({}),
      run: (_, caller) => readDay(scopeUsage(caller)),
    }),
    tool({
      name: 'usage.status',
      about: 'Usage of model calls today, without their content: those of your session; for the Chair, all.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        view: z.enum(['summary', 'leaks', 'governance']).default('summary'),
        recent: z.int().min(0).max(100).default(0).describe('newest calls in the summary'),
      }),
      output: z.looseObject({}),
      names: { session_id: 'session', of_session: 'session' },
      run: ({ view, recent }, caller): Record<string, unknown> => views[view](scopeUsage(caller), { recent }),
    }),
  ];
}
