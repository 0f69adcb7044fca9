import { statfsSync } from 'node:fs';
import { type ContainmentKind, platform } from '../../core/platform/index.ts';

export { describeSystem, listCapabilities } from '../../core/platform/capabilities.ts';
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
  return { freeBytes: bavail * bsize, network: platform.findNetworkFileSystem(type) };
}

/** Explains why the engine could not identify its callers here; null if it can. */
export const findCallerProblem = async (): Promise<string | null> => (await platform.loadKernel()).problem;

/** The mechanism that contains runs better than marks here; null if there is none. */
export const CONTAINMENT_REMEDY = platform.ways.containment;
/** Names the rights that containers often lack, and that this process lacks. */
export const findMissingRights = async (env: NodeJS.ProcessEnv): Promise<string[]> =>
  (await platform.tryRights(env.PATH)).filter(({ way }) => way === null).map(({ name }) => name);

/** Returns how an engine that is started from here would contain its runs. */
export async function findContainment(data: string, env: NodeJS.ProcessEnv): Promise<ContainmentKind> {
  const containment = platform.createContainment({ data, env });
  const kind = await containment.kind();
  await containment.close();
  return kind;
}
