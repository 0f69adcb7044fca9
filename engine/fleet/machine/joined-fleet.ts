import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readPrivate, replacePrivate } from '../../core/base/private-files.ts';
import { resolveMachineHome } from '../../core/workspace/machine-home.ts';
import { RUNNER_FOLDER } from '../remote-folders.ts';
import { isFleetId, locateMachineFolders } from './machine-folders.ts';

/** The record of the fleet that a machine has joined. */
const joined = z.object({
  servers: z.array(z.string()).min(1),
  authority: z.string(),
  board: z.string(),
  runner: z.string(),
  name: z.string(),
  key: z.string(),
  certificate: z.string(),
  nkeySeed: z.string(),
});

export type JoinedFleet = z.infer<typeof joined>;

const MOST_BYTES = 100_000;

const joinedFile = (data: string): string => join(data, 'joined.json');

/** Reads how the board of a fleet is reached over its broker; null for a fleet that was not joined. */
export function readJoinedFleet(data: string): JoinedFleet | null {
  const text = readPrivate(joinedFile(data), MOST_BYTES);
  return text === null ? null : joined.parse(JSON.parse(text));
}

/** Writes it, so that it survives a power cut. */
export const writeJoinedFleet = (data: string, value: JoinedFleet): void =>
  replacePrivate(joinedFile(data), JSON.stringify(value), { isDurable: true });

/** Lists the fleets that this machine has joined, by their ids. */
export function listJoinedFleets(env: NodeJS.ProcessEnv): string[] {
  const folder = join(resolveMachineHome(env), RUNNER_FOLDER);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter(
    (name) => isFleetId(name) && existsSync(joinedFile(locateMachineFolders(name, env).data)),
  );
}
