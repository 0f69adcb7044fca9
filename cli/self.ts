import { realpathSync } from 'node:fs';
import { locateProgram } from '../engine/core/base/own-package.ts';
import { agentPrograms } from '../engine/index.ts';
import { HOST_OPTIONS } from './host-options.ts';

/** The built program, for starting itself. */
export const SVC = locateProgram('svc');

/** Program and arguments that run this program again. */
export const getSvcCommand = (): string[] => [process.execPath, SVC];

/** The program that hosts an engine in the background: this one. */
export const getDaemonCommand = (): string[] => {
  const [node = '', ...words] = getSvcCommand();
  return [node, ...HOST_OPTIONS, ...words, 'daemon'];
};

/**
 * This program as other programs start it: by the name `svc` if that is this program on the path, otherwise by the
 * full path, which is only valid on this machine.
 */
export async function findPortableCommand({
  cwd,
  env,
}: {
  cwd: string;
  env: NodeJS.ProcessEnv;
}): Promise<{ words: string[]; isPortable: boolean }> {
  const found = (await agentPrograms()).findProgram('svc', { cwd, path: env.PATH });
  return found !== undefined && realpathSync(found) === realpathSync(SVC)
    ? { words: ['svc'], isPortable: true }
    : { words: getSvcCommand(), isPortable: false };
}

/** The server of the model context protocol as other programs start it. */
export async function findMcpCommand(place: {
  cwd: string;
  env: NodeJS.ProcessEnv;
}): Promise<{ command: string; args: string[]; isPortable: boolean }> {
  const { words, isPortable } = await findPortableCommand(place);
  const [command = '', ...args] = words;
  return { command, args: [...args, 'mcp'], isPortable };
}
