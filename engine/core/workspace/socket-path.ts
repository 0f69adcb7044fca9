import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { SvcError } from '../base/errors.ts';
import { findUnsafePart, isOwnFolder } from '../base/folder-owner.ts';
import { LONGEST_SOCKET_PATH } from '../base/paths.ts';
import { quoteForShell } from '../base/text.ts';
import { describeOwner } from './owner.ts';

/** Five are the host's own suffix. */
const MAX_SOCKET_PATH = LONGEST_SOCKET_PATH - 5;

const isShortEnough = (path: string): boolean => Buffer.byteLength(path) <= MAX_SOCKET_PATH;

/**
 * Returns the socket's path in the data folder or, if that is too long, in a private folder of this user; creates
 * nothing. Throws `storage_unsafe` if there is no such folder.
 */
export const resolveSocketPath = (wanted: string, env: NodeJS.ProcessEnv): string =>
  isShortEnough(wanted) ? wanted : `${chooseOtherPlace(wanted, env, '.sock')}.sock`;

/** Returns a folder with a short enough path for a socket: the wanted one, otherwise another, as `resolveSocketPath`. */
export const resolveSocketFolder = (wanted: string, env: NodeJS.ProcessEnv): string =>
  isShortEnough(join(wanted, 'svc.sock')) ? wanted : chooseOtherPlace(wanted, env, '/svc.sock');

function chooseOtherPlace(wanted: string, env: NodeJS.ProcessEnv, ending: string): string {
  // Not imported: 4 ms of CPU for every hook and command, for a rare path.
  const name = process.getBuiltinModule('node:crypto').hash('sha256', wanted).slice(0, 16);
  const folders = listPrivateSocketFolders(env);
  const reasons: string[] = [];
  for (const { folder, fault } of folders) {
    if (!isShortEnough(join(folder, name) + ending)) reasons.push(`${folder} is too long as well`);
    else if (fault !== null) reasons.push(fault);
    else return join(folder, name);
  }
  throw new SvcError(
    'storage_unsafe',
    `there is no safe location for the engine's socket: ${wanted} is too long, and ${reasons.join('; ')}`,
    { hint: 'set daemon.socket to a shorter path in a folder that only you can write to' },
  );
}

/**
 * Lists folders for sockets whose path in the data folder is too long: the system's folder for this user, otherwise
 * ours in the temporary folder. `fault` is why one cannot be used, as a clause.
 */
export function listPrivateSocketFolders(env: NodeJS.ProcessEnv): { folder: string; fault: string | null }[] {
  const given = env.XDG_RUNTIME_DIR;
  const runtime = given !== undefined && isAbsolute(given) ? given : null;
  const own = join(tmpdir(), `svc-${process.getuid?.() ?? 0}`);
  return [
    ...(runtime === null ? [] : [{ folder: join(runtime, 'svc'), fault: findRuntimeFault(runtime) }]),
    { folder: own, fault: findFolderFault(own) },
  ];
}

const findRuntimeFault = (folder: string): string | null =>
  isOwnFolder(folder)
    ? findFolderFault(join(folder, 'svc'))
    : `XDG_RUNTIME_DIR (${folder}) is not private to this user`;

/** Checks that every folder on the way belongs to root or us, and the folder itself, if it exists, only to us. */
function findFolderFault(folder: string): string | null {
  const around = dirname(folder);
  const found = lstatSync(around, { throwIfNoEntry: false });
  if (found === undefined) return `${around} does not exist`;
  const part = findUnsafePart(realpathSync(around));
  if (part !== null) return `others can change ${part}`;
  const own = lstatSync(folder, { throwIfNoEntry: false });
  if (own === undefined || isOwnFolder(folder)) return null;
  const isOthers = process.getuid !== undefined && own.uid !== process.getuid();
  return isOthers
    ? `${folder} belongs to ${describeOwner(own.uid)}`
    : `${folder} is not private to this user (chmod 700 ${quoteForShell(folder)})`;
}

/**
 * Creates or verifies a private folder for a socket: created first and then checked, so races do not matter. Throws
 * `storage_unsafe`.
 * @param isWithinOurs true if it is in a folder already known as ours
 */
export function makeSocketFolder(folder: string, isWithinOurs: boolean): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const part = isWithinOurs ? (isOwnFolder(folder) ? null : folder) : findUnsafePart(realpathSync(folder));
  if (part === null) return;
  throw new SvcError('storage_unsafe', `no socket can be created in ${folder}: others can change ${part}`, {
    hint: 'set daemon.socket to a path in a folder that only you can write to',
    data: { path: part },
  });
}

/**
 * Refuses a socket that another user created there, because the data sent over it may be secret. A missing one is
 * fine. Throws `storage_unsafe`.
 * @param data the data folder, known as ours: its contents were already checked
 */
export function checkSocket(path: string, data: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  const refuseSocket = (why: string): never => {
    throw new SvcError('storage_unsafe', `${path} ${why}, so nothing is sent to it`, {
      hint: 'set daemon.socket to a path in a folder that only you can write to',
      data: { path },
    });
  };
  if (found !== undefined && !found.isSocket()) refuseSocket('is not a socket');
  if (found !== undefined && process.getuid !== undefined && found.uid !== process.getuid())
    refuseSocket(`belongs to ${describeOwner(found.uid)}`);
  const folder = dirname(path);
  if (folder === data || lstatSync(folder, { throwIfNoEntry: false }) === undefined) return;
  const part = findUnsafePart(realpathSync(folder));
  if (part !== null) refuseSocket(`is where others can replace it (${part})`);
}
