import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../core/base/backoff.ts';
import { SvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { sentence } from '../core/base/sentence.ts';
import {
  findOwnAddress,
  formatAddress,
  isLoopback,
  type NetworkAddress,
} from '../core/base/values/address.ts';
import { isListening } from '../core/http/is-listening.ts';
import type { RouteModels } from '../core/models/index.ts';
import type { GatewayRoute } from '../workers/agents/presets/index.ts';
import { isStillRunning } from '../workers/runner/processes/own.ts';
import { askHttp, refuseNeighbour } from './ask-gateway.ts';
import { type GatewayRecord, readGatewayRecord, removeGatewayRecord } from './record.ts';
import type { GatewayState } from './server/control.ts';
import type { GatewaySettings } from './settings.ts';
import { spawnGateway } from './spawn-gateway.ts';

const LOOK_MS = 2000;
const ASK_MS = 5000;
const END_MS = 3000;
const PAUSES = { firstMs: 200, longestMs: 30_000 };

/** A route before it has a key. */
export type RouteStart = Pick<GatewayRoute, 'url' | 'models'>;

/** Starts the gateway, keeps it running while the engine runs, and takes over a running one. */
export interface GatewayProcess {
  /**
   * Returns the address of the gateway, starting it if none runs, and the models known there. Throws
   * `gateway_unreachable`, `address_in_use`.
   */
  findRoute(): Promise<RouteStart>;
  /** Does the same on request of a person, even if autostart is off. */
  open(options: { allowRemote: boolean }): Promise<RouteStart>;
  /** Returns the configured address, whether or not anything answers there. */
  buildRoute(): string;
  /** Reports whether a gateway of the workspace runs, as far as it is visible without a request. */
  isRunning(): boolean;
  /** Takes over a gateway that an earlier engine started. */
  adopt(): Promise<void>;
  /** Sends the current configuration to a running gateway. */
  applySettings(): Promise<void>;
  /** Returns the state of the gateway; null while it is not running. */
  readState(): Promise<GatewayState | null>;
  readMetrics(): Promise<string>;
  /** Ends it once its calls are over; waits a moment for that. */
  stop(): Promise<void>;
  /** Stops supervising it; it keeps running. */
  close(): void;
}

export interface GatewayProcessDeps {
  /** The data folder, its id, and the engine's database. */
  data: string;
  dataId: string;
  db: string;
  /** Path of the module that shortens outputs. */
  shortener: string;
  version: string;
  address(): NetworkAddress;
  settings(): GatewaySettings;
  /** Reports whether it may be started: `SVC_SKIP_GATEWAY_AUTOSTART`. */
  mayStart(): boolean;
  /** Reports whether a dead gateway is restarted without a request. */
  isNeeded(): boolean;
  env: NodeJS.ProcessEnv;
  log: Log;
}

const formatUrl = (address: NetworkAddress): string => `http://${formatAddress(findOwnAddress(address))}`;

/** The gateway that runs, and requests to it. */
interface GatewayConnection {
  /** Returns the record of our running gateway. */
  findRunning(): GatewayRecord | null;
  /** Returns null while it is not running. */
  askGateway<T>(path: string, request?: { method?: string; body?: object; ms?: number }): Promise<T | null>;
}

function connectGateway(data: string, dataId: string): GatewayConnection {
  function findRunning(): GatewayRecord | null {
    const record = readGatewayRecord(data, dataId);
    return record !== null && isStillRunning(record) ? record : null;
  }

  async function askGateway<T>(
    path: string,
    { method = 'GET', body, ms = ASK_MS }: { method?: string; body?: object; ms?: number } = {},
  ): Promise<T | null> {
    const record = findRunning();
    if (record === null) return null;
    const headers = { authorization: `Bearer ${record.token}` };
    const { status, type, text } = await askHttp(
      `${formatUrl(record)}${path}`,
      { method, headers, ms },
      body,
    );
    if (status !== 200)
      throw new SvcError('gateway_unreachable', `the gateway answered with status ${status}`);
    return (type.startsWith('text/plain') ? text : JSON.parse(text)) as T;
  }

  return { findRunning, askGateway };
}

/** Starts the process. Throws `gateway_unreachable` for an address that others can reach, unless that is allowed. */
async function launchGateway(
  deps: GatewayProcessDeps,
  findRunning: () => GatewayRecord | null,
  allowRemote: boolean,
): Promise<GatewayRecord> {
  const { data, dataId, log } = deps;
  const before = readGatewayRecord(data, dataId);
  const { host, port } = deps.address();
  const shown = host === '' ? '0.0.0.0' : host;
  if (!allowRemote && !isLoopback(shown))
    throw new SvcError(
      'gateway_unreachable',
      `gateway.addr (${formatAddress({ host: shown, port })}) is reachable from other machines, so it is not opened automatically`,
      {
        hint: sentence`{config.set gateway.addr 127.0.0.1:8788} restricts it to this machine; {gateway.serve allow_remote=true} opens it deliberately`,
      },
    );
  const { db, shortener, version, env } = deps;
  const start = { data, dataId, db, shortener, version, env, settings: deps.settings(), host: shown };
  // The address that runs already use, if the port is free to choose.
  await spawnGateway({ ...start, port: port === 0 ? (before?.port ?? 0) : port }).catch((error: unknown) => {
    if (port !== 0 || before === null) throw error;
    return spawnGateway({ ...start, port: 0 });
  });
  const record = findRunning();
  if (record === null)
    throw new SvcError('gateway_unreachable', 'the gateway ended right after its start', {
      hint: 'see .svc/log/gateway.out',
    });
  log.info({ pid: record.pid, port: record.port }, 'gateway started');
  return record;
}

export function createGatewayProcess(deps: GatewayProcessDeps): GatewayProcess {
  const { data, dataId, log } = deps;
  const { findRunning, askGateway } = connectGateway(data, dataId);
  let starting: Promise<GatewayRecord> | null = null;
  let isWanted = false;
  let isClosed = false;
  let failures = 0;
  let pausedUntil = 0;
  const timer = setInterval(() => void checkProcess(), LOOK_MS);
  timer.unref();

  /** Keeps a needed gateway running, and signals a running one that an engine exists. */
  async function checkProcess(): Promise<void> {
    if (isClosed || starting !== null) return;
    try {
      if (findRunning() !== null) {
        failures = 0;
        await askGateway('/-/status');
        return;
      }
      if (!isWanted || !deps.mayStart() || performance.now() < pausedUntil) return;
      failures += 1;
      pausedUntil = performance.now() + backoffMs(failures, PAUSES);
      log.warn({}, 'the gateway has ended, and is restarted');
      await startProcess();
    } catch (error) {
      log.warn({ error: (error as Error).message }, 'the gateway does not answer');
    }
  }

  function startProcess({ allowRemote } = { allowRemote: false }): Promise<GatewayRecord> {
    starting ??= launchGateway(deps, findRunning, allowRemote)
      .then((record) => {
        isWanted = true;
        return record;
      })
      .finally(() => {
        starting = null;
      });
    return starting;
  }

  /** Replaces a gateway that has another address than configured, or another version. */
  async function findCurrent(): Promise<GatewayRecord | null> {
    const record = findRunning();
    if (record === null) return null;
    const { host, port } = deps.address();
    const isRight =
      record.version === deps.version &&
      (port === 0 || (record.port === port && record.host === (host || '0.0.0.0')));
    if (isRight) {
      isWanted = true;
      return record;
    }
    await stopProcess();
    return null;
  }

  async function stopProcess(): Promise<void> {
    isWanted = false;
    const record = findRunning();
    if (record === null) {
      const left = readGatewayRecord(data, dataId);
      if (left !== null) removeGatewayRecord(data, dataId, left.token);
      return;
    }
    await askGateway('/-/stop', { method: 'POST' }).catch(() => process.kill(record.pid, 'SIGTERM'));
    const deadline = performance.now() + END_MS;
    while (isStillRunning(record) && performance.now() < deadline) await delay(20);
  }

  async function findUrl(): Promise<string> {
    const running = await findCurrent();
    if (running !== null) return formatUrl(running);
    const { host, port } = deps.address();
    const where = formatAddress({ host, port });
    const url = formatUrl({ host, port });
    if (port !== 0 && (await isListening(host, port))) {
      await refuseNeighbour(url, dataId);
      return url;
    }
    if (!deps.mayStart())
      throw new SvcError(
        'gateway_unreachable',
        `nothing listens at gateway.addr (${where}), and SVC_SKIP_GATEWAY_AUTOSTART is set`,
        {
          hint: sentence`{gateway.serve} opens it; SVC_GATEWAY_BYPASS=1 lets one dispatch use the agent’s own login`,
        },
      );
    return formatUrl(await startProcess());
  }

  /** Returns a route with its models, if the gateway is ours and answers. */
  async function describeRoute(url: string): Promise<RouteStart> {
    const models = await askGateway<RouteModels>('/-/models').catch(() => null);
    return models === null ? { url } : { url, models };
  }

  return {
    buildRoute: () => formatUrl(deps.address()),
    isRunning: () => findRunning() !== null,
    async findRoute() {
      return describeRoute(await findUrl());
    },
    async open(options) {
      return describeRoute(formatUrl((await findCurrent()) ?? (await startProcess(options))));
    },
    async adopt() {
      const record = readGatewayRecord(data, dataId);
      if (record === null) return;
      isWanted = isStillRunning(record) || deps.isNeeded();
      if (!isStillRunning(record)) return checkProcess();
      await askGateway('/-/settings', { method: 'POST', body: deps.settings() }).catch((error: Error) =>
        log.warn({ error: error.message }, 'the gateway does not accept the configuration'),
      );
    },
    async applySettings() {
      await askGateway('/-/settings', { method: 'POST', body: deps.settings() });
    },
    readState: () => askGateway<GatewayState>('/-/status').catch(() => null),
    async readMetrics() {
      return (await askGateway<string>('/metrics')) ?? '';
    },
    stop: stopProcess,
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}
