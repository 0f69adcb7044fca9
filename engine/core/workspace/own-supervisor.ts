/** Names a host's supervisor: the value is the id of its parent process. */
export const SUPERVISOR_VARIABLE = 'SVC_SUPERVISOR';

/** Finds the supervisor of this process; null if there is none, or it no longer exists. */
export function findOwnSupervisor(env: NodeJS.ProcessEnv): number | null {
  const pid = Number(env[SUPERVISOR_VARIABLE]);
  return pid > 0 && pid === process.ppid ? pid : null;
}
