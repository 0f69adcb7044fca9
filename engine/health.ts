import { statfsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { loadKernel } from './daemon/kernel.ts';
import { type ContainmentKind, createContainment } from './runner/processes/index.ts';
import { findNetworkFileSystem } from './storage/network-file-system.ts';

/** The version of the SQLite that is built in, from a database that was really opened. Throws when it does not load. */
export function sqliteVersion(): string {
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
export function diskOf(folder: string): { freeBytes: number; network: string | null } {
  const { bavail, bsize, type } = statfsSync(folder);
  return { freeBytes: bavail * bsize, network: findNetworkFileSystem(type) };
}

/** Why the engine could not tell here who calls it; null when it can. */
export const callerProblem = async (): Promise<string | null> => (await loadKernel()).problem;

/** How an engine that is started from here would hold its runs together. */
export const containmentHere = (data: string, env: NodeJS.ProcessEnv): Promise<ContainmentKind> =>
  createContainment({ data, env }).kind();
