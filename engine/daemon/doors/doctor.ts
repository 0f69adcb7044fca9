import { statfsSync } from 'node:fs';
import { findNetworkFileSystem } from '../../storage/network-file-system.ts';
import { type ContainmentKind, createContainment } from '../../workers/runner/processes/index.ts';
import { loadKernel } from '../kernel.ts';

export { checkConfinement } from '../../workers/runner/confine/index.ts';

/** Returns the version of the built-in SQLite, from an opened database. Rejects if it does not load. */
export async function readSqliteVersion(): Promise<string> {
  // If it does not load, everything else can still be checked.
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

/** Returns the free bytes of a folder's file system, and the name of a network file system or null. */
export function measureDisk(folder: string): { freeBytes: number; network: string | null } {
  const { bavail, bsize, type } = statfsSync(folder);
  return { freeBytes: bavail * bsize, network: findNetworkFileSystem(type) };
}

/** Explains why the engine could not identify its callers here; null if it can. */
export const findCallerProblem = async (): Promise<string | null> => (await loadKernel()).problem;

/** Returns how an engine that is started from here would contain its runs. */
export async function findContainment(data: string, env: NodeJS.ProcessEnv): Promise<ContainmentKind> {
  const containment = createContainment({ data, env });
  const kind = await containment.kind();
  await containment.close();
  return kind;
}
