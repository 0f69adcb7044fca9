/** Tells a host which process is its supervisor: it has the id of its parent in it. */
export const SUPERVISOR_VARIABLE = 'SVC_SUPERVISOR';

/** The supervisor of this very process; null for none, and once it is gone. */
export function findOwnSupervisor(env: NodeJS.ProcessEnv): number | null {
  const pid = Number(env[SUPERVISOR_VARIABLE]);
  return pid > 0 && pid === process.ppid ? pid : null;
}
