import { homedir, userInfo } from 'node:os';
import { SvcError } from './errors.ts';

/** Returns the user name of this process; the user id if the system has no entry for it, as in many containers. */
export function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

/** Returns the user's home: HOME, otherwise the system's entry. Throws `config_invalid` if neither is set. */
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
