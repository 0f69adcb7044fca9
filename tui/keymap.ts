import * as decisions from './acts/decisions.ts';
import * as deliveries from './acts/deliveries.ts';
import * as moving from './acts/moving.ts';
import { type Question, type Step, step } from './acts/step.ts';
import * as tasks from './acts/tasks.ts';
import * as workers from './acts/workers.ts';
import { isWide } from './layout/layout.ts';
import { PANES } from './panes/index.ts';
import { EMPTY_INPUT } from './state/input.ts';
import type { PaneId, State } from './state/model.ts';

export const GROUPS = [
  'Move',
  'Panes',
  'View',
  'Decisions',
  'Tasks',
  'Workers',
  'Deliveries',
  'Program',
] as const;
export type Group = (typeof GROUPS)[number];

/** A key and what it does: input, hint bar, help, palette and docs/keys.md all come from this table. */
export interface Binding {
  id: string;
  group: Group;
  /** As `keyName` spells them; the first is shown. */
  keys: readonly string[];
  /** One or two words for the hint bar. */
  label: string;
  about: string;
  /** Without it, in every pane. */
  panes?: readonly PaneId[];
  /** Only in this view. */
  view?: State['view'];
  /** Accepted from a burst of keys: it only moves. */
  moves?: true;
  /** Works while the engine is away. */
  offline?: true;
  /** Left out of the hint bar. */
  quiet?: true;
  /** Why it cannot be done now; null when it can. */
  when?(state: State): string | null;
  run?(state: State): Step;
  /** Asks first: what spends, destroys or sends is confirmed by a second, different key, one of `confirm`. */
  ask?(state: State): Question;
  confirm?: readonly string[];
}

const isLost = (state: State): boolean => state.link.phase === 'lost';
const inTasks = { group: 'Tasks', panes: ['tasks'] } as const;
const inDecisions = { group: 'Decisions', panes: ['decisions'] } as const;
const inWorkers = { group: 'Workers', panes: ['workers'] } as const;
const moves = { group: 'Move', moves: true, offline: true, quiet: true } as const;
const always = { offline: true, quiet: true } as const;

const sessionOfTask = (state: State): string | null => tasks.selectedTask(state)?.session_id ?? null;

