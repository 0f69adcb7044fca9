import { homedir, userInfo } from 'node:os';
import { SvcError } from './errors.ts';

/** The name of the user whose process this is; its number where the system has no entry for it, as in many containers. */
export function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** The user's home: HOME, else what the system says. Throws `config_invalid` where neither knows one. */
export function homeOfUser(env: NodeJS.ProcessEnv): string {
  if (env.HOME) return env.HOME;
  try {
    return homedir();
  } catch (error) {
    throw new SvcError('config_invalid', `user ${accountName()} has no home folder`, {
      cause: error,
      hint: 'set HOME, or SVC_HOME for the files of svc alone',
    });
  }
}
