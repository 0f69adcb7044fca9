import type { ProcessTable } from '../../../core/platform/index.ts';

/** The variable that marks every process of a run, even one that left its group (R5). */
export const MARK = 'SVC_RUN_ID';

/** The variable that marks every process that the engine starts itself: git, commands, agents. */
export const ENGINE_MARK = 'SVC_ENGINE_CHILD';

/** Returns `alive` if it is the same living process; a zombie is dead, a failed check is unknown. */
export function probeLiveness(
  table: Pick<ProcessTable, 'read'>,
  pid: number,
  pidStart: string,
): 'alive' | 'dead' | 'unknown' {
  const entry = table.read(pid);
  if (entry === 'unknown') return 'unknown';
  return entry === 'gone' || entry.zombie || entry.start !== pidStart ? 'dead' : 'alive';
}
