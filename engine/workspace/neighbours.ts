import { join } from 'node:path';
import { readPrivate } from '../base/private-files.ts';
import { readRecord } from './daemon-record.ts';
import { knownDataFolders } from './data-folder.ts';

/** The workspace that a process hosts, by its folder; null for a process that hosts none of this person's. */
export function workspaceHostedBy(pid: number, env: NodeJS.ProcessEnv): string | null {
  for (const data of foldersOf(env)) {
    try {
      // Only as long as its host lives a record says who hosts.
      if (readPrivate(join(data, 'host.pid'), 32)?.trim() === String(pid))
        return readRecord(data)?.root ?? data;
    } catch {
      // Somebody else's by now.
    }
  }
  return null;
}

function foldersOf(env: NodeJS.ProcessEnv): string[] {
  try {
    return knownDataFolders(env);
  } catch {
    return [];
  }
}
