import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { SvcError } from '../base/errors.ts';
import { readPrivate, replacePrivate } from '../base/private-files.ts';
import { quoteForShell } from '../base/text.ts';
import { readDataFolderId } from './data-folder.ts';
import { resolveMachineHome } from './machine-home.ts';
import { checkHomeOwner, describeOwner, isTrustedOwner } from './owner.ts';

// The workspaces of this machine, each registered by its engine at start. An entry is only a location: trust and
// liveness of an engine are checked in its data folder as always.

/** One workspace as its engine registered it: `workspaces/<id>.json` of the machine home, mode 0600. */
export interface RegisteredWorkspace {
  /** Id of its data folder. */
  id: string;
  /** `workspace.name` at the last start of its engine. It may contain any character. */
  name: string;
  /** The folder of svc.yaml, absolute. */
  root: string;
  /** svc.yaml, absolute. */
  file: string;
  /** `paths.data`, absolute. */
  data: string;
  /** Last start of its engine, ISO 8601. */
  startedAt: string;
}

/** An unreadable entry, which is left unchanged. `why` is a clause. */
export interface RegistryFault {
  path: string;
  why: string;
}

const FOLDER = 'workspaces';
const ENTRY_FORM = /^[0-9a-f]{32}[.]json$/;
const MOST_BYTES = 64 * 1024;
const LONGEST_NAME = 200;
const LONGEST_PATH = 4096;

const registryFolder = (env: NodeJS.ProcessEnv): string => join(resolveMachineHome(env), FOLDER);

/** Returns false if there is no registry yet. Throws `owner_untrusted` if another user could have written it. */
function checkRegistry(env: NodeJS.ProcessEnv): boolean {
  checkHomeOwner(env);
  const folder = registryFolder(env);
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (found.isDirectory() && isTrustedOwner(found.uid, env) && (found.mode & 0o022) === 0) return true;
  throw new SvcError('owner_untrusted', `${folder} is a link, another user's, or can be changed by others`, {
    hint: `check it: ls -ld ${quoteForShell(folder)}; it must be your own folder with mode 0700`,
    data: { path: folder },
  });
}

/**
 * Registers a workspace, and removes entries of deleted workspaces. Throws `owner_untrusted` for a registry of
 * another user, and file system errors.
 */
export function registerWorkspace(env: NodeJS.ProcessEnv, workspace: RegisteredWorkspace): void {
  if (!checkRegistry(env)) mkdirSync(registryFolder(env), { recursive: true, mode: 0o700 });
  replacePrivate(
    join(registryFolder(env), `${workspace.id}.json`),
    `${JSON.stringify({ ...workspace, name: workspace.name.slice(0, LONGEST_NAME) }, null, 2)}\n`,
  );
  for (const each of readRegistry(env).workspaces)
    if (each.id !== workspace.id && findGone(each) !== null)
      rmSync(join(registryFolder(env), `${each.id}.json`), { force: true });
}

/** Reads all entries, ordered by name. Writes nothing. Throws `owner_untrusted`. */
export function readRegistry(env: NodeJS.ProcessEnv): {
  workspaces: RegisteredWorkspace[];
  faults: RegistryFault[];
} {
  const workspaces: RegisteredWorkspace[] = [];
  const faults: RegistryFault[] = [];
  if (!checkRegistry(env)) return { workspaces, faults };
  for (const name of readdirSync(registryFolder(env))) {
    // Drafts of an interrupted write start with a dot.
    if (!ENTRY_FORM.test(name)) continue;
    const path = join(registryFolder(env), name);
    try {
      const entry = readEntry(path, name.slice(0, -'.json'.length), env);
      if (entry !== null) workspaces.push(entry);
    } catch (error) {
      faults.push({ path, why: (error as Error).message });
    }
  }
  return { workspaces: workspaces.toSorted(compareWorkspaces), faults };
}

const compareWorkspaces = (one: RegisteredWorkspace, other: RegisteredWorkspace): number =>
  one.name.localeCompare(other.name, 'en', { numeric: true }) || (one.root < other.root ? -1 : 1);

/** Returns null if it was removed in the meantime. Throws an error whose message is a clause. */
function readEntry(path: string, id: string, env: NodeJS.ProcessEnv): RegisteredWorkspace | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  if (!isTrustedOwner(found.uid, env)) throw new Error(`it belongs to ${describeOwner(found.uid)}`);
  const text = readPrivate(path, MOST_BYTES);
  if (text === null) return null;
  const entry = parseEntry(text);
  if (entry === null || entry.id !== id) throw new Error('it is not what svc wrote');
  return entry;
}

function parseEntry(text: string): RegisteredWorkspace | null {
  try {
    const { id, name, root, file, data, startedAt } = JSON.parse(text) as Record<string, unknown>;
    if (typeof id !== 'string' || typeof name !== 'string' || typeof startedAt !== 'string') return null;
    if (name.length > LONGEST_NAME || !isPlace(root) || !isPlace(file) || !isPlace(data)) return null;
    return Number.isNaN(Date.parse(startedAt)) ? null : { id, name, root, file, data, startedAt };
  } catch {
    return null;
  }
}

const isPlace = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= LONGEST_PATH && isAbsolute(value) && !value.includes('\0');

/**
 * Returns why a workspace no longer exists at its location, as a clause; null if it does, or if that is unknown. A
 * workspace that reappears, as on a removable disk, is registered again when its engine starts.
 */
export function findGone({ file, data, id }: RegisteredWorkspace): string | null {
  try {
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return `${file} no longer exists`;
    if (lstatSync(data, { throwIfNoEntry: false }) === undefined) return `${data} no longer exists`;
    return readDataFolderId(data) === id ? null : `${data} was replaced by another`;
  } catch {
    return null;
  }
}
