import { availableParallelism, totalmem } from 'node:os';
import { renderWithKey, writeConfig } from '../../config/edit.ts';
import { createSecretLookup, readHome } from '../../config/home.ts';
import { type Config, consentMissingForStart, type DataPaths } from '../../config/index.ts';
import type { ConfigKeeper } from '../../config/keeper.ts';
import type { Clock } from '../../core/base/clock.ts';
import { type Log, openLog } from '../../core/base/log.ts';
import type { EngineProcess } from '../../core/workspace/daemon-record.ts';
import { createEventLog, type EventLog, openStorage, type Storage } from '../../storage/index.ts';
import { excludeDataFolders } from './exclude-data-folders.ts';

/** The shared dependencies of all modules. */
export interface SharedDependencies {
  /** A killed engine of this data folder; null for none. */
  lostEngine: EngineProcess | null;
  storage: Storage;
  events: EventLog;
  clock: Clock;
  log: Log;
  /** The workspace's folder, absolute. */
  root: string;
  /** svc.yaml. */
  file: string;
  /** The id of the data folder. */
  dataId: string;
  paths: DataPaths;
  config(): Config;
  /** Throws `consent_missing` while no one has ever agreed to svc.yaml: before anything is started. */
  requireConsent(): void;
  /** Keys of svc.yaml that are not in use until someone agrees to them. */
  waitingKeys(): readonly string[];
  env: NodeJS.ProcessEnv;
  /** Writes `server.url` of svc.yaml, which also agrees to it; null removes it. */
  setServerUrl(url: string | null, actor: string): void;
  /** The value of a secret's variable when the configuration was read. */
  secret(name: string): string | undefined;
  /** Its value now: a person adds the secret of a phone to keys.env and tries it. */
  currentSecret(name: string): string | undefined;
  svc: readonly string[] | null;
  workerCap: number;
  graceMs: number;
  /** Closed in the opposite order of building. */
  closing(close: () => unknown): void;
}

export interface OpenOptions {
  /** Path of svc.yaml. */
  file: string;
  env?: NodeJS.ProcessEnv;
  /** Configuration by dotted key that overrides all other sources. */
  flags?: Readonly<Record<string, unknown>>;
  /** Program and arguments that run `svc`, for workers to use the tools. */
  svc?: readonly string[];
  /** Maximum number of concurrent workers; by default from cores and memory. */
  workerCap?: number;
  /** How long a stopped worker may take to end by itself, ms; 5000. */
  graceMs?: number;
  /** The environment of the machine. */
  clock?: Clock;
}

const GIB = 1024 ** 3;

/** Agents mostly wait for a model: several per core, and a gibibyte of memory each. */
const defaultWorkerCap = (): number =>
  Math.max(1, Math.min(4 * availableParallelism(), Math.floor(totalmem() / GIB)));

/** Opens the log, the database and the event log, and reads the configuration for all modules through its keeper. */
export function openSharedDependencies(
  options: OpenOptions,
  opened: Pick<SharedDependencies, 'dataId' | 'lostEngine' | 'paths' | 'env' | 'clock' | 'closing'> & {
    keeper: ConfigKeeper;
  },
): SharedDependencies {
  const { keeper, paths, dataId, env, clock, closing } = opened;
  const { root, file, home, lookup } = keeper.loaded();
  const { log, close: closeLog } = openLog(paths.data);
  closing(closeLog);
  excludeDataFolders(paths, log);
  const storage = openStorage({ path: paths.db, dataId });
  closing(() => storage.close());
  return {
    lostEngine: opened.lostEngine,
    storage,
    events: createEventLog({ storage, clock }),
    clock,
    log,
    root,
    file,
    dataId,
    paths,
    config: () => keeper.loaded().config,
    requireConsent() {
      const { state, pending } = keeper.loaded().consent;
      if (state === 'none') throw consentMissingForStart(file, pending);
    },
    waitingKeys: () => keeper.loaded().consent.pending.map(({ key }) => key),
    setServerUrl(url, actor) {
      const text = renderWithKey({ file, name: 'server.url', text: JSON.stringify(url) });
      writeConfig({ file, env, text, name: 'server.url', actor });
      keeper.refresh();
    },
    env,
    secret: lookup,
    currentSecret: (name) => createSecretLookup(env, readHome(home.path))(name),
    svc: options.svc ?? null,
    workerCap: options.workerCap ?? defaultWorkerCap(),
    graceMs: options.graceMs ?? 5000,
    closing,
  };
}
