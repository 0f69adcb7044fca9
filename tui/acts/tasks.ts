import { duration, taskState, untilWords } from '../panes/words.ts';
import { detailOf } from '../state/details.ts';
import { EMPTY_INPUT } from '../state/input.ts';
import type { Plan, SessionRow, State, TaskRow } from '../state/model.ts';
import { withWorker } from './moving.ts';
import { call, type Question, type Step, said, step } from './step.ts';

export function selectedTask(state: State): TaskRow | undefined {
  const { selected } = state.lists.tasks;
  return selected === null ? undefined : state.data.tasks.get(selected);
}

const isEnded = (task: TaskRow): boolean => task.status === 'done' || task.status === 'failed';
const none = 'no task is selected';

const planOf = (state: State, { task_id: id }: TaskRow): Plan | undefined =>
  detailOf(state, 'task', id)?.detail?.plan;

/** Its ledger holds it back, which a person may override. */
export const isGated = ({ problem }: Plan): boolean => problem?.code === 'ledger_gate';

export const mayRun = (state: State): string | null => mayRunTask(state, selectedTask(state));
export const runQuestion = (state: State): Question => runTaskQuestion(state, selectedTask(state)!);

export function mayRunTask(state: State, task: TaskRow | undefined): string | null {
  if (task === undefined) return none;
  if (task.status === 'done') return `${task.task_id} is done`;
  if (task.status !== 'failed' && task.session_id !== null)
    return `${task.task_id} is ${taskState(task, state.now)} already`;
  const session = liveSessionOf(state, task);
  if (task.status === 'failed' && session !== null)
    return `${session.session_id} still works on it: x ends that`;
  const plan = planOf(state, task);
  if (plan === undefined) return 'what would run is still being fetched';
  return plan.problem === null || isGated(plan) ? null : `it could not start: ${plan.problem.message}`;
}

export function runTaskQuestion(state: State, task: TaskRow): Question {
  const plan = planOf(state, task)!;
  const { hash, agent, timeout_sec: timeout, starts, held_back: held } = plan;
  const again = task.status === 'failed';
  const verb = again ? 'Run again' : 'Run';
  const cost = `It spends ${agent}'s tokens, up to ${duration(timeout)}${starts === 'now' ? '' : held === null ? ', when a worker is free' : `, but it is held back ${untilWords(held.until, state.now)}`}.`;
  const { task_id: id } = task;
  const gate = isGated(plan) ? plan.problem : null;
  return {
    subject: { kind: 'task', id },
    text:
      gate === null
        ? `${verb} ${id} with ${agent}? ${cost}`
        : `HELD BY ITS LEDGER: ${gate.message}. ${verb} ${id} with ${agent} all the same? ${cost}`,
    answers: [
      gate === null
        ? { key: 'y', label: again ? 'run again' : 'run', run: (now) => run(now, id, { hash }, again) }
        : {
            key: 'f',
            label: 'force, which is recorded',
            run: (now) => run(now, id, { hash, force: true }, again),
          },
    ],
  };
}

const run = (state: State, id: string, how: { hash: string; force?: true }, again: boolean): Step =>
  call(state, {
    operation: again ? 'task.retry' : 'task.run',
    input: { id, ...how },
    busy: id,
    doing: `starting ${id}`,
    said: ({ session }) => `${id} starts as ${session?.session_id ?? 'soon as it can'}`,
    after: (later, { session }) => withWorker(later, session),
  });

export function mayEnd(state: State): string | null {
  const task = selectedTask(state);
  if (task === undefined) return none;
  return isEnded(task) && liveSessionOf(state, task) === null
    ? `${task.task_id} has ended (${task.status})`
    : null;
}

/** A worker marks its own task while it works; nobody else does. */
export function mayMark(state: State): string | null {
  const task = selectedTask(state);
  if (task === undefined) return none;
  if (isEnded(task)) return `${task.task_id} has ended (${task.status})`;
  const session = liveSessionOf(state, task);
  return session === null || session.state === 'queued'
    ? null
    : `${session.session_id} works on it: x ends that`;
}

/** Also of a task that its worker has marked already: the end of its run decides. */
function liveSessionOf({ data }: State, { session_id: id }: TaskRow): SessionRow | null {
  const session = id === null ? undefined : data.sessions.get(id);
  return session === undefined || session.state === 'ended' ? null : session;
}

export const cancelQuestion = (state: State): Question => cancel(selectedTask(state)!);

