import { existsSync, statSync } from 'node:fs';
import { watch } from 'chokidar';
import { type ConsentStore, resolveConsentsFile } from '../core/access/index.ts';
import { asSvcError } from '../core/base/errors.ts';
import { recordFirstUse } from './first-use.ts';
import { getAt } from './layers.ts';
import { type LoadedConfig, type LoadOptions, loadConfig } from './load.ts';

/** Keys that are read once, when the engine or its receiver opens. */
const FIXED = ['paths', 'db', 'daemon', 'workspace.root', 'ui.addr', 'webhook.secret_env'] as const;

/** Interval for checking paths without notifications. */
const LOOK_MS = 1000;
/** A file is emptied before it is rewritten, by shells too: an empty one is ignored for this long. */
const WRITING_MS = 1000;

export interface ConfigKeeper {
  /** Returns the configuration in use: the last valid one. */
  loaded(): LoadedConfig;
  /** Returns why the current svc.yaml is not in use; null if it is. */
  problem(): string | null;
  /** Returns keys of `FIXED` that differ between the configuration in use and the current svc.yaml. */
  restartNeeded(): string[];
  /** Checks svc.yaml and the consents now: after a write, and before each call is answered. */
  refresh(): void;
  /**
   * Watches svc.yaml; `onChange` is called after each accepted or refused change, with the keys that wait for consent
   * since then.
   */
  watch(onChange: (change: { problem: string | null; waits: string[] }) => void): void;
  close(): Promise<void>;
}

const readStamp = (file: string): string => {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeMs}`;
};

/** Keeps a running engine's configuration: an invalid edit is reported and the old one stays in use. */
export function createConfigKeeper(options: LoadOptions): ConfigKeeper {
  const stampBefore = readStamp(options.file);
  const first = loadConfig(options);
  const remembered = recordFirstUse(first, options.env);
  const consents = resolveConsentsFile(first.home.path, first.root);
  let stamp = `${stampBefore} ${readStamp(consents)}`;
  let current = first;
  let problem: string | null = null;
  let restart: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  let watcher: ReturnType<typeof watch> | null = null;
  let tell: Parameters<ConfigKeeper['watch']>[0] = () => undefined;

  const formatValueAt = (config: LoadedConfig['config'], key: string): string =>
    JSON.stringify(getAt(config as never, key.split('.')) ?? null);

  function reloadConfig(): void {
    try {
      const next = loadConfig({ ...options, consents: readRemembered() });
      restart = FIXED.filter((key) => formatValueAt(next.config, key) !== formatValueAt(first.config, key));
      const { paths, db, daemon } = first.config;
      current = { ...next, config: { ...next.config, paths, db, daemon } };
      problem = null;
    } catch (error) {
      problem = asSvcError(error).message;
    }
  }

  /** Returns the recorded consents; the remembered ones if the machine home is not writable. */
  const readRemembered = (): ConsentStore | undefined =>
    remembered === null || existsSync(consents) ? undefined : remembered;

  const isBeingWritten = (): boolean => {
    const found = statSync(options.file, { throwIfNoEntry: false });
    return found?.size === 0 && Date.now() - found.mtimeMs < WRITING_MS;
  };

  /** Handles each change once, however it is noticed. */
  function refreshConfig(): void {
    const now = `${readStamp(options.file)} ${readStamp(consents)}`;
    if (now === stamp || isBeingWritten()) return;
    stamp = now;
    const before = current.consent.pending.map((each) => JSON.stringify(each));
    reloadConfig();
    const fresh = current.consent.pending.filter((each) => !before.includes(JSON.stringify(each)));
    tell({ problem, waits: fresh.map(({ key }) => key) });
  }

  return {
    loaded: () => current,
    problem: () => problem,
    restartNeeded: () => restart,
    refresh: refreshConfig,
    watch(onChange) {
      tell = onChange;
      watcher = watch(options.file, {
        ignoreInitial: true,
        // The owner of the keeper keeps the process alive.
        persistent: false,
        awaitWriteFinish: { stabilityThreshold: 50, pollInterval: 20 },
      });
      watcher.on('all', refreshConfig);
      // A change between the first read and the watcher's first event must not be lost.
      watcher.on('ready', refreshConfig);
      watcher.on('error', () => undefined);
      // It misses a file that was replaced and rewritten, as by git; it does not watch the record of consents.
      timer = setInterval(refreshConfig, LOOK_MS);
      timer.unref();
    },
    async close() {
      clearInterval(timer);
      await watcher?.close();
    },
  };
}
