import { statSync } from 'node:fs';
import { watch } from 'chokidar';
import { asSvcError } from '../errors.ts';
import { getAt } from './layers.ts';
import { type Loaded, type LoadOptions, loadConfig } from './load.ts';

/** Keys that are read once, when the engine opens. */
const FIXED = ['paths', 'db', 'daemon', 'workspace.root'] as const;

export interface ConfigKeeper {
  /** The configuration in use: the last one that was valid. */
  loaded(): Loaded;
  /** Why svc.yaml as it is now is not the one in use; null when it is. */
  problem(): string | null;
  /** Keys of `FIXED` that differ between what is in use and what svc.yaml says now. */
  restartNeeded(): string[];
  /** Follows svc.yaml; `onChange` is called after each change was taken or refused. */
  watch(onChange: (change: { problem: string | null }) => void): void;
  close(): Promise<void>;
}

const stampOf = (file: string): string => {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeMs}`;
};

/** Keeps a running engine's configuration: a broken edit is reported and the old one stays in use. */
export function createConfigKeeper(options: LoadOptions): ConfigKeeper {
  const stamp = stampOf(options.file);
  const first = loadConfig(options);
  let current = first;
  let problem: string | null = null;
  let restart: string[] = [];
  let watcher: ReturnType<typeof watch> | null = null;

  const at = (config: Loaded['config'], key: string): string =>
    JSON.stringify(getAt(config as never, key.split('.')) ?? null);

  function reload(): void {
    try {
      const next = loadConfig(options);
      restart = FIXED.filter((key) => at(next.config, key) !== at(first.config, key));
      const { paths, db, daemon } = first.config;
      current = { ...next, config: { ...next.config, paths, db, daemon } };
      problem = null;
    } catch (error) {
      problem = asSvcError(error).message;
    }
  }

  return {
    loaded: () => current,
    problem: () => problem,
    restartNeeded: () => restart,
    watch(onChange) {
      const changed = (): void => {
        reload();
        onChange({ problem });
      };
      watcher = watch(options.file, {
        ignoreInitial: true,
        awaitWriteFinish: { stabilityThreshold: 50, pollInterval: 20 },
      });
      watcher.on('all', changed);
      // What changed between the first reading and the first look of the watcher is no change to it.
      watcher.on('ready', () => {
        if (stampOf(options.file) !== stamp) changed();
      });
      watcher.on('error', () => undefined);
    },
    async close() {
      await watcher?.close();
    },
  };
}
