import { isAbsolute, join, resolve } from 'node:path';
import { homeOfUser } from '../base/account.ts';

// Separate from reading it, because every command must find it and few must read the configuration.

/** Returns the folder of the machine home: SVC_HOME, otherwise svc below the local app data, the XDG folder or ~/.config. */
export function resolveMachineHome(env: NodeJS.ProcessEnv): string {
  const { SVC_HOME, LOCALAPPDATA, XDG_CONFIG_HOME } = env;
  if (SVC_HOME) return resolve(SVC_HOME);
  if (LOCALAPPDATA) return join(LOCALAPPDATA, 'svc');
  // The XDG specification says to ignore a relative folder.
  if (XDG_CONFIG_HOME && isAbsolute(XDG_CONFIG_HOME)) return join(XDG_CONFIG_HOME, 'svc');
  return join(homeOfUser(env), '.config', 'svc');
}
