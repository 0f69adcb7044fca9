import { countUnseen, describeUnseen } from '../../engine/core/base/text.ts';
import { nameTaskState } from '../../engine/index.ts';
import { describeRetryTime, formatSeconds } from '../panes/time.ts';
import { findDetail } from '../state/details.ts';
import { createInput, EMPTY_INPUT } from '../state/input.ts';
import type { DetailSubject, State } from '../state/model.ts';
import { type NewTaskForm, TASK_PRIORITIES } from '../state/overlays.ts';
import type { ListedPlan, ShownSession, ShownTask } from '../state/rows.ts';
import { getSelectedSession, getSelectedTask } from '../state/selection.ts';
import { jumpToRun } from './navigation.ts';
import {
  callEngine,
  type ScreenQuestion,
  type StateTransition,
  showMessage,
  transitionTo,
} from './transition.ts';

/** Reports whether the task of the selected or a marked row is not done. */
export const mayBeRun = (state: State): boolean =>
  state.lists.work.marks.size > 0 || getSelectedTask(state)?.status !== 'done';

const isEndedTask = (task: ShownTask): boolean => task.status === 'done' || task.status === 'failed';
const NOTHING_SELECTED = 'no task is selected';

const findTaskPlan = (state: State, { task_id: id }: ShownTask): ListedPlan | undefined =>
  findDetail(state, 'task', id)?.detail?.plan;

/** Warns, in a question, of a prompt that is not what it looks like; empty for any other prompt. */
export function warnOfPrompt(state: State, task: string): string {
  const holds = describeUnseen(countUnseen(findDetail(state, 'task', task)?.detail?.task.prompt ?? ''));
  return holds === null ? '' : `ITS PROMPT ${holds}. `;
}

/** Reports whether only its ledger blocks the task. A person may override that. */
export const isHeldByLedger = ({ problem }: ListedPlan): boolean => problem?.code === 'ledger_gate';

export const checkCanRunSelectedTask = (state: State): string | null =>
  getSelectedTask(state) === undefined && getSelectedSession(state) !== undefined
    ? 'its task is still being fetched'
    : checkCanRunTask(state, getSelectedTask(state));
/** Names what is still being fetched before a run can be answered. */
export function describeRunCheck(state: State): { subject: DetailSubject; text: string } | null {
  const task = getSelectedTask(state);
  if (task === undefined || findTaskPlan(state, task) !== undefined) return null;
  return { subject: { kind: 'task', id: task.task_id }, text: 'reading what would run …' };
}

export const askToRunSelectedTask = (state: State): ScreenQuestion =>
  askToRunTask(state, getSelectedTask(state)!);

function checkCanRunTask(state: State, task: ShownTask | undefined): string | null {
  if (task === undefined) return NOTHING_SELECTED;
  if (task.status === 'done') return `${task.task_id} is done`;
  if (task.status !== 'failed' && (task.session_id !== null || task.race !== null))
    return `${task.task_id} is ${nameTaskState(task, state.now)} already`;
  const session = findLiveSession(state, task);
  if (task.status === 'failed' && session !== null)
    return `${session.session_id} still works on it: x stops it`;
  const plan = findTaskPlan(state, task);
  if (plan === undefined) return null;
  return plan.problem === null || isHeldByLedger(plan) ? null : `it could not start: ${plan.problem.message}`;
}

function askToRunTask(state: State, task: ShownTask): ScreenQuestion {
  const plan = findTaskPlan(state, task)!;
  const { hash, agent, timeout_sec: timeout, starts, held_back: held } = plan;
  const again = task.status === 'failed';
  const verb = again ? 'Run again' : 'Run';
  const cost = `It spends ${agent}'s tokens, up to ${formatSeconds(timeout)}${starts === 'now' ? '' : held === null ? ', when a worker is free' : `, but it is suspended ${describeRetryTime(held.until, state.now)}`}.`;
  const { task_id: id } = task;
  const from = state.bases[id] === undefined ? '' : ` from ${state.bases[id]}`;
  const gate = isHeldByLedger(plan) ? plan.problem : null;
  const warning = warnOfPrompt(state, id);
  return {
    subject: { kind: 'task', id },
    text:
      gate === null
        ? `${warning}${verb} ${id} with ${agent}${from}? ${cost}`
        : `${warning}HELD BY ITS LEDGER: ${gate.message}. ${verb} ${id} with ${agent}${from} anyway? ${cost}`,
    answers: [
      gate === null
        ? { key: 'y', label: again ? 'run again' : 'run', run: (now) => startTask(now, id, { hash }, again) }
        : {
            key: 'f',
            label: 'force (recorded)',
            run: (now) => startTask(now, id, { hash, force: true }, again),
          },
    ],
  };
}

