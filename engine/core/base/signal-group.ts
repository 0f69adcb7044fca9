/**
 * Sends a signal to a process and all others of its group. Does nothing when the group is empty.
 * @param leader the process that the group was started with (`detached`); undefined if it could not be started
 */
export function signalGroup(leader: number | undefined, signal: NodeJS.Signals): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, signal);
  } catch {
    // The group is empty.
  }
}
