import { join } from 'node:path';
import { readPrivate } from '../base/private-files.ts';
import { readDaemonRecord } from './daemon-record.ts';
import { listKnownDataFolders } from './data-folder.ts';

/** Finds the workspace folder that a process hosts; null if it hosts none of this person's. */
export function findWorkspaceHostedBy(pid: number, env: NodeJS.ProcessEnv): string | null {
  for (const data of listDataFolders(env)) {
    try {
      // A record is only valid while its host lives.
      if (readPrivate(join(data, 'host.pid'), 32)?.trim() === String(pid))
        return readDaemonRecord(data)?.root ?? data;
    } catch {
      // It belongs to another process by now.
    }
  }
  return null;
}

function listDataFolders(env: NodeJS.ProcessEnv): string[] {
  try {
    return listKnownDataFolders(env);
  } catch {
    return [];
  }
}
