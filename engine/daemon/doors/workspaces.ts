import type { RegisteredWorkspace } from '../../core/workspace/registry.ts';

/** The workspaces of this machine, whether their engines run or not. */

export { readDaemonRecord } from '../../core/workspace/daemon-record.ts';
export {
  findGone,
  type RegisteredWorkspace,
  type RegistryFault,
  readRegistry,
} from '../../core/workspace/registry.ts';

/** Where clients look for the engine of a workspace, wherever they were started. */
export const placeOfWorkspace = (
  { root, file }: Pick<RegisteredWorkspace, 'root' | 'file'>,
  env: NodeJS.ProcessEnv,
): { cwd: string; env: NodeJS.ProcessEnv } => ({ cwd: root, env: { ...env, SVC_CONFIG: file } });