export const KEYMAP: readonly Binding[] = [
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

  {
    id: 'open',
    group: 'View',
    view: 'list',
    keys: ['enter'],
    label: 'read',
    about: 'open the preview over the whole screen',
    offline: true,
    run: moving.open,
  },
  {
    id: 'back',
    group: 'View',
    view: 'full',
    keys: ['esc'],
    label: 'back',
    about: 'one level back: search, full view, message, filter',
    offline: true,
    run: moving.back,
  },
  {
    id: 'clear',
    group: 'View',
    view: 'list',
    keys: ['esc'],
    label: 'clear',
    about: 'clear the message, then the filter',
    offline: true,
    quiet: true,
    run: moving.back,
  },
  {
    id: 'filter',
    group: 'View',
    view: 'list',
    keys: ['/'],
    label: 'filter',
    about: 'filter the list: status:failed agent:claude !word',
    offline: true,
    run: moving.filter,
  },
  {
    id: 'search',
    group: 'View',
    view: 'full',
    keys: ['/'],
    label: 'search',
    about: 'search the text; n and N go to the next line that holds it, and to the one before',
    offline: true,
    run: moving.search,
  },
  {
    id: 'hit',
    group: 'View',
    view: 'full',
    keys: ['n'],
    label: 'next hit',
    about: 'next line that holds what was searched for',
    offline: true,
    when: (state) => (state.search === null ? '/ searches first' : null),
    run: moving.nextHit(1),
  },
  {
    id: 'hit-back',
    ...always,
    group: 'View',
    view: 'full',
    keys: ['N'],
    label: 'previous hit',
    about: 'the hit before',
    when: (state) => (state.search === null ? '/ searches first' : null),
    run: moving.nextHit(-1),
  },

  {
    id: 'waiting',
    group: 'Panes',
    keys: ['.'],
    label: 'next waiting',
    about: 'go to the next thing that waits for you',
    offline: true,
    run: moving.nextWaiting,
  },
  ...PANES.map(
    (each): Binding => ({
      id: `pane-${each.id}`,
      ...always,
      group: 'Panes',
      keys: [each.digit],
      label: each.title,
      about: `go to ${each.title}`,
      run: moving.focusOn(each.id),
    }),
  ),
  {
    id: 'next-pane',
    ...always,
    group: 'Panes',
    keys: ['tab'],
    label: 'next pane',
    about: 'next pane',
    run: moving.nextPane(1),
  },
  {
    id: 'previous-pane',
    ...always,
    group: 'Panes',
    keys: ['shift+tab'],
    label: 'previous pane',
    about: 'pane before',
    run: moving.nextPane(-1),
  },

  { id: 'up', ...moves, keys: ['k', 'up', 'ctrl+p'], label: 'up', about: 'row or line up', run: moving.up },
  {
    id: 'down',
    ...moves,
    keys: ['j', 'down', 'ctrl+n'],
    label: 'down',
    about: 'row or line down',
    run: moving.down,
  },
  { id: 'top', ...moves, keys: ['g', 'home'], label: 'top', about: 'first row or line', run: moving.top },
  { id: 'bottom', ...moves, keys: ['G', 'end'], label: 'end', about: 'last row or line', run: moving.bottom },
  {
    id: 'list-up',
    ...moves,
    keys: ['ctrl+b', 'ctrl+u'],
    label: 'screen up',
    about: 'a screen of rows up',
    run: moving.listUp,
  },
  {
    id: 'list-down',
    ...moves,
    keys: ['ctrl+f', 'ctrl+d'],
    label: 'screen down',
    about: 'a screen of rows down',
    run: moving.listDown,
  },
  {
    id: 'page-up',
    ...moves,
    keys: ['pageup'],
    label: 'page up',
    about: 'scroll the preview up',
    run: moving.pageUp,
  },
  {
    id: 'page-down',
    ...moves,
    keys: ['pagedown', 'space'],
    label: 'page down',
    about: 'scroll the preview down',
    run: moving.pageDown,
  },
  {
    id: 'left',
    ...moves,
    keys: ['left'],
    label: 'left',
    about: 'scroll the preview to the left',
    run: moving.sideways(-8),
  },
  {
    id: 'right',
    ...moves,
    keys: ['right'],
    label: 'right',
    about: 'scroll the preview to the right',
    run: moving.sideways(8),
  },

  {
    id: 'palette',
    group: 'Program',
    keys: [':'],
    label: 'commands',
    about: 'every action by name',
    offline: true,
    run: (state) => step({ ...state, overlay: { kind: 'palette', input: EMPTY_INPUT, index: 0 } }),
  },
  {
    id: 'help',
    group: 'Program',
    keys: ['?'],
    label: 'help',
    about: 'these keys, searchable; Enter runs one',
    offline: true,
    run: (state) => step({ ...state, overlay: { kind: 'help', input: EMPTY_INPUT, index: 0 } }),
  },
  {
    id: 'engine',
    ...always,
    group: 'Program',
    keys: ['i'],
    label: 'engine',
    about: 'what runs, where it listens, what it uses',
    run: (state) => step({ ...state, overlay: { kind: 'engine' } }),
  },
  {
    id: 'message',
    ...always,
    group: 'Program',
    keys: ['!'],
    label: 'message',
    about: 'the last message in full',
    when: (state) => (state.message === null ? 'there is no message' : null),
    run: (state) =>
      step({
        ...state,
        overlay: {
          kind: 'text',
          title: 'Message',
          lines: [state.message!.text, ...(state.message!.hint ? [`next: ${state.message!.hint}`] : [])],
          top: 0,
        },
      }),
  },
  {
    id: 'start-engine',
    group: 'Program',
    keys: ['u'],
    label: 'start engine',
    about: 'start the engine when none runs',
    offline: true,
    quiet: true,
    when: (state) => (isLost(state) ? null : 'the engine runs'),
    run: (state) => step(state, { do: 'start-engine' }),
  },
  {
    id: 'redraw',
    ...always,
    group: 'Program',
    keys: ['ctrl+l'],
    label: 'redraw',
    about: 'draw the screen anew',
    run: (state) => step(state, { do: 'redraw' }),
  },
  {
    id: 'suspend',
    ...always,
    group: 'Program',
    keys: ['ctrl+z'],
    label: 'suspend',
    about: 'back to the shell; fg returns',
    run: (state) => step(state, { do: 'suspend' }),
  },
  {
    id: 'quit',
    group: 'Program',
    keys: ['q', 'ctrl+c'],
    label: 'quit',
    about: 'leave the dashboard; the engine goes on',
    offline: true,
    run: (state) => step(state, { do: 'quit' }),
  },
];

/** Whether a binding belongs to where the keyboard is. */
export const isHere = (binding: Binding, state: Pick<State, 'focus' | 'view'>): boolean =>
  (binding.panes?.includes(state.focus) ?? true) && (binding.view ?? state.view) === state.view;

/** Why a binding cannot be used now; null when it can. */
export const reasonAgainst = (binding: Binding, state: State): string | null =>
  isLost(state) && !binding.offline ? 'the engine is away; u starts it' : (binding.when?.(state) ?? null);

export const bindingFor = (key: string, state: State): Binding | undefined =>
  KEYMAP.find((each) => each.keys.includes(key) && isHere(each, state));
