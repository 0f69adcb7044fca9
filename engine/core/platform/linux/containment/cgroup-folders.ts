import { existsSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { readPrivate, replacePrivate } from '../../../base/private-files.ts';
import { findOwnCgroup } from './cgroup.ts';

const MOST_BYTES = 64 * 1024;

/**
 * The cgroup folders in which engines of a workspace have created cgroups, recorded in its data folder. A killed engine
 * leaves its runs there, and one that was started elsewhere, such as from another login, has another folder.
 */
export interface CgroupFolders {
  /** Lists the recorded folders that exist. */
  list(): string[];
  /** Records a folder before the first cgroup is created in it. */
  add(folder: string): void;
}

/**
 * Opens the record of a workspace.
 * @param data the workspace's data folder
 * @param name of the cgroup folders; other paths in the record are ignored
 */
export function openCgroupFolders(data: string, name: string): CgroupFolders {
  const file = join(data, 'cgroups');
  const added = new Set<string>();
  function list(): string[] {
    const paths = readPrivate(file, MOST_BYTES)?.split('\n') ?? [];
    const mount = paths.length === 0 ? undefined : findOwnCgroup()?.mount;
    // A worker without a sandbox can write this file too: nothing outside the hierarchy is touched.
    return mount === undefined
      ? []
      : paths.filter(
          (path) =>
            path === normalize(path) &&
            path.startsWith(`${mount}/`) &&
            path.endsWith(`/${name}`) &&
            existsSync(path),
        );
  }
  return {
    list,
    add(folder) {
      if (added.has(folder)) return;
      const folders = new Set([...list(), folder]);
      // Not durable: no cgroup survives a power cut either.
      replacePrivate(file, `${[...folders].join('\n')}\n`);
      added.add(folder);
    },
  };
}
