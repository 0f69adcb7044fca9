import * as decisions from '../acts/decisions.ts';
import * as deliveries from '../acts/deliveries.ts';
import * as tasks from '../acts/tasks.ts';
import * as workers from '../acts/workers.ts';
import type { State } from '../state/model.ts';
import { isWide } from '../state/size.ts';
import type { Binding } from './binding.ts';

const inTasks = { group: 'Tasks', panes: ['tasks'] } as const;
const inDecisions = { group: 'Decisions', panes: ['decisions'] } as const;
const inWorkers = { group: 'Workers', panes: ['workers'] } as const;

const sessionOfTask = (state: State): string | null => tasks.selectedTask(state)?.session_id ?? null;

/** Keys of one pane: what can be done with its selected row. */
export const ACTING: readonly Binding[] = [
  {
    id: 'approve',
    ...inDecisions,
    keys: ['a'],
    label: 'approve',
    about: 'approve the decision and start its agent',
    when: decisions.mayApprove,
    ask: decisions.approveQuestion,
    confirm: ['y'],
  },
  {
    id: 'deny',
    ...inDecisions,
    keys: ['d'],
    label: 'deny',
    about: 'deny it: y at once, r with a reason',
    when: decisions.mayDecide,
    ask: decisions.denyQuestion,
    confirm: ['y', 'r'],
  },
  {
    id: 'edit',
    ...inDecisions,
    keys: ['e'],
    label: 'edit',
    about: 'edit the prompt in $EDITOR, which makes a new decision',
    when: decisions.mayDecide,
    run: decisions.editPrompt,
  },

  {
    id: 'new',
    ...inTasks,
    view: 'list',
    keys: ['n'],
    label: 'new',
    about: 'create a task; nothing runs yet',
    when: tasks.mayAdd,
    run: tasks.newTask,
  },
  {
    id: 'run',
    ...inTasks,
    keys: ['r'],
    label: 'run',
    about: 'run the task, or a failed one again (spends tokens)',
    when: tasks.mayRun,
    ask: tasks.runQuestion,
    confirm: ['y'],
  },
  {
    id: 'assign',
    ...inTasks,
    keys: ['A'],
    label: 'assign',
    about: 'give the task to an agent',
    when: tasks.mayAssign,
    run: tasks.chooseAgent,
  },
  {
    id: 'cancel',
    ...inTasks,
    keys: ['x'],
    label: 'cancel',
    about: 'cancel the task; a worker is stopped, its work kept',
    when: tasks.mayEnd,
    ask: tasks.cancelQuestion,
    confirm: ['y'],
  },
  {
    id: 'done',
    ...inTasks,
    keys: ['D'],
    label: 'done',
    about: 'mark the task done (y) or failed (f) without a run',
    when: tasks.mayEnd,
    ask: tasks.doneQuestion,
    confirm: ['y', 'f'],
  },
  {
    id: 'log',
    ...inTasks,
    keys: ['l'],
    label: 'log',
    about: 'go to the worker of the task',
    offline: true,
    when: (state) => (sessionOfTask(state) === null ? 'no worker has run it' : null),
    run: (state) => workers.toWorker(state, sessionOfTask(state)!),
  },

  {
    id: 'follow',
    ...inWorkers,
    keys: ['f'],
    label: 'follow',
    about: 'pause the log, or follow it again',
    offline: true,
    when: (state) => (isWide(state.size) || state.workers === 'log' ? null : 'v shows the log'),
    run: workers.toggleFollow,
  },
  {
    id: 'view',
    ...inWorkers,
    keys: ['v'],
    label: 'log/work',
    about: 'show the log, or the commits and the diff',
    offline: true,
    run: workers.toggleView,
  },
  {
    id: 'promote',
    ...inWorkers,
    keys: ['p'],
    label: 'promote',
    about: 'bring the branch into its base: m merges, b rebases; never pushes',
    when: workers.mayPromote,
    ask: workers.promoteQuestion,
    confirm: ['m', 'b'],
  },
  {
    id: 'publish',
    ...inWorkers,
    keys: ['o'],
    label: 'PR',
    about: 'print the commands that open a pull request',
    offline: true,
    when: workers.mayPublish,
    run: workers.publish,
  },
  {
    id: 'stop',
    ...inWorkers,
    keys: ['x'],
    label: 'stop',
    about: 'stop the worker; what it has done is kept on its branch',
    when: workers.mayStop,
    ask: workers.stopQuestion,
    confirm: ['y'],
  },
  {
    id: 'retry',
    ...inWorkers,
    keys: ['r'],
    label: 'retry',
    about: 'run the failed task again (spends tokens)',
    when: workers.mayRetry,
    ask: workers.retryQuestion,
    confirm: ['y'],
  },
  {
    id: 'task',
    ...inWorkers,
    keys: ['t'],
    label: 'task',
    about: 'go to its task',
    offline: true,
    when: (state) => (workers.selectedSession(state) === undefined ? 'no worker is selected' : null),
    run: workers.toTask,
  },

  {
    id: 'redeliver',
    group: 'Deliveries',
    panes: ['deliveries'],
    keys: ['r'],
    label: 'send again',
    about: 'send the delivery again under the same message id',
    when: deliveries.mayRedeliver,
    ask: deliveries.redeliverQuestion,
    confirm: ['y'],
  },
];
