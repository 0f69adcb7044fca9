import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { presets } from '../engine/index.ts';

/** The built program, for starting itself. */
export const SVC = fileURLToPath(new URL('./svc.js', import.meta.url));

/** Program and arguments that run this program again. */
export const svcCommand = (): string[] => [process.execPath, SVC];

/** The program that hosts an engine in the background: this one. */
export const daemonCommand = (): string[] => [...svcCommand(), 'daemon'];

/**
 * The server of the model context protocol as other programs start it: by the name `svc` where that is this program on
 * the path, else by the full path, which counts on this machine alone.
 */
export async function mcpCommand({
  cwd,
  env,
}: {
  cwd: string;
  env: NodeJS.ProcessEnv;
}): Promise<{ command: string; args: string[]; isPortable: boolean }> {
  const found = (await presets()).findProgram('svc', { cwd, path: env.PATH });
  return found !== undefined && realpathSync(found) === realpathSync(SVC)
    ? { command: 'svc', args: ['mcp'], isPortable: true }
    : { command: process.execPath, args: [SVC, 'mcp'], isPortable: false };
}
