import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { systemClock } from '../../../engine/core/base/clock.ts';
import type { CallRow } from '../../../engine/gateway/books/schema.ts';
import { createKeys, type KeyHolder } from '../../../engine/gateway/keys/index.ts';
import { type Gateway, type GatewayOptions, openGateway } from '../../../engine/gateway/server/gateway.ts';
import type { GatewaySettings, Provider } from '../../../engine/gateway/settings.ts';
import { openStorage } from '../../../engine/storage/index.ts';
import { until } from '../wait.ts';
import { temporaryFolder } from '../workspaces/git.ts';

export const REAL_KEY = 'sk-real-0123456789abcdef0123456789abcdef';

/** The live zone of a usual configuration. */
export const LIVE_ZONE = {
  onlyLast: true,
  crushes: true,
  stores: true,
  longBytes: 4096,
  protectedTools: [],
  idleMs: 1_800_000,
} satisfies GatewaySettings['liveZone'];

export const makeProvider = (baseUrl: string, more: Partial<Provider> = {}): Provider => ({
  name: 'up',
  baseUrl,
  key: REAL_KEY,
  takesClientKey: false,
  model: '',
  limits: { context: null, output: null },
  tier: 'paid',
  priority: 0,
  protocols: ['chat'],
  ...more,
});

export const makeSettings = (more: Partial<GatewaySettings> = {}): GatewaySettings => ({
  mode: 'live',
  providers: [],
  budgetTokensDay: 0,
  cacheTtlSec: 0,
  cacheEntries: 256,
  longToolBytes: 4096,
  contentOf: [],
  probeIntervalSec: 0,
  liveZone: null,
  ...more,
});

export interface GatewayRig {
  url: string;
  gateway: Gateway;
  /** A run's key and a person's key. */
  runKey: string;
  personKey: string;
  data: string;
  /** The whole log as JSON. */
  logged: string[];
  issueKey(holder: Partial<KeyHolder>): Promise<string>;
  revokeKey(sessionId: string): Promise<void>;
  configure(settings: Partial<GatewaySettings>): Promise<void>;
  post(
    path: string,
    body: object | string,
    init?: { key?: string | null; headers?: Record<string, string>; signal?: AbortSignal },
  ): Promise<Response>;
  /** Resolves with the stored calls once there are this many and none is open. */
  calls(count: number): Promise<CallRow[]>;
  close(): Promise<void>;
}

/** Opens a gateway in this process, with its database and keys in real files. */
export async function makeGateway({
  settings = {},
  ...options
}: Partial<Omit<GatewayOptions, 'settings'>> & {
  settings?: Partial<GatewaySettings>;
} = {}): Promise<GatewayRig> {
  const folder = temporaryFolder('svc-gateway-');
  const data = join(folder, '.svc');
  mkdirSync(data, { mode: 0o700 });
  const db = join(data, 'svc.db');
  const storage = openStorage({ path: db });
  const keys = createKeys({ storage, clock: systemClock });
  const issueKey: GatewayRig['issueKey'] = (holder) =>
    storage.write(() =>
      keys.issueKey({ sessionId: 's-3', taskId: 't-2', budgetTokens: null, claimedTokens: 0, ...holder }),
    );
  const runKey = await issueKey({});
  const personKey = await storage.write(() => keys.addPersonKey('ada', null));
  const logged: string[] = [];
  const note = (facts: object, text: string): void => void logged.push(JSON.stringify([facts, text]));
  const all = makeSettings(settings);
  const gateway = await openGateway({
    settings: all,
    host: '127.0.0.1',
    port: 0,
    data,
    dataId: 'test',
    db,
    version: '0',
    isAlone: true,
    log: { info: note, warn: note, error: note },
    ...options,
  });
  const url = `http://127.0.0.1:${gateway.port}`;
  return {
    url,
    gateway,
    runKey,
    personKey,
    data,
    logged,
    issueKey,
    revokeKey: (sessionId) => storage.write(() => keys.revokeKey(sessionId)),
    async configure(more) {
      const answer = await fetch(`${url}/-/settings`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.token}` },
        body: JSON.stringify({ ...all, ...more }),
      });
      if (!answer.ok) throw new Error(`the settings were refused: ${answer.status}`);
    },
    post(path, body, { key = runKey, headers = {}, signal } = {}) {
      return fetch(`${url}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...(signal === undefined ? {} : { signal }),
      });
    },
    async calls(count) {
      return until(() => {
        const books = new Database(join(data, 'gateway.db'), { readonly: true });
        try {
          const rows = books.prepare<[], CallRow>('SELECT * FROM call ORDER BY id').all();
          const isOver = gateway.active() === 0 && rows.length >= count;
          return isOver && rows.every(({ outcome }) => outcome !== 'open') ? rows : null;
        } finally {
          books.close();
        }
      }, 'the calls to be booked');
    },
    async close() {
      await gateway.close();
      storage.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** An address without a listener. A recently closed port could be reassigned; this one never is. */
export const CLOSED_PORT = 1;
