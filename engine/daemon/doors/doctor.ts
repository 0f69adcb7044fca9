import { statfsSync } from 'node:fs';
import { findNetworkFileSystem } from '../../storage/network-file-system.ts';
import { type ContainmentKind, createContainment } from '../../workers/runner/processes/index.ts';
import { loadKernel } from '../kernel.ts';

export { checkConfinement } from '../../workers/runner/confine/index.ts';

/** The version of the SQLite that is built in, from a database that was really opened. Rejects when it does not load. */
export async function readSqliteVersion(): Promise<string> {
  // Where it does not load, everything else can be checked still.
  const { default: Database } = await import('better-sqlite3');
  const db = new Database(':memory:');
  try {
    return (
      db.prepare<unknown[], { version: string }>('SELECT sqlite_version() AS version').get()?.version ?? ''
    );
  } finally {
    db.close();
  }
}

/** What a folder lies on: the free bytes, and the name of a network file system or null. */
export function measureDisk(folder: string): { freeBytes: number; network: string | null } {
  const { bavail, bsize, type } = statfsSync(folder);
  return { freeBytes: bavail * bsize, network: findNetworkFileSystem(type) };
}

/** Why the engine could not tell here who calls it; null when it can. */
export const findCallerProblem = async (): Promise<string | null> => (await loadKernel()).problem;

/** How an engine that is started from here would hold its runs together. */
export const findContainment = (data: string, env: NodeJS.ProcessEnv): Promise<ContainmentKind> =>
  createContainment({ data, env }).kind();