/** Stopping a worker and cancelling its task are one thing. */
export const cancel = (task: TaskRow): Question => {
  const { task_id: id, session_id: session } = task;
  return {
    subject: { kind: 'task', id },
    text:
      session === null
        ? `Cancel ${id}? It fails with code cancelled and can be retried.`
        : `Stop ${session} and cancel ${id}? What it has done so far is kept on its branch.`,
    answers: [
      {
        key: 'y',
        label: session === null ? 'cancel' : 'stop',
        run: (now) =>
          call(now, {
            operation: 'task.cancel',
            input: { id },
            busy: id,
            doing: `stopping ${id}`,
            said: () => `${id} is cancelled`,
          }),
      },
    ],
  };
};

export function doneQuestion(state: State): Question {
  const { task_id: id } = selectedTask(state)!;
  const mark = (status: 'done' | 'failed') => (now: State) =>
    call(now, {
      operation: 'task.done',
      input: { id, status },
      busy: id,
      doing: `marking ${id}`,
      said: () => `${id} is marked ${status}`,
    });
  return {
    subject: { kind: 'task', id },
    text: `Mark ${id} without running it?`,
    answers: [
      { key: 'y', label: 'done', run: mark('done') },
      { key: 'f', label: 'failed', run: mark('failed') },
    ],
  };
}

export function mayAssign(state: State): string | null {
  const task = selectedTask(state);
  if (task === undefined) return none;
  if (state.data.choices === null) return 'the agents are still being fetched';
  if (isEnded(task)) return `${task.task_id} has ended (${task.status})`;
  return task.session_id === null ? null : `${task.task_id} is ${taskState(task, state.now)} already`;
}

export function chooseAgent(state: State): Step {
  const task = selectedTask(state)!;
  const index = Math.max(
    0,
    state.data.choices!.agents.findIndex((each) => each.id === task.agent),
  );
  return step({ ...state, overlay: { kind: 'agent', task: task.task_id, index } });
}

export const assign = (state: State, id: string, agent: string): Step =>
  call(state, {
    operation: 'task.assign',
    input: { id, agent },
    busy: id,
    doing: `assigning ${id}`,
    said: () => `${id} is assigned to ${agent}; nothing runs yet`,
  });

export const mayAdd = (state: State): string | null =>
  state.data.choices === null ? 'the agents are still being fetched' : null;

export function newTask(state: State): Step {
  const { agents, default_agent: fallback } = state.data.choices!;
  const who = Math.max(
    0,
    agents.findIndex((each) => each.id === fallback),
  );
  return step({
    ...state,
    overlay: {
      kind: 'new-task',
      field: 0,
      who,
      project: 0,
      title: EMPTY_INPUT,
      prompt: '',
      criteria: '',
      context: '',
      ledger: EMPTY_INPUT,
    },
  });
}

/** One per line; a list as it is written in Markdown is understood. */
const criteriaOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.replace(/^\s*(?:[-*+]\s+(?:\[[ xX]\]\s+)?)?/, '').trim())
    .filter((line) => line !== '');

/** Creating a task spends nothing; running it is asked for apart. */
export function addTask(state: State): Step {
  const { overlay } = state;
  if (overlay?.kind !== 'new-task') return step(state);
  const { agents, templates, projects } = state.data.choices!;
  const template = templates[overlay.who - agents.length]?.id;
  const agent = agents[overlay.who]?.id;
  const project = projects[overlay.project];
  const title = overlay.title.value.trim();
  const { prompt, context } = overlay;
  const ledger = overlay.ledger.value.trim();
  const criteria = criteriaOf(overlay.criteria);
  if (title === '' && prompt.trim() === '' && template === undefined) {
    return step(
      said(state, 'a task needs a title or a prompt', 'bad', 'type a title, or press Ctrl-E for the prompt'),
    );
  }
  return call(
    { ...state, overlay: null },
    {
      operation: 'task.add',
      input: {
        ...(title === '' ? {} : { title }),
        ...(prompt.trim() === '' ? {} : { body: prompt }),
        ...(criteria.length === 0 ? {} : { acceptance_criteria: criteria }),
        ...(context.trim() === '' ? {} : { context }),
        ...(ledger === '' ? {} : { ledger }),
        ...(agent === undefined ? {} : { agent }),
        ...(template === undefined ? {} : { template }),
        ...(project === undefined || project.own ? {} : { project: project.id }),
      },
      busy: 'new task',
      doing: 'creating the task',
      said: (task) => `${task.task_id} is created; r runs it`,
      after: (later, task) => ({
        ...later,
        focus: 'tasks',
        view: 'list',
        jump: { pane: 'tasks', id: task.task_id },
      }),
    },
  );
}
