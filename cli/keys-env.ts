import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { configuration } from '../engine/index.ts';

/** Adds a line for each variable to `keys.env`. Only the owner can read the file afterwards. */
export async function addSecrets(file: string, secrets: Readonly<Record<string, string>>): Promise<void> {
  const { replaceFile } = await configuration();
  const before = existsSync(file) ? readFileSync(file, 'utf8').replace(/\n*$/, '\n').replace(/^\n$/, '') : '';
  // First, so that no one can read the new lines.
  if (existsSync(file)) chmodSync(file, 0o600);
  const lines = Object.entries(secrets).map(([name, value]) => `${name}=${value}\n`);
  replaceFile(file, before + lines.join(''), { mode: 0o600 });
}
