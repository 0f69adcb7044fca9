import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Log } from '../../core/base/log.ts';
import { listenOn } from '../../core/http/listen.ts';
import { NO_PROXIES, type ProxySettings } from '../../core/http/proxies.ts';
import { releaseIdleMemory } from '../../core/platform/idle-memory.ts';
import { readResidentBytes } from '../../core/platform/resident-memory.ts';
import { createLiveZone } from '../live-zone/index.ts';
import type { GatewaySettings, GatewayStart } from '../settings.ts';
import { openBooks } from './books.ts';
import { createBudget } from './budget.ts';
import { createAnswerCache } from './cache.ts';
import { createContentLog } from './content-log.ts';
import { createControl, type GatewayState, type ProviderStatus } from './control.ts';
import { openHolders } from './holders.ts';
import { createMetrics } from './metrics.ts';
import { createModelLists } from './model-lists.ts';
import { findCheapest, listModelNames } from './model-names.ts';
import { createRouting, type ProviderRouting } from './routing.ts';
import { createGatewayServer, SERVE_LIMITS, type ServeLimits } from './serve.ts';
import { createUpstreams } from './upstream.ts';

/** A listening gateway. */
export interface Gateway {
  host: string;
  port: number;
  /** The token of `/-/…`. */
  token: string;
  active(): number;
  /** Reports whether calls can arrive at any time. */
  isNeeded(): boolean;
  /** Returns milliseconds since the last request. */
  quietMs(): number;
  /** Resolves after closing, by `close` or by the engine's request. */
  closed: Promise<void>;
  /** Stops listening; resolves when the calls are over and their books are saved. */
  close(): Promise<void>;
}

export interface GatewayOptions extends Omit<GatewayStart, 'shortener'> {
  log: Log;
  /** True if no other gateway of the workspace runs. */
  isAlone: boolean;
  limits?: Partial<ServeLimits>;
  /** Default: none. */
  proxies?: ProxySettings;
  now?: () => number;
  /** The path of the module that shortens outputs; without it they stay unchanged. */
  shortener?: string;
}