const startTask = (
  state: State,
  id: string,
  how: { hash: string; force?: true },
  again: boolean,
): StateTransition =>
  callEngine(state, {
    operation: again ? 'task.retry' : 'task.run',
    input: { id, ...how, ...(state.bases[id] === undefined || again ? {} : { base: state.bases[id] }) },
    busy: id,
    doing: `starting ${id}`,
    describeAnswer: ({ session }) => `${id} starts as ${session?.session_id ?? 'soon as it can'}`,
    onAnswer: (later, { session }) => jumpToRun(later, session),
  });

export function checkCanCancelTask(state: State): string | null {
  const task = getSelectedTask(state);
  if (task === undefined) return NOTHING_SELECTED;
  return isEndedTask(task) && findLiveSession(state, task) === null
    ? `${task.task_id} has ended (${task.status})`
    : null;
}

/** While a worker runs, only that worker marks its task. */
export function checkCanMarkTask(state: State): string | null {
  const task = getSelectedTask(state);
  if (task === undefined) return NOTHING_SELECTED;
  if (isEndedTask(task)) return `${task.task_id} has ended (${task.status})`;
  if (task.race !== null) return `${task.task_id} is in a race: C compares, and one is promoted`;
  const session = findLiveSession(state, task);
  return session === null || session.state === 'queued'
    ? null
    : `${session.session_id} works on it: x stops it`;
}

/** The live session of a task. A worker may have marked its task already, but the end of the run decides. */
function findLiveSession({ data }: State, { session_id: id }: ShownTask): ShownSession | null {
  const session = id === null ? undefined : data.sessions.get(id);
  return session === undefined || session.state === 'ended' ? null : session;
}

/** Asks to cancel a task, which stops its worker too. */
export const askToCancelTask = (task: ShownTask): ScreenQuestion => {
  const { task_id: id, session_id: session } = task;
  return {
    subject: { kind: 'task', id },
    text:
      task.race !== null
        ? `Stop every worker of the race of ${id} and cancel it? Their work so far is kept on their branches.`
        : session === null
          ? `Cancel ${id}? It fails with code cancelled and can be retried.`
          : `Stop ${session} and cancel ${id}? The work so far is kept on its branch.`,
    answers: [
      {
        key: 'y',
        label: session === null ? 'cancel' : 'stop',
        run: (now) =>
          callEngine(now, {
            operation: 'task.cancel',
            input: { id },
            busy: id,
            doing: `stopping ${id}`,
            describeAnswer: () => `${id} is cancelled`,
          }),
      },
    ],
  };
};

export function askToMarkTask(state: State): ScreenQuestion {
  const { task_id: id } = getSelectedTask(state)!;
  const markAs = (status: 'done' | 'failed') => (now: State) =>
    callEngine(now, {
      operation: 'task.done',
      input: { id, status },
      busy: id,
      doing: `marking ${id}`,
      describeAnswer: () => `${id} is marked ${status}`,
    });
  return {
    subject: { kind: 'task', id },
    text: `Mark ${id} without running it?`,
    answers: [
      { key: 'y', label: 'done', run: markAs('done') },
      { key: 'f', label: 'failed', run: markAs('failed') },
    ],
  };
}

export function checkCanAssignTask(state: State): string | null {
  const task = getSelectedTask(state);
  if (task === undefined) return NOTHING_SELECTED;
  if (state.data.choices === null) return 'the agents are still being fetched';
  if (isEndedTask(task)) return `${task.task_id} has ended (${task.status})`;
  return task.session_id === null && task.race === null
    ? null
    : `${task.task_id} is ${nameTaskState(task, state.now)} already`;
}

export function openAgentChoice(state: State): StateTransition {
  const task = getSelectedTask(state)!;
  const index = Math.max(
    0,
    state.data.choices!.agents.findIndex((each) => each.id === task.agent),
  );
  return transitionTo({ ...state, overlay: { kind: 'agent', task: task.task_id, index } });
}

export const assignTask = (state: State, id: string, agent: string): StateTransition =>
  callEngine(state, {
    operation: 'task.assign',
    input: { id, agent },
    busy: id,
    doing: `assigning ${id}`,
    describeAnswer: () => `${id} is assigned to ${agent}; nothing runs yet`,
  });

export const checkCanAddTask = (state: State): string | null =>
  state.data.choices === null ? 'the agents are still being fetched' : null;

