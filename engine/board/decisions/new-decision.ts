import type { CallAuthor } from '../../core/api/operation.ts';
import type { Clock } from '../../core/base/clock.ts';
import { parseId } from '../../core/base/ids.ts';
import type { Storage } from '../../storage/index.ts';
import type { DispatchOptions } from '../dispatch-options.ts';
import type { Task } from '../tasks/index.ts';
import {
  hashSerializedInputs,
  INPUTS_VERSION,
  type InputChange,
  type RunInputs,
  serializeInputs,
} from './inputs.ts';
import { type Decision, type DecisionRow, toDecision } from './rows.ts';

/** The question for a person, and the reason. */
export interface DecisionQuestion {
  inputs: RunInputs;
  options?: DispatchOptions;
  why: string;
  /** The differences from the decision that it replaces. */
  changes?: readonly InputChange[];
}

/** Columns of a new decision; the others are null. */
const COLUMNS = [
  'task_id',
  'kind',
  'state',
  'agent',
  'project',
  'hash',
  'why',
  'source',
  'source_ref',
  'created_at',
  'decided_at',
  'decided_by',
  'decided_via',
  'inputs',
  'inputs_version',
  'options',
  'changes',
] as const satisfies (keyof DecisionRow)[];

/** Creates the insertion of new decisions, which are bound to their inputs. */
export function createDecisionInsert({ db }: Pick<Storage, 'db'>, clock: Pick<Clock, 'now'>) {
  const insert = db.prepare(
    `INSERT INTO decision (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`,
  );

  return (
    task: Task,
    state: 'pending' | 'approved',
    { inputs, options = {}, why, changes = [] }: DecisionQuestion,
    by: CallAuthor,
  ): Decision => {
    const now = clock.now();
    const isDecided = state === 'approved';
    const text = serializeInputs(inputs);
    const row: DecisionRow = {
      id: 0,
      task_id: parseId('t', task.taskId),
      kind: 'dispatch',
      state,
      agent: task.agent,
      project: task.project,
      hash: hashSerializedInputs(text),
      why,
      source: task.source,
      source_ref: task.sourceRef,
      created_at: now,
      decided_at: isDecided ? now : null,
      decided_by: isDecided ? by.actor : null,
      decided_via: isDecided ? by.via : null,
      reason: null,
      consumed_at: null,
      session_id: null,
      inputs: text,
      inputs_version: INPUTS_VERSION,
      options: serializeOptions(options),
      changes: changes.length === 0 ? null : JSON.stringify(changes),
    };
    row.id = Number(insert.run(COLUMNS.map((column) => row[column])).lastInsertRowid);
    return toDecision(row);
  };
}

/** Creates the binding of decisions to inputs and options. */
export function createDecisionBinder({ db }: Pick<Storage, 'db'>) {
  const bind = db.prepare(
    `UPDATE decision SET inputs = ?, inputs_version = ${INPUTS_VERSION}, hash = ?, options = ? WHERE id = ?`,
  );

  return (decisionId: string, { inputs, options }: { inputs: RunInputs; options: DispatchOptions }): void => {
    const text = serializeInputs(inputs);
    bind.run(text, hashSerializedInputs(text), serializeOptions(options), parseId('d', decisionId));
  };
}

/** Serializes the options as JSON, null for none. Caller and call key belong to one dispatch and are left out. */
function serializeOptions(options: DispatchOptions): string | null {
  if (Object.keys(options).length === 0) return null;
  const { parent: _, force: __, ...kept } = options;
  const text = JSON.stringify(kept, (_name, value) => (value === false ? undefined : value));
  return text === '{}' ? null : text;
}
