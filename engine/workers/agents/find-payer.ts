import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { homeOfUser } from '../../core/base/account.ts';
import { findPreset } from './presets/index.ts';

/**
 * Finds the variable whose key an agent would use instead of its person's login, so that another account pays; null
 * if there is no such variable, or no login.
 * @param env the environment of the agent
 */
export function findKeyBeforeLogin(agent: string, env: NodeJS.ProcessEnv): string | null {
  const preset = findPreset(agent);
  const key = preset?.keysBeforeLogin?.find((name) => Boolean(env[name]));
  if (preset === undefined || preset === null || key === undefined) return null;
  const home = homeOfUser(env);
  return preset.home.login.some((file) => existsSync(join(home, file))) ? key : null;
}
