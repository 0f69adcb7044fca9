import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder with the engine's record and its socket. Only a workspace that moved them has its configuration read. */
export async function whereIs(
  root: string,
  file: string,
  env: NodeJS.ProcessEnv,
): Promise<{ data: string; socket: string }> {
  const text = readFileSync(file, 'utf8');
  const data = join(root, '.svc');
  if (!/^\s*["']?(data|socket)["']?\s*:|[{,]\s*["']?(data|socket)["']?\s*:/m.test(text)) {
    return { data, socket: join(data, 'svc.sock') };
  }
  const { dataPaths, loadConfig } = await import('../config/index.ts');
  // A worker's own client looks where its file says: from a sandbox nobody can see what was agreed to.
  return dataPaths(loadConfig({ file, env, believe: Boolean(env.SVC_RUN_ID) }));
}
