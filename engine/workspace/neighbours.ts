import { join } from 'node:path';
import { readPrivate } from '../base/private-files.ts';
import { readDaemonRecord } from './daemon-record.ts';
import { listKnownDataFolders } from './data-folder.ts';

/** The workspace that a process hosts, by its folder; null for a process that hosts none of this person's. */
export function findWorkspaceHostedBy(pid: number, env: NodeJS.ProcessEnv): string | null {
  for (const data of listDataFolders(env)) {
    try {
      // Only as long as its host lives a record says who hosts.
      if (readPrivate(join(data, 'host.pid'), 32)?.trim() === String(pid))
        return readDaemonRecord(data)?.root ?? data;
    } catch {
      // Somebody else's by now.
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
