import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { SvcError } from '../base/errors.ts';
import { isInsideFolder } from '../base/paths.ts';
import { readPrivate, replacePrivate } from '../base/private-files.ts';
import { resolveMachineHome } from '../workspace/machine-home.ts';

const LARGEST_BYTES = 4096;

/** The file with the workspace's token; all but `path` throw `path_outside` or `storage_unsafe` for one that is not safe. */
export interface TokenFile {
  path(): string;
  /** Null where there is none. */
  read(): string | null;
  /** Throws where it could not be written. */
  check(): void;
  /** In one step, mode 0600. */
  write(token: string): void;
  remove(): void;
}

export function createTokenFile({
  root,
  data,
  env,
  tokenPath,
}: {
  root: string;
  /** The data folder. */
  data: string;
  env: NodeJS.ProcessEnv;
  /** `server.token_path` */
  tokenPath(): string;
}): TokenFile {
  const path = (): string => resolve(root, tokenPath());

  /** Lies where no confined worker sees it. */
  function findPlace(): string {
    const file = path();
    if ([data, resolveMachineHome(env)].some((folder) => isInsideFolder(folder, file))) return file;
    throw new SvcError(
      'path_outside',
      `server.token_path leads to ${file}, where a confined worker could read it`,
      { hint: 'leave it below paths.data, or put it below the machine home' },
    );
  }

  return {
    path,
    read: () => readPrivate(findPlace(), LARGEST_BYTES)?.trim() || null,
    check: () => void findPlace(),
    write: (token) => replacePrivate(findPlace(), `${token}\n`, { isDurable: true }),
    remove: () => rmSync(findPlace(), { force: true }),
  };
}
