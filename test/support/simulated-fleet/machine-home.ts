import { join } from 'node:path';
import { listJoinedFleets } from '../../../engine/fleet/machine/joined-fleet.ts';
import { locateMachineFolders } from '../../../engine/fleet/machine/machine-folders.ts';

/** Returns the environment of a played machine: its home is a folder of the process that plays it. */
export const machineEnvironment = (folder: string, name: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: join(folder, name),
  SVC_HOME: join(folder, name, 'svc'),
});

/** Returns the fleet that a machine has joined; null for none. */
export const findFleet = (env: NodeJS.ProcessEnv): string | null => listJoinedFleets(env)[0] ?? null;

/** Returns the file in which a machine writes what it does. */
export const locateLedger = (env: NodeJS.ProcessEnv): string =>
  join(locateMachineFolders(findFleet(env) ?? '', env).data, 'ledger');