export function openNewTask(state: State): StateTransition {
  const { agents, default_agent: fallback } = state.data.choices!;
  if (state.draft !== null)
    return transitionTo({ ...state, overlay: state.draft, draft: null, message: null });
  const who = Math.max(
    0,
    agents.findIndex((each) => each.id === fallback),
  );
  const overlay: NewTaskForm = {
    kind: 'new-task',
    field: 0,
    title: EMPTY_INPUT,
    prompt: EMPTY_INPUT,
    who,
    base: EMPTY_INPUT,
    priority: 0,
    timeout: EMPTY_INPUT,
    project: 0,
    criteria: '',
    context: '',
    ledger: EMPTY_INPUT,
  };
  return transitionTo({ ...state, overlay });
}

const SECONDS = { '': 1, s: 1, m: 60, h: 3600 } as const;

/** Reads a time such as `600`, `30m` or `2h` in seconds; null if it is none. */
function parseSeconds(text: string): number | null {
  const [, count, unit] = /^(\d+) ?([smh]?)$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * SECONDS[unit as keyof typeof SECONDS];
}

/** Explains what is wrong with the form; null if it can be sent. */
function checkForm({ title, prompt, timeout }: NewTaskForm, hasTemplate: boolean): string | null {
  if (title.value.trim() === '' && prompt.value.trim() === '' && !hasTemplate)
    return 'a task needs a title or a prompt';
  const time = timeout.value.trim();
  return time === '' || parseSeconds(time) !== null ? null : 'timeout: a number of seconds, or 30m, or 2h';
}

/** Reads acceptance criteria, one per line. Markdown bullets and check boxes are dropped. */
const parseCriteria = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.replace(/^\s*(?:[-*+]\s+(?:\[[ xX]\]\s+)?)?/, '').trim())
    .filter((line) => line !== '');

/** Hands the terminal to the person's git, which fetches a pull request as a branch; then creates the task. */
function fetchPullRequestBase(state: State, form: NewTaskForm, number: string): StateTransition {
  const project = state.data.choices!.projects[form.project];
  const where = project === undefined || project.own ? [] : ['--project', project.id];
  return transitionTo(state, {
    do: 'command',
    words: ['worktree', 'fetch', number, ...where],
    onExit: (now, code) =>
      code === 0
        ? { ...now, overlay: { ...form, base: createInput(`pr-${number}`) } }
        : showMessage(now, `#${number} was not fetched, and no task was created`, 'bad'),
    next: createNewTask,
  });
}

/** Creates the task of the form. That spends nothing; running it is a separate step. */
export function createNewTask(state: State): StateTransition {
  const { overlay } = state;
  if (overlay?.kind !== 'new-task') return transitionTo(state);
  const { agents, templates, projects } = state.data.choices!;
  const template = templates[overlay.who - agents.length]?.id;
  const agent = agents[overlay.who]?.id;
  const project = projects[overlay.project];
  const problem = checkForm(overlay, template !== undefined);
  if (problem !== null) return transitionTo(showMessage(state, problem, 'bad'));
  const trim = (input: { value: string }): string => input.value.trim();
  const [title = '', ledger = '', base = ''] = [overlay.title, overlay.ledger, overlay.base].map(trim);
  const timeout = parseSeconds(trim(overlay.timeout));
  const [, pullRequest] = /^#(\d{1,9})$/.exec(base) ?? [];
  if (pullRequest !== undefined) return fetchPullRequestBase(state, overlay, pullRequest);
  const prompt = overlay.prompt.value.trimEnd();
  const { context } = overlay;
  const criteria = parseCriteria(overlay.criteria);
  return callEngine(
    { ...state, overlay: null },
    {
      operation: 'task.add',
      input: {
        ...(title ? { title } : {}),
        ...(prompt.trim() === '' ? {} : { body: prompt }),
        ...(criteria.length === 0 ? {} : { acceptance_criteria: criteria }),
        ...(context.trim() === '' ? {} : { context }),
        ...(ledger ? { ledger } : {}),
        ...(overlay.priority === 0 ? {} : { priority: TASK_PRIORITIES[overlay.priority]! }),
        ...(timeout === null ? {} : { timeout_sec: timeout }),
        ...(agent === undefined ? {} : { agent }),
        ...(template === undefined ? {} : { template }),
        ...(project === undefined || project.own ? {} : { project: project.id }),
      },
      busy: 'new task',
      form: overlay,
      doing: 'creating the task',
      describeAnswer: ({ task_id: id }) => `${id} is created; r runs it`,
      onAnswer: (later, { task_id: id, agent: assigned }) => ({
        ...later,
        focus: 'work',
        view: 'list',
        bases: base ? { ...later.bases, [id]: base } : later.bases,
        jump: { pane: 'work', id, ...(assigned === null ? {} : { ask: 'run' }) },
      }),
    },
  );
}
