import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  unlinkSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { SvcError } from '../base/errors.ts';
import { makePrivateFolder } from '../base/private-files.ts';
import { platform } from './index.ts';

// A worker may replace a folder by a link between two calls. Operations below an open folder stay there, wherever its
// name leads by then. Only Linux can start a path at an open folder, and only there a worker is confined.

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/** An open folder, with a path that refers to it while it is open. */
export interface HeldFolder {
  path: string;
  close(): void;
}

/** Opens a folder below the existing `top`, and creates missing parts, mode 0700. Throws `storage_unsafe` for a link. */
export function holdFolder(top: string, folder: string): HeldFolder {
  const { openFiles } = platform;
  if (openFiles === null) {
    makePrivateFolder(top, folder);
    return { path: folder, close: () => undefined };
  }
  let held = openSync(top, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    for (const name of relative(top, folder).split(sep).filter(Boolean)) {
      const next = openStep(`${openFiles}/${held}/${name}`, join(top, name));
      closeSync(held);
      held = next;
    }
  } catch (error) {
    closeSync(held);
    throw error;
  }
  return { path: `${openFiles}/${held}`, close: () => closeSync(held) };
}

function openStep(path: string, shown: string): number {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  try {
    return openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ELOOP' && code !== 'ENOTDIR') throw error;
    throw new SvcError(
      'storage_unsafe',
      `${shown} is not a folder, or is a link, which svc does not follow`,
      {
        hint: `inspect it, then remove it: ls -ld ${shown}`,
        data: { path: shown },
      },
    );
  }
}

const IN_A_ROW = 50;

/** Removes a folder with its content, without following links in it. */
export async function removeFolder(folder: string): Promise<void> {
  const { openFiles } = platform;
  if (openFiles === null) return rm(folder, { recursive: true, force: true });
  const handle = openSync(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const held = `${openFiles}/${handle}`;
  try {
    for (const [at, entry] of readdirSync(held, { withFileTypes: true }).entries()) {
      if (at % IN_A_ROW === 0) await new Promise((resolve) => setImmediate(resolve));
      if (entry.isDirectory()) await removeFolder(`${held}/${entry.name}`);
      else unlinkSync(`${held}/${entry.name}`);
    }
  } finally {
    closeSync(handle);
  }
  rmdirSync(folder);
}

/** Reports whether an open file is the one at a real path, and was not reached through a link; true if that is unknown. */
export const isFileAt = (fd: number, path: string): boolean =>
  platform.openFiles === null || readlinkSync(`${platform.openFiles}/${fd}`) === path;
