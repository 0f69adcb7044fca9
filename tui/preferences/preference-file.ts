import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { asSvcError } from '../../engine/core/base/errors.ts';
import { preferenceFiles, resolveMachineHome } from '../../engine/index.ts';
import { DEFAULT_PREFERENCES, type PreferenceChange, type Preferences } from './preferences.ts';

/** Delay that groups several keys into one write. */
const WRITE_PAUSE_MS = 300;

export interface PreferenceFile {
  /** The contents of the file when the dashboard was opened. */
  preferences: Preferences;
  /** Writes changes a moment later, together with later ones. */
  save(changes: readonly PreferenceChange[], onFailed: (message: string) => void): void;
  /** Writes pending changes. */
  close(): Promise<void>;
}

const describeFile = async (env: NodeJS.ProcessEnv) => ({
  file: join(resolveMachineHome(env), 'ui.yaml'),
  schema: (await import('./schema.ts')).preferencesSchema,
});

/** Reads ui.yaml of the machine home. Throws `config_invalid` with each problem and its line. */
export async function openPreferenceFile(env: NodeJS.ProcessEnv): Promise<PreferenceFile> {
  // Without the file, nothing has to be loaded to check it.
  const hasFile = existsSync(join(resolveMachineHome(env), 'ui.yaml'));
  const preferences = hasFile ? await readPreferences(env) : DEFAULT_PREFERENCES;
  let pending: PreferenceChange[] = [];
  let onFailed: (message: string) => void = () => undefined;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();

  async function writePending(): Promise<void> {
    const changes = pending;
    pending = [];
    if (changes.length === 0) return;
    try {
      const { writeUserFile } = await preferenceFiles();
      writeUserFile(await describeFile(env), changes);
    } catch (error) {
      onFailed(asSvcError(error).message);
    }
  }

  return {
    preferences,
    save(changes, whenFailed) {
      pending.push(...changes);
      onFailed = whenFailed;
      if (timer !== null) clearTimeout(timer);
      timer = setTimeout(() => {
        writing = writing.then(writePending);
      }, WRITE_PAUSE_MS);
    },
    async close() {
      if (timer !== null) clearTimeout(timer);
      await writing.then(writePending);
    },
  };
}

async function readPreferences(env: NodeJS.ProcessEnv): Promise<Preferences> {
  const { checkHomeOwner, readUserFile } = await preferenceFiles();
  checkHomeOwner(env, ['', 'ui.yaml']);
  return readUserFile(await describeFile(env)) as Preferences;
}