const DRAIN_LOOK_MS = 50;
/** Opens the books and listens. Throws `address_in_use`, `storage_newer`. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { now = Date.now, log } = options;
  const limits = { ...SERVE_LIMITS, ...options.limits };
  let settings: GatewaySettings = options.settings;
  const startedAt = new Date(now()).toISOString();
  const token = randomBytes(32).toString('hex');
  const holders = openHolders(options.db);
  const books = openBooks(options.data, { now, isAlone: options.isAlone });
  const budget = createBudget({ books, now, dayLimit: settings.budgetTokensDay });
  const routing = createRouting(now);
  const upstreams = createUpstreams({ ...limits, proxies: options.proxies ?? NO_PROXIES });
  const lists = createModelLists({ upstreams, routing, now });
  const cache = createAnswerCache(now);
  const metrics = createMetrics();
  const content = createContentLog({ data: options.data, chosen: () => settings.contentOf, now, log });
  const { data, shortener } = options;
  const liveZone =
    shortener === undefined
      ? null
      : createLiveZone({ data, now, shortener, budgetMs: limits.shorteningMs, log });
  /** The providers so far, as JSON. */
  let lastAsked = '';
  let lastAskedAt = now();
  let stopAsked: () => void = () => undefined;

  function apply(next: GatewaySettings): void {
    const asked = JSON.stringify([next.mode, next.providers]);
    const isSame = asked === lastAsked;
    lastAsked = asked;
    if (!isSame) cache.clear();
    settings = next;
    budget.setDayLimit(next.budgetTokensDay);
    liveZone?.configure(next.liveZone);
    cache.configure({ ttlSec: next.cacheTtlSec, entries: next.cacheEntries });
    routing.setProviders(next.providers);
    upstreams.keepOnly(next.providers.map(({ baseUrl }) => baseUrl));
    lists.configure(next, isSame);
  }

  let bound = { host: options.host, port: options.port };
  const describeGatewayState = (): GatewayState => ({
    pid: process.pid,
    version: options.version,
    ...bound,
    mode: settings.mode,
    startedAt,
    memoryBytes: readResidentBytes(),
    active: server.active(),
    calls: metrics.calls(),
    budgetTokensDay: settings.budgetTokensDay,
    spentToday: budget.spentToday(),
    reservedToday: budget.reservedToday(),
    contentOf: settings.contentOf,
    providers: describeProviders(routing, now()),
  });

  const control = createControl({
    token,
    state() {
      // The engine may compare it with the books.
      books.save();
      return describeGatewayState();
    },
    apply,
    stop: () => stopAsked(),
    async models() {
      // The caller is about to start an agent.
      await lists.awaitLists();
      const { listed, other } = listModelNames(settings.mode === 'live' ? routing : null);
      const told = listed.filter(({ contextWindow, maxOutput }) => (contextWindow ?? maxOutput) !== null);
      return {
        named: told.map(({ id, contextWindow, maxOutput }) => ({
          name: id,
          context: contextWindow,
          output: maxOutput,
        })),
        other,
      };
    },
    metrics: () =>
      metrics.format({
        svc_gateway_active_calls: server.active(),
        svc_gateway_tokens_today: budget.spentToday(),
        svc_gateway_budget_tokens_day: settings.budgetTokensDay,
        svc_gateway_memory_bytes: readResidentBytes(),
      }),
  });
  const server = createGatewayServer({
    settings: () => settings,
    holders,
    books,
    budget,
    routing,
    upstreams,
    cache,
    content,
    transform: liveZone?.edit ?? null,
    control,
    limits,
    dataId: options.dataId,
    host: options.host,
    readLists: lists.readLists,
    now,
    log,
    onCall(call) {
      lastAskedAt = now();
      metrics.count(call);
    },
  });
  const { http } = server;
  http.on('request', () => {
    lastAskedAt = now();
  });
  try {
    await listenOn(http, { host: options.host, port: options.port });
  } catch (error) {
    books.close();
    holders.close();
    throw error;
  }
  const address = http.address() as AddressInfo;
  bound = { host: options.host, port: address.port };
  apply(settings);

  const idleMemory = releaseIdleMemory({ collect: globalThis.gc });
  const { promise: closed, resolve: resolveClosed } = Promise.withResolvers<void>();
  let closing: Promise<void> | null = null;
  async function shut(): Promise<void> {
    idleMemory.close();
    lists.close();
    http.close();
    http.closeIdleConnections();
    while (server.active() > 0) await new Promise((done) => setTimeout(done, DRAIN_LOOK_MS));
    http.closeAllConnections();
    await upstreams.close();
    books.close();
    holders.close();
    await liveZone?.close();
    resolveClosed();
  }
  const closeGateway = (): Promise<void> => {
    closing ??= shut();
    return closing;
  };
  stopAsked = () => void closeGateway();

  return {
    ...bound,
    token,
    active: server.active,
    isNeeded: () => server.active() > 0 || holders.hasRuns(),
    quietMs: () => now() - lastAskedAt,
    closed,
    close: closeGateway,
  };
}

const describeProviders = (routing: ProviderRouting, now: number): ProviderStatus[] =>
  routing.providers().map((provider) => {
    const { name, tier, model, protocols, key } = provider;
    const { coolUntil, lastFailure, lastSuccessAt, models } = routing.healthOf(name);
    return {
      name,
      tier,
      model,
      protocols,
      hasKey: key !== null,
      coolUntil: coolUntil > now ? coolUntil : null,
      lastFailure,
      lastSuccessAt,
      models: models?.length ?? null,
      ownModel: routing.ownModelOf(provider),
      trialModel: routing.ownModelOf(provider) || findCheapest(models ?? [], tier),
    };
  });
