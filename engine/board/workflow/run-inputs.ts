import { listInputChanges, pickRacer, type RunInputs, readPromptInputs } from '../decisions/inputs.ts';
import type { DispatchOptions } from '../dispatch-options.ts';
import type { Task } from '../tasks/index.ts';
import type { Workflow, WorkflowDeps } from './workflow.ts';

/** Reads the inputs that a run of a task would have now. */
export function createRunInputs({
  tasks,
  decisions,
  dispatch,
}: Pick<WorkflowDeps, 'tasks' | 'decisions' | 'dispatch'>): Pick<Workflow, 'inputsOf' | 'changesSince'> {
  const inputsOf = (task: Task, options: DispatchOptions): RunInputs => ({
    ...dispatch.settings(task, options),
    ...readPromptInputs(task),
  });

  const changesSince: Workflow['changesSince'] = ({ decisionId, taskId }, racer) => {
    const { inputs, options } = decisions.boundTo(decisionId);
    const now = inputsOf(tasks.get(taskId), options);
    // Changes for another agent of the race do not matter here.
    return racer === undefined
      ? listInputChanges(inputs, now)
      : listInputChanges(inputs && pickRacer(inputs, racer), pickRacer(now, racer));
  };

  return { inputsOf, changesSince };
}
