import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { SvcError } from '../../engine/core/base/errors.ts';
import { agentPrograms, findWorkspace } from '../../engine/index.ts';
import {
  type ClientProgram,
  type ClientScope,
  listClientFiles,
  listClients,
  type ServerEntry,
} from './clients.ts';
import type { ClientFormat } from './format.ts';

/** The contents of a client's file, without and with the entry. */
export interface InstallPlan {
  client: string;
  scope: ClientScope;
  file: string;
  /** same: the entry already exists; different: another entry has its name. */
  state: 'no_file' | 'absent' | 'same' | 'different';
  entry: Record<string, unknown>;
  /** The entry in the format of the file. */
  shown: string;
  /** The whole new text. */
  text: string;
}

/** The locations where a file is searched and written. */
export interface InstallPlace {
  scope: ClientScope;
  /** The folder of the project. */
  root: string;
  env: NodeJS.ProcessEnv;
}

/** The root of the workspace, where agents are started; the current folder without one. */
export function findProjectFolder(cwd: string, env: NodeJS.ProcessEnv): string {
  try {
    return findWorkspace({ cwd, env }).root;
  } catch (error) {
    if (error instanceof SvcError && error.code === 'no_workspace' && !env.SVC_CONFIG) return cwd;
    throw error;
  }
}

/** Finds a client by the name of its preset. */
export async function findClient(name: string): Promise<ClientProgram | undefined> {
  const { PASSED_ON } = await agentPrograms();
  return listClients(PASSED_ON).find((client) => client.name === name);
}

const loadFormat = async ({ format }: ClientProgram): Promise<ClientFormat> =>
  format === 'toml' ? (await import('./toml.ts')).tomlFormat : (await import('./json.ts')).jsonFormat;

/** Reads the client's file without changing it. Throws `config_invalid` if it cannot be read or extended. */
export async function planInstall(
  client: ClientProgram,
  server: ServerEntry,
  place: InstallPlace,
): Promise<InstallPlan> {
  const format = await loadFormat(client);
  const candidates = listClientFiles(client, place.scope, place.root, place.env);
  const file = candidates.find((each) => existsSync(each)) ?? candidates[0] ?? '';
  const entry = client.entry(server);
  const shared = {
    client: client.name,
    scope: place.scope,
    file,
    entry,
    shown: format.show(client.path, entry),
  };
  const fresh = (): string => format.fresh(client.start ?? {}, client.path, entry);
  const present = readIfThere(file);
  if (present === undefined) return { ...shared, state: 'no_file', text: fresh() };
  if (present.trim() === '') return { ...shared, state: 'absent', text: fresh() };
  try {
    const found = format.find(present, client.path);
    if (isDeepStrictEqual(found, entry)) return { ...shared, state: 'same', text: present };
    const text = format.put(present, client.path, entry);
    if (text === null) throw new SyntaxError(`has ${client.path.join('.')} in a form that svc cannot edit`);
    return { ...shared, state: found === undefined ? 'absent' : 'different', text };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new SvcError('config_invalid', `${file} ${error.message}`, {
      hint: `correct it, or add this by hand: ${shared.shown.replace(/\s+/g, ' ')}`,
    });
  }
}

/** Reports whether the client finds a server called svc when it is started in `cwd`. False for an unreadable file. */
export async function isInstalled(
  client: ClientProgram,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const format = await loadFormat(client);
  const folders = client.project?.upward ? listParents(cwd) : [cwd];
  const files = [
    ...folders.flatMap((folder) => listClientFiles(client, 'project', folder, env)),
    ...listClientFiles(client, 'user', cwd, env),
  ];
  return files.some((file) => {
    try {
      const text = readIfThere(file);
      return text !== undefined && format.find(text, client.path) !== undefined;
    } catch {
      return false;
    }
  });
}

function listParents(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [resolve(folder), ...listParents(above)];
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new SvcError('config_invalid', `${file} cannot be read: ${message}`, { cause: error });
  }
}
