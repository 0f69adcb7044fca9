import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { type DaemonRecord, parseDaemonRecord, readDaemonRecord } from '../core/workspace/daemon-record.ts';
import { inspectOwnDataFolder } from '../core/workspace/data-folder.ts';
import { findSeatFolder, readSeatFolder } from '../core/workspace/seat-folder.ts';
import { checkSocket, resolveSocketPath } from '../core/workspace/socket-path.ts';

/** The location of a workspace's engine, if one runs. */
export interface EnginePlace {
  /** The data folder. */
  data: string;
  /** Null if there cannot be one. */
  socket: string | null;
  /** The record that its host wrote; null for none. */
  record: DaemonRecord | null;
  /** True if this process is in a run that has its own connection to the engine. */
  isConfined: boolean;
}

/**
 * Resolves the data folder and the socket. The configuration is only read for a svc.yaml that seems to move them, since
 * zod and yaml would cost every hook and command 140 ms of CPU. Matching too much only costs time; a file that sets one of
 * these keys has the key's name before a colon, so it is never missed.
 */
async function resolveEnginePaths(
  root: string,
  file: string,
  env: NodeJS.ProcessEnv,
): Promise<{ data: string; socket: string }> {
  const text = readFileSync(file, 'utf8');
  const data = join(root, '.svc');
  if (!/^\s*["']?(data|socket)["']?\s*:|[{,]\s*["']?(data|socket)["']?\s*:/m.test(text)) {
    return { data, socket: join(data, 'svc.sock') };
  }
  const { resolveDataPaths, loadConfig } = await import('../config/index.ts');
  // A worker's client follows its file: from inside a sandbox, the consent cannot be checked.
  return resolveDataPaths(loadConfig({ file, env, believe: Boolean(env.SVC_RUN_ID) }));
}

/**
 * Finds the engine of a workspace for a client. Throws `data_folder_unknown` before anything in an unknown data folder is
 * trusted, and `storage_unsafe` for another user's socket.
 */
export async function locateEngine(
  { root, file }: { root: string; file: string },
  env: NodeJS.ProcessEnv,
): Promise<EnginePlace> {
  const folder = findSeatFolder(env);
  if (folder !== null) {
    // Without a record the run's connection to the engine is closed, and there is no other.
    const seat = parseDaemonRecord(readSeatFolder(folder));
    if (seat === null || isSamePlace(seat.root, root))
      return { data: join(root, '.svc'), socket: seat?.socket ?? null, record: seat, isConfined: true };
  }
  const { data, socket: wanted } = await resolveEnginePaths(root, file, env);
  const place = { data, record: null, isConfined: false };
  if (inspectOwnDataFolder({ root, data }, env).state !== 'ours') return { ...place, socket: null };
  const record = readDaemonRecord(data);
  const socket = record?.socket ?? resolveSocketPath(wanted, env);
  checkSocket(socket, data);
  return { ...place, record, socket };
}

/** Compares two paths with links followed. */
function isSamePlace(one: string, other: string): boolean {
  try {
    return one === other || realpathSync(one) === realpathSync(other);
  } catch {
    return false;
  }
}
