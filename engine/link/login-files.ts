import { accessSync, constants, lstatSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { SvcError } from '../core/base/errors.ts';
import { readPrivate, replacePrivate } from '../core/base/private-files.ts';
import { resolveMachineHome } from '../core/workspace/machine-home.ts';

// The login's files in the machine home: the token, and separately its displayable facts.

const TOKEN_FILE = 'device.token';
const ACCOUNT_FILE = 'account.json';
const LARGEST_FILE = 64 * 1024;

/** The content of `account.json`; no secret. */
const accountFile = z.looseObject({
  server: z.string(),
  person: z.string(),
  account: z.string(),
  machine: z.object({ id: z.string(), name: z.string() }),
  logged_in_at: z.string(),
});

export type AccountFile = z.output<typeof accountFile>;

/** The login of a machine. */
export interface LoginState extends AccountFile {
  token_file: string;
  /** Its mode in octal, such as `600`. */
  token_mode: string;
}

function locate(env: NodeJS.ProcessEnv): { home: string; tokenFile: string; file: string } {
  const home = resolveMachineHome(env);
  return { home, tokenFile: join(home, TOKEN_FILE), file: join(home, ACCOUNT_FILE) };
}

export function isLoginFile(path: string, env: NodeJS.ProcessEnv): boolean {
  const { tokenFile, file } = locate(env);
  return path === tokenFile || path === file;
}

/** Returns the token of this machine, even if its server is unknown; null if there is none. Throws `storage_unsafe`. */
export const readMachineToken = (env: NodeJS.ProcessEnv): string | null =>
  readPrivate(locate(env).tokenFile, LARGEST_FILE)?.trim() || null;

/**
 * Returns the login of this machine; null if there is none. Throws `config_invalid` for a damaged file,
 * `storage_unsafe`.
 */
export function findLogin(env: NodeJS.ProcessEnv): LoginState | null {
  const { tokenFile, file } = locate(env);
  const text = readPrivate(file, LARGEST_FILE);
  if (text === null || readMachineToken(env) === null) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = null;
  }
  const read = accountFile.safeParse(parsed);
  if (!read.success)
    throw new SvcError('config_invalid', `${file} is damaged`, { hint: 'svc logout removes it' });
  const mode = (statSync(tokenFile).mode & 0o777).toString(8);
  return { ...read.data, token_file: tokenFile, token_mode: mode };
}

const notWritableError = (home: string, error: unknown): SvcError =>
  new SvcError('storage_failed', `cannot save the login in ${home}: ${(error as Error).message}`, {
    cause: error,
    hint: 'the machine home must be writable for this user; SVC_HOME names another one',
  });

/** Creates the machine home. Throws `storage_failed` if no login could be stored, before a person is asked to allow one. */
export function prepareLoginFiles(env: NodeJS.ProcessEnv): void {
  const { home } = locate(env);
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    accessSync(home, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw notWritableError(home, error);
  }
}

/** Stores a login; the token last, since it makes the login valid. Throws `storage_failed`, and then nothing of it is left. */
export function writeLogin(env: NodeJS.ProcessEnv, account: AccountFile, token: string): LoginState {
  const { home, tokenFile, file } = locate(env);
  try {
    replacePrivate(file, `${JSON.stringify(account, null, 2)}\n`, { isDurable: true });
    replacePrivate(tokenFile, `${token}\n`, { isDurable: true });
  } catch (error) {
    rmSync(file, { force: true });
    throw notWritableError(home, error);
  }
  return findLogin(env)!;
}

/** Removes a login, even if its files are damaged. False if there was none. */
export function removeLogin(env: NodeJS.ProcessEnv): boolean {
  const { tokenFile, file } = locate(env);
  const found = [tokenFile, file].filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
  for (const path of found) rmSync(path, { force: true });
  return found.length > 0;
}
