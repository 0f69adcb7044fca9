import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { configuration } from '../../../../engine/index.ts';

/** The values that a setup wrote to svc.yaml, and those before. */
export interface SetupRecord {
  seen: string;
  written: string;
  keys: { path: string[]; before: unknown; after: unknown }[];
}

/** Next to the consents: a worker in a sandbox writes neither. */
const RECORD = 'setups.json';

/** Reads the records of all workspaces, by the path of svc.yaml. */
function readRecords(home: string): Record<string, SetupRecord> {
  const path = join(home, RECORD);
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Record<string, SetupRecord>) : {};
}

/** Returns what the last setup of a workspace wrote; undefined without one. */
export const findSetupRecord = (home: string, file: string): SetupRecord | undefined =>
  readRecords(home)[realpathSync(file)];

/** Stores what a setup of a workspace writes, instead of what the one before has written. */
export async function storeSetupRecord(home: string, file: string, record: SetupRecord): Promise<void> {
  const { replaceFile } = await configuration();
  const records = { ...readRecords(home), [realpathSync(file)]: record };
  replaceFile(join(home, RECORD), JSON.stringify(records), { mode: 0o600 });
}
