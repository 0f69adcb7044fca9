import { accessSync, constants, lstatSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { SvcError } from '../core/base/errors.ts';
import { isInsideFolder } from '../core/base/paths.ts';
import { makePrivateFolder, readPrivate, replacePrivate } from '../core/base/private-files.ts';
import { resolveMachineHome } from '../core/workspace/machine-home.ts';
import { isLoginFile } from './login-files.ts';

const LARGEST_BYTES = 4096;

/** The file with the workspace's token; all methods except `path` throw `path_outside` or `storage_unsafe` for an unsafe one. */
export interface TokenFile {
  path(): string;
  /** Returns null if there is none. */
  read(): string | null;
  /** Creates its folder. Throws if it cannot be written, and `exists` if a first link would replace another file. */
  check(place: { isFirst: boolean }): void;
  /** Writes the token in one step, mode 0600. */
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
  /** Returns `server.token_path`. */
  tokenPath(): string;
}): TokenFile {
  const path = (): string => resolve(root, tokenPath());

  const home = resolveMachineHome(env);
  const findTop = (file: string): string | undefined =>
    [data, home].find((folder) => isInsideFolder(folder, file));

  /** Checks that it is hidden from confined workers. */
  function findPlace(): string {
    const file = path();
    if (isLoginFile(file, env))
      throw new SvcError('path_outside', `server.token_path leads to ${file}, which belongs to the login`, {
        hint: 'keep it below paths.data, or choose another name',
      });
    if (findTop(file) !== undefined) return file;
    throw new SvcError(
      'path_outside',
      `server.token_path leads to ${file}, where a confined worker could read it`,
      { hint: 'keep it below paths.data, or put it below the machine home' },
    );
  }

  function makeFolder(folder: string, file: string): void {
    try {
      makePrivateFolder(findTop(file) ?? folder, folder);
      accessSync(folder, constants.W_OK);
    } catch (error) {
      if (error instanceof SvcError) throw error;
      throw new SvcError('storage_failed', `cannot write to ${folder}: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }

  function check({ isFirst }: { isFirst: boolean }): void {
    const file = findPlace();
    makeFolder(dirname(file), file);
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found === undefined) return;
    // A link is replaced; a folder or a pipe is not.
    if (!found.isSymbolicLink()) readPrivate(file, LARGEST_BYTES, true);
    // In the machine home it may be the token of another workspace.
    if (isFirst && !isInsideFolder(data, file))
      throw new SvcError('exists', `server.token_path leads to ${file}, which already exists`, {
        hint: 'give this workspace its own file, or remove the existing one if it is not used',
      });
  }

  return {
    path,
    read: () => readPrivate(findPlace(), LARGEST_BYTES)?.trim() || null,
    check,
    write: (token) => replacePrivate(findPlace(), `${token}\n`, { isDurable: true }),
    remove: () => rmSync(findPlace(), { force: true }),
  };
}
