import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { formatCount, toPrintable } from '../../core/base/text.ts';
import type { WorkspacePaths } from '../../core/workspace/workspace-path.ts';
import type { Task } from '../tasks/index.ts';
import { readLedger } from './read.ts';

/** Explains why a task's ledger blocks its dispatch; null if it does not. */
export type LedgerGate = (task: Pick<Task, 'taskId' | 'ledger'>) => SvcError | null;

/** How many open items are named. */
const NAMED = 10;

/**
 * Creates the gate before a dispatch (03 §8). Its message is sent to the sender of the task, so it has only counts
 * and ids; the hint stays on this machine and names the locations.
 */
export function createLedgerGate({ paths }: { paths: WorkspacePaths }): LedgerGate {
  return ({ taskId, ledger }) => {
    if (ledger === null) return null;
    try {
      const named = paths.resolveNamed(ledger);
      const found = readLedger(named);
      const data = { task_id: taskId, ledger: named.key };
      if (found === null) {
        return new SvcError('ledger_gate', `the ledger of ${taskId} is missing`, {
          hint: `write ${toPrintable(named.key)}; list open questions in its section ## Clarify`,
          data: { ...data, open: [] },
        });
      }
      const open = found.clarify.items.filter((item) => !item.checked);
      if (open.length === 0) return null;
      const places = open.slice(0, NAMED).map(({ line }) => `${toPrintable(named.key)}:${line}`);
      const more = open.length > NAMED ? ` and ${open.length - NAMED} more` : '';
      const count = formatCount(open.length, 'item');
      return new SvcError('ledger_gate', `the ledger of ${taskId} has ${count} to clarify first`, {
        hint: `settle and check off ${places.join(', ')}${more}`,
        data: { ...data, open: open.map(({ item, line, text }) => ({ item, line, text })) },
      });
    } catch (thrown) {
      if (!(thrown instanceof SvcError)) throw thrown;
      const { message } = asSvcError(thrown);
      return new SvcError('ledger_gate', `the ledger of ${taskId} cannot be read`, {
        cause: thrown,
        hint: message,
        data: { task_id: taskId, ledger },
      });
    }
  };
}
