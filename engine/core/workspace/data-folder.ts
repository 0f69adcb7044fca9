import {
  chmodSync,
  type Dirent,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { randomName, syncFolder } from '../base/atomic-file.ts';
import { SvcError } from '../base/errors.ts';
import { isBelowFolder } from '../base/paths.ts';
import { readPrivate, replacePrivate, withPrivate } from '../base/private-files.ts';
import { quoteForShell } from '../base/text.ts';
import { resolveMachineHome } from './machine-home.ts';
import { checkHomeOwner, describeOwner, isTrustedOwner } from './owner.ts';

// A repository, an archive or a worker can bring a data folder with a session that waits to be started, or with the
// address of another engine. So a folder is only valid if svc created it here: its random id and its location are
// recorded in the machine home. Every command checks this, so nothing here loads a package.

/** The location of a workspace's data folder. */
export interface DataPlace {
  /** The folder of svc.yaml, absolute. */
  root: string;
  /** `paths.data`, absolute. */
  data: string;
}

/** `empty` counts as missing. */
export type DataFolderState = { state: 'absent' | 'empty' } | { state: 'ours'; id: string };

/** Why a data folder is refused. */
export type DataFolderFault =
  | 'link'
  | 'not_a_folder'
  | 'owner'
  | 'modes'
  | 'no_id'
  | 'not_recorded'
  | 'moved'
  | 'tracked'
  | 'database'
  /** Written before 0.1.0. */
  | 'development'
  | 'content';

const ADOPT =
  'svc adopt shows its content and takes it over with nothing running; svc adopt --fresh moves it aside, unchanged, and starts again';
const FRESH = 'svc adopt --fresh moves it aside, unchanged, and starts again';

const ONLY_FRESH: readonly DataFolderFault[] = ['link', 'content', 'development'];

/** Creates the error for a folder, or contents, that do not belong to this machine. */
export function dataFolderRefusedError(
  path: string,
  reason: DataFolderFault,
  why: string,
  hint: string = ONLY_FRESH.includes(reason) ? FRESH : ADOPT,
): SvcError {
  return new SvcError('data_folder_unknown', `${path} ${why}; nothing in it was used`, {
    hint,
    data: { path, reason },
  });
}

const FOLDER = 'data-folders';
const ID = 'id';
const ID_FORM = /^[0-9a-f]{32}$/;
/** Leftovers of an interrupted creation. */
const DRAFT_FORM = /^id\.[0-9a-f]{16}\.new$/;
const MOST_BYTES = 16 * 1024;

/** The machine home's record of a data folder. */
interface DataFolderRecord {
  id: string;
  /** Its real path. */
  path: string;
  /** Device numbers change with a reboot; kept for people who inspect it. */
  device: number;
  inode: number;
  madeAt: string;
}

const recordPathOf = (env: NodeJS.ProcessEnv, id: string): string =>
  join(resolveMachineHome(env), FOLDER, `${id}.json`);

/** Checks the folder of the records: created by svc, and not writable by others. Throws `owner_untrusted`. */
function checkRecords(env: NodeJS.ProcessEnv): void {
  checkHomeOwner(env);
  const folder = join(resolveMachineHome(env), FOLDER);
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (found.isDirectory() && isTrustedOwner(found.uid, env) && (found.mode & 0o022) === 0) return;
  throw new SvcError('owner_untrusted', `${folder} is a link, another user's, or can be changed by others`, {
    hint: `check it: ls -ld ${quoteForShell(folder)}; it must be your own folder with mode 0700`,
    data: { path: folder },
  });
}

function readDataFolderRecord(env: NodeJS.ProcessEnv, id: string): DataFolderRecord | null {
  checkRecords(env);
  const text = readPrivate(recordPathOf(env, id), MOST_BYTES);
  try {
    const record = JSON.parse(text ?? 'null') as DataFolderRecord | null;
    return record !== null && record.id === id ? record : null;
  } catch {
    return null;
  }
}

/** Returns the recorded location of a data folder with this id; null for an unknown id. */
export const readRecordedPath = (env: NodeJS.ProcessEnv, id: string): string | null =>
  readDataFolderRecord(env, id)?.path ?? null;

/** Records a folder, before its id is written into it. */
export function recordDataFolder(env: NodeJS.ProcessEnv, id: string, data: string): void {
  checkRecords(env);
  mkdirSync(join(resolveMachineHome(env), FOLDER), { recursive: true, mode: 0o700 });
  const { dev, ino } = lstatSync(data);
  const record: DataFolderRecord = {
    id,
    path: realpathSync(data),
    device: dev,
    inode: ino,
    madeAt: new Date().toISOString(),
  };
  replacePrivate(recordPathOf(env, id), `${JSON.stringify(record, null, 2)}\n`, { isDurable: true });
}

/** Returns the folders between the workspace's and its data folder; none if that is elsewhere. */
function listFoldersBetween({ root, data }: DataPlace): string[] {
  if (!isBelowFolder(root, dirname(data))) return [];
  const parts = relative(root, dirname(data)).split(sep);
  return parts.map((_, index) => join(root, ...parts.slice(0, index + 1)));
}

const isOwnFile = ({ uid }: Stats): boolean => process.getuid === undefined || uid === process.getuid();

/** Reads the id in a data folder; null for none. It may be unrecorded. */
export function readDataFolderId(data: string): string | null {
  const text = readPrivate(join(data, ID), 64, true);
  return text !== null && ID_FORM.test(text.trim()) ? text.trim() : null;
}

const isEmptyFolder = (data: string): boolean => readdirSync(data).every((name) => DRAFT_FORM.test(name));

/**
 * Checks whether the data folder belongs to this machine; writes nothing, and only reads its id. Throws
 * `data_folder_unknown` if it does not, and `owner_untrusted` for an untrusted machine home.
 */
export function inspectOwnDataFolder(place: DataPlace, env: NodeJS.ProcessEnv): DataFolderState {
  const data = resolve(place.data);
  for (const folder of listFoldersBetween(place)) {
    const found = lstatSync(folder, { throwIfNoEntry: false });
    if (found === undefined) return { state: 'absent' };
    if (found.isSymbolicLink())
      throw dataFolderRefusedError(folder, 'link', 'is a link', 'set paths.data to a folder without links');
  }
  const found = lstatSync(data, { throwIfNoEntry: false });
  if (found === undefined) return { state: 'absent' };
  if (found.isSymbolicLink()) throw dataFolderRefusedError(data, 'link', 'is a link');
  if (!found.isDirectory()) throw dataFolderRefusedError(data, 'not_a_folder', 'is not a folder', FRESH);
  if (!isOwnFile(found)) {
    const hint = `run svc as its owner, or: ${FRESH}`;
    throw dataFolderRefusedError(data, 'owner', `belongs to ${describeOwner(found.uid)}`, hint);
  }
  const id = readIdIfMade(data);
  if (id === null) return { state: 'empty' };
  const record = readDataFolderRecord(env, id);
  if (record === null)
    throw dataFolderRefusedError(
      data,
      'not_recorded',
      `was not created by svc here (${resolveMachineHome(env)} does not know it)`,
    );
  if (record.path !== realpathSync(data) || record.inode !== found.ino)
    throw dataFolderRefusedError(
      data,
      'moved',
      `is a copy, or was moved or restored (it was created as ${record.path})`,
    );
  if ((found.mode & 0o022) !== 0)
    throw dataFolderRefusedError(
      data,
      'modes',
      'can be changed by other users',
      `chmod 700 ${quoteForShell(data)}`,
    );
  return { state: 'ours', id };
}

/** Returns null for an empty folder. */
function readIdIfMade(data: string): string | null {
  try {
    const id = readDataFolderId(data);
    if (id !== null) return id;
    if (isEmptyFolder(data)) return null;
    // Its creator writes the id first, so it may have appeared between the two checks.
    const late = readDataFolderId(data);
    if (late !== null) return late;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EACCES')
      throw dataFolderRefusedError(data, 'modes', 'cannot be read', `chmod 700 ${quoteForShell(data)}`);
    if (!(error instanceof SvcError)) throw error;
    throw dataFolderRefusedError(data, 'content', `has an ${ID} that is not a file of svc`);
  }
  throw dataFolderRefusedError(
    data,
    'no_id',
    'has no id of this machine: an earlier svc created it, or it was brought from elsewhere',
  );
}

/**
 * Returns the id of the workspace's data folder, creating it if missing. Throws as `inspectOwnDataFolder`, and
 * `storage_failed` if it cannot be created.
 */
export function claimDataFolder(place: DataPlace, env: NodeJS.ProcessEnv): string {
  // The loser of a race for a new folder finds the winner's.
  for (let tries = 0; tries < 10; tries += 1) {
    const found = inspectOwnDataFolder(place, env);
    if (found.state === 'ours') {
      removeDrafts(place.data);
      return found.id;
    }
    try {
      mkdirSync(place.data, { recursive: true, mode: 0o700 });
      chmodSync(place.data, 0o700);
      const id = isEmptyFolder(place.data) ? markDataFolder(place.data, env) : null;
      if (id !== null) return id;
    } catch (error) {
      throw cannotMakeError(place.data, error);
    }
  }
  throw new SvcError('conflict', `${place.data} changed while it was being created`, { hint: 'try again' });
}

function cannotMakeError(data: string, error: unknown): SvcError {
  if (error instanceof SvcError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new SvcError('storage_full', `no space left to create ${data}`, { cause: error });
  const isDenied = code === 'EACCES' || code === 'EPERM' || code === 'EROFS';
  return new SvcError('storage_failed', `cannot create the data folder ${data}: ${message}`, {
    cause: error,
    hint: isDenied
      ? 'its folder and the machine home must be writable for this user; svc doctor checks both'
      : 'svc doctor checks the data folder and the machine home',
  });
}

/**
 * Registers a data folder on this machine. The record is written before the id, so an interruption leaves a folder
 * that is still empty, never one with an unknown id. Null if another process was first.
 */
function markDataFolder(data: string, env: NodeJS.ProcessEnv): string | null {
  const id = randomName(16);
  const draft = join(data, `${ID}.${randomName()}.new`);
  recordDataFolder(env, id, data);
  try {
    withPrivate(draft, 'new', (fd) => {
      writeSync(fd, `${id}\n`);
      fsyncSync(fd);
    });
    placeWithoutReplacing(draft, join(data, ID));
    syncFolder(data);
    return id;
  } catch (error) {
    rmSync(recordPathOf(env, id), { force: true });
    // The winner may have cleaned up in the meantime.
    if (['EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function removeDrafts(data: string): void {
  for (const name of readdirSync(data)) if (DRAFT_FORM.test(name)) rmSync(join(data, name), { force: true });
}

/** Places a file without replacing an existing one, by a hard link; by a rename if links are unsupported. */
function placeWithoutReplacing(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK'].includes((error as NodeJS.ErrnoException).code ?? ''))
      throw error;
    renameSync(draft, file);
  }
}

/** Lists the data folders that svc has created on this machine for this machine home; some may no longer exist. */
export function listKnownDataFolders(env: NodeJS.ProcessEnv): string[] {
  checkRecords(env);
  return listEntries(join(resolveMachineHome(env), FOLDER)).flatMap(({ name }) => {
    const id = name.replace(/\.json$/, '');
    return ID_FORM.test(id) ? (readDataFolderRecord(env, id)?.path ?? []) : [];
  });
}

/** Removes a folder's record, because it was moved aside or gets a new id. */
export function forgetDataFolder(env: NodeJS.ProcessEnv, id: string): void {
  rmSync(recordPathOf(env, id), { force: true });
}

/** The absolute paths of an engine's data, as configured. */
export interface KeptPaths {
  data: string;
  db: string;
  agents: string;
  worktrees: string;
}

/** Returns the database and SQLite's companion files. */
export const listDatabaseFiles = (db: string): string[] => [db, `${db}-wal`, `${db}-shm`, `${db}-journal`];

/** Returns the problem of one of our files or folders; null if there is none, or it does not exist. */
function findFault(path: string): { reason: DataFolderFault; why: string; hint?: string } | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (found.isSymbolicLink()) return { reason: 'link', why: 'is a link' };
  if (!found.isFile() && !found.isDirectory() && !found.isSocket())
    return { reason: 'content', why: 'is neither a file nor a folder' };
  if (!isOwnFile(found)) return { reason: 'owner', why: `belongs to ${describeOwner(found.uid)}` };
  if (found.isFile() && found.nlink > 1 && basename(path) !== ID)
    return { reason: 'link', why: 'has a second name (a hard link)' };
  if (!found.isSocket() && (found.mode & 0o022) !== 0)
    return {
      reason: 'modes',
      why: 'can be changed by other users',
      hint: `chmod go-w ${quoteForShell(path)}`,
    };
  return null;
}

/**
 * Checks the data folder and data stored elsewhere before the engine opens it: no links, no pipes, no files of other
 * users; with `modes` no files that they could have written. Throws `data_folder_unknown`.
 */
export function checkKeptPaths({ data, db, agents, worktrees }: KeptPaths, { modes = true } = {}): void {
  const own = readdirSync(data).map((name) => join(data, name));
  for (const path of [...own, agents, worktrees, ...listDatabaseFiles(db)]) {
    const fault = findFault(path);
    if (fault !== null && (modes || fault.reason !== 'modes'))
      throw dataFolderRefusedError(path, fault.reason, fault.why, fault.hint);
  }
  for (const folder of [join(data, 'log'), join(data, 'notices'), agents, worktrees]) {
    const link = listEntries(folder).find((entry) => entry.isSymbolicLink());
    if (link !== undefined)
      throw dataFolderRefusedError(join(folder, link.name), 'link', 'is a link', 'remove it');
  }
  // Nothing is ever written into it, and SQLite reads no journal for an empty file.
  const lock = lstatSync(join(data, 'host.lock'), { throwIfNoEntry: false });
  if (lock !== undefined && (!lock.isFile() || lock.size > 0))
    throw dataFolderRefusedError(join(data, 'host.lock'), 'content', 'is not what svc created');
}

function listEntries(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw dataFolderRefusedError(folder, 'content', 'cannot be listed');
  }
}
