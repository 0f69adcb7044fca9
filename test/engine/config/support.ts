import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type LoadedConfig, type LoadOptions, loadConfig } from '../../../engine/config/index.ts';
import { SvcError } from '../../../engine/core/base/errors.ts';

/** Creates a folder that is removed after the test. */
export function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'svc-config-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Loads `text` as svc.yaml with an empty machine home. */
export function load(t: TestContext, text: string, options: Partial<LoadOptions> = {}): LoadedConfig {
  const root = folder(t);
  const file = join(root, 'svc.yaml');
  writeFileSync(file, text);
  const { env = {}, ...rest } = options;
  return loadConfig({ file, env: { SVC_HOME: join(root, 'home'), ...env }, ...rest });
}

/** Returns the error lines of a load that must fail. */
export function problems(t: TestContext, text: string, options: Partial<LoadOptions> = {}): string[] {
  try {
    load(t, text, options);
  } catch (error) {
    if (error instanceof SvcError && error.code === 'config_invalid') return error.message.split('\n');
    throw error;
  }
  throw new Error('the configuration was accepted');
}
