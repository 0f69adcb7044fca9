import { readProgram } from './run-program.ts';

const OPENERS: Readonly<Partial<Record<NodeJS.Platform, string>>> = { darwin: 'open', linux: 'xdg-open' };

/** Opens a page in a browser, if there is one. */
export function openBrowser(url: string, env: NodeJS.ProcessEnv): void {
  const opener = OPENERS[process.platform];
  const hasDisplay = process.platform !== 'linux' || env.DISPLAY || env.WAYLAND_DISPLAY;
  if (opener !== undefined && hasDisplay)
    readProgram(opener, [url], { env, timeoutMs: 5000 }).catch(() => undefined);
}
