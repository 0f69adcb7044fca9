import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../core/base/errors.ts';
import { makePrivateFolder, replacePrivate } from '../../core/base/private-files.ts';
import { resolveMachineHome } from '../../core/workspace/machine-home.ts';
import { resolveSocketPath } from '../../core/workspace/socket-path.ts';
import { locateFleetFolder } from '../remote-folders.ts';

/** The folders of a runner on its machine, all absolute. */
export interface MachineFolders {
  /** Looks like a workspace to the clients of its runs. */
  root: string;
  /** A svc.yaml without any settings. */
  configFile: string;
  data: string;
  /** The socket by which the board reaches the runner. */
  socket: string;
  agents: string;
  worktrees: string;
  /** A mirror per repository, by its id. */
  mirrors: string;
}

const FLEET = /^[0-9a-f-]{8,64}$/;

export const isFleetId = (text: string): boolean => FLEET.test(text);

/** Returns the folders of the runner that works for a board. Throws `usage` for an invalid id. */
export function locateMachineFolders(fleet: string, env: NodeJS.ProcessEnv): MachineFolders {
  if (!isFleetId(fleet)) throw new SvcError('usage', `${JSON.stringify(fleet)} is not the id of a fleet`);
  const root = join(resolveMachineHome(env), locateFleetFolder(fleet));
  const data = join(root, '.svc');
  return {
    root,
    configFile: join(root, 'svc.yaml'),
    data,
    socket: resolveSocketPath(join(data, 'runner.sock'), env),
    agents: join(data, 'agents'),
    worktrees: join(data, 'worktrees'),
    mirrors: join(data, 'mirrors'),
  };
}

/** Creates the folders, which only this user can read. Throws `storage_unsafe`, `storage_failed`. */
export function makeMachineFolders(folders: MachineFolders, env: NodeJS.ProcessEnv): void {
  const home = resolveMachineHome(env);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  for (const folder of [folders.data, folders.agents, folders.worktrees, folders.mirrors])
    makePrivateFolder(home, folder);
  if (!existsSync(folders.configFile))
    replacePrivate(
      folders.configFile,
      '# The runs of another machine’s workspace work here; svc runner remove deletes it.\n',
    );
}
