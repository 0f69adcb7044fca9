import { type Clock, rfc3339 } from '../core/base/clock.ts';
import { SvcError } from '../core/base/errors.ts';
import { formatId, parseId } from '../core/base/ids.ts';
import type { Log } from '../core/base/log.ts';
import { version } from '../core/base/own-package.ts';
import { parseAddress } from '../core/base/values/address.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { SessionBooks } from '../workers/sessions/index.ts';
import { createPricing, type ModelPricing } from './books/pricing.ts';
import { type BooksReader, createBooksReader } from './books/read.ts';
import { type CallStatistics, createCallStatistics, createSessionBooks } from './books/session-books.ts';
import { sumAllUsage } from './books/sum-usage.ts';
import { buildSettings, type GatewayConfig } from './build-settings.ts';
import { type ContentChoices, createContentChoices } from './content-choices.ts';
import { createEmbedder, type EmbedTexts } from './embed.ts';
import { createKeys, type GatewayKeys } from './keys/index.ts';
import { formatDay, startOfDay } from './named-sums.ts';
import { createGatewayProcess, type GatewayProcess } from './process.ts';

export { listProviderVariables } from './build-settings.ts';
export { isProtectedTool, readsStoredText } from './live-zone/protected-tools.ts';
export {
  createForwardedReader,
  type ForwardedReader,
  type ForwardedText,
} from './live-zone/read.ts';
export { gatewayOperations } from './operations.ts';
export type { GatewayState } from './server/control.ts';
export { sumByTier } from './sum-by-tier.ts';
export { estimateTokens } from './tokens.ts';
export type { DayUsage, NamedUsage } from './usage-day.ts';

/** The engine's part of the gateway: its keys, its process and its books. */
export interface EngineGateway {
  /** The part that dispatch needs. */
  runKeys: Pick<GatewayKeys, 'issueKey' | 'revokeKey' | 'limitedUntil'> &
    Pick<GatewayProcess, 'findRoute' | 'buildRoute'> & { saveCalls(): Promise<void> };
  keys: GatewayKeys;
  process: GatewayProcess;
  books: BooksReader;
  /** Notices to sessions about their calls. */
  sessionBooks: SessionBooks;
  /** The calls of sessions, for the statistics. */
  statistics: CallStatistics;
  content: ContentChoices;
  embed: EmbedTexts;
  /** Reports whether the daily budget for all calls has tokens left, by the current configuration. */
  hasDayBudget(): boolean;
  /** Takes over a running gateway, and reports budgets that were reached. */
  start(): Promise<void>;
  close(): void;
}

export interface EngineGatewayDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  log: Log;
  /** The data folder, its id, and the database. */
  data: string;
  dataId: string;
  db: string;
  config(): GatewayConfig;
  /** Returns the value of a secret's variable. */
  secret(name: string): string | undefined;
  env: NodeJS.ProcessEnv;
  /** Path of the module that shortens outputs. */
  shortener: string;
  /** `SVC_SKIP_GATEWAY_AUTOSTART`. */
  skipsStart: boolean;
}

/** Milliseconds between two checks of the books for reached budgets. */
const LOOK_MS = 1000;
/** The last budget event that was reported to the workspace. */
const TOLD = 'gateway_budgets_told';

/** Creates the engine's side of the gateway. */
export function createEngineGateway(deps: EngineGatewayDeps): EngineGateway {
  const { storage, events, clock, log, data } = deps;
  const keys = createKeys({ storage, clock });
  const books = createBooksReader(data);
  const content = createContentChoices(storage);
  const gateway = createGatewayProcess({
    data,
    dataId: deps.dataId,
    db: deps.db,
    shortener: deps.shortener,
    version,
    address: () => parseAddress(deps.config().gateway.addr),
    settings: () => buildSettings(deps.config(), deps.secret, content.list()),
    mayStart: () => !deps.skipsStart,
    isNeeded: keys.hasRunKeys,
    env: deps.env,
    log,
  });
  const readTold = storage.db.prepare<[string], { value: string }>('SELECT value FROM meta WHERE key = ?');
  const setTold = storage.db.prepare(
    'INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
  );
  let timer: NodeJS.Timeout | null = null;
  let known: { config: GatewayConfig; pricing: ModelPricing } | null = null;

  /** Returns the current prices, whose patterns are compiled once for each configuration. */
  function findPricing(): ModelPricing {
    const config = deps.config();
    if (known?.config !== config) known = { config, pricing: createPricing(config) };
    return known.pricing;
  }
  let isTelling = false;

  /** Reports each reached budget once, even if no engine was running at the time. */
  async function tellOfBudgets(): Promise<void> {
    if (isTelling) return;
    isTelling = true;
    try {
      const met = books.listMetBudgets(Number(readTold.get(TOLD)?.value ?? 0));
      if (met.length === 0) return;
      await storage.write(() => {
        for (const { scope, subject, limit_tokens, until, session_id, task_id } of met)
          events.append({
            kind: 'budget_exhausted',
            taskId: task_id === null ? null : formatId('t', task_id),
            sessionId: session_id === null ? null : formatId('s', session_id),
            via: 'engine',
            data: {
              scope,
              subject,
              limitTokens: limit_tokens,
              resetsAt: until === null ? null : rfc3339(until),
              reason:
                scope === 'day'
                  ? `the ${limit_tokens} tokens of ai.budget_tokens_day are spent`
                  : `the task has spent its ${limit_tokens} tokens`,
            },
          });
        setTold.run(TOLD, String(met.at(-1)?.id ?? 0));
      });
    } catch (error) {
      log.warn({ error: (error as Error).message }, 'the books of the gateway cannot be read');
    } finally {
      isTelling = false;
    }
  }

  return {
    keys,
    process: gateway,
    books,
    sessionBooks: createSessionBooks(books, findPricing, keys.issuedAt),
    statistics: createCallStatistics(books, findPricing),
    content,
    embed: createEmbedder({ storage, keys, gateway }),
    hasDayBudget() {
      const limit = deps.config().ai.budget_tokens_day;
      if (limit === 0) return true;
      const parts = books.listUsage(formatDay(startOfDay(clock.now())), null);
      return sumAllUsage(parts, findPricing()).tokens < limit;
    },
    runKeys: {
      findRoute: gateway.findRoute,
      buildRoute: gateway.buildRoute,
      async saveCalls() {
        await gateway.readState();
      },
      issueKey: keys.issueKey,
      revokeKey: keys.revokeKey,
      limitedUntil: (sessionId) =>
        keys.limitedUntil(sessionId) ?? books.limitedUntil(parseId('s', sessionId)),
    },
    async start() {
      timer = setInterval(() => void tellOfBudgets(), LOOK_MS);
      timer.unref();
      await gateway
        .adopt()
        .catch((error: unknown) =>
          log.warn(
            { error: error instanceof SvcError ? error.message : String(error) },
            'could not take over the gateway',
          ),
        );
    },
    close() {
      if (timer !== null) clearInterval(timer);
      gateway.close();
      books.close();
    },
  };
}
