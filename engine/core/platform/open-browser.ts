import { readProgram } from '../base/run-program.ts';
import { platform } from './index.ts';

/** Opens a page in a browser, if there is one. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv): void {
  const opener = platform.findOpener(env);
  if (opener !== null) readProgram(opener, [url], { env, timeoutMs: 5000 }).catch(() => undefined);
}
