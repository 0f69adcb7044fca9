import { describeSensitive, formatCount, quoteForShell } from '../../engine/index.ts';
import { evidenceSummary, headOf } from '../panes/evidence.ts';
import { isUnread, sessionState } from '../panes/words.ts';
import { checkoutReason } from '../panes/work.ts';
import { detailOf } from '../state/details.ts';
import { followed, paused } from '../state/log.ts';
import type { Evidence, SessionRow, State, Trial } from '../state/model.ts';
import { isWide } from '../state/size.ts';
import { clean } from '../text.ts';
import { call, type Question, type Step, said, step } from './step.ts';
import { cancel, mayRunTask, runTaskQuestion } from './tasks.ts';

export function selectedSession(state: State): SessionRow | undefined {
  const { selected } = state.lists.workers;
  return selected === null ? undefined : state.data.sessions.get(selected);
}

const none = 'no worker is selected';
/** Files that a question names; the preview has them all. */
const SHOWN = 3;
const taskOf = (state: State) => state.data.tasks.get(selectedSession(state)?.task_id ?? '');

export const toggleFollow = (state: State): Step =>
  step({ ...state, log: state.log.following ? paused(state.log) : followed(state.log) });

/** Where both are on the screen, the log is what can still be opened. */
export const toggleView = (state: State): Step =>
  isWide(state.size) && state.view === 'list'
    ? step({ ...state, view: 'full', workers: 'log' })
    : step({ ...state, workers: state.workers === 'log' ? 'work' : 'log' });

export function mayStop(state: State): string | null {
  const session = selectedSession(state);
  if (session === undefined) return none;
  if (session.state === 'ended') return `${session.session_id} has ended`;
  if (session.stop_reason !== null) return `${session.session_id} is being stopped`;
  return taskOf(state) === undefined ? 'its task is still being fetched' : null;
}

export const stopQuestion = (state: State): Question => cancel(taskOf(state)!);

export function mayRetry(state: State): string | null {
  const session = selectedSession(state);
  if (session === undefined) return none;
  if (session.state !== 'ended') return `${session.session_id} is still ${sessionState(session)}`;
  const task = taskOf(state);
  return task?.status === 'done' ? `${task.task_id} is done` : mayRunTask(state, task);
}

export const retryQuestion = (state: State): Question => runTaskQuestion(state, taskOf(state)!);

/** From a worker to its task, where `r` shows what would run before it asks. */
export function toTask(state: State): Step {
  const id = selectedSession(state)!.task_id;
  return step({ ...state, focus: 'tasks', view: 'list', jump: { pane: 'tasks', id } });
}

/** From a task or decision to its latest run. */
export function toWorker(state: State, session: string): Step {
  return step({ ...state, focus: 'workers', view: 'list', jump: { pane: 'workers', id: session } });
}

const trialOf = (state: State): Trial | { problem: string } | undefined => {
  const session = selectedSession(state);
  return session === undefined ? undefined : detailOf(state, 'work', session.session_id)?.detail?.trial;
};

export function mayPromote(state: State): string | null {
  const session = selectedSession(state);
  if (session === undefined) return none;
  const id = session.session_id;
  if (session.state !== 'ended') return `${id} is still ${sessionState(session)}`;
  if (session.branch === null) return `${id} has no branch of its own`;
  if (isUnread(session)) return `what ${id} did could not be read: look at its folder by hand`;
  if ((session.commits ?? 0) === 0) return `${id} has no commits`;
  if (session.promoted_at !== null || session.branch_state === 'merged') return `${id} was merged already`;
  if (session.branch_state === 'gone') return `the branch of ${id} is gone`;
  const trial = trialOf(state);
  if (trial === undefined) return 'the trial merge is still under way';
  if ('problem' in trial) return trial.problem;
  if (trial.conflicts.length > 0) return `conflicts in ${trial.conflicts.join(', ')}`;
  if (trial.checkout.state === 'dirty') return checkoutReason(trial);
  return detailOf(state, 'evidence', id) === undefined ? 'its evidence is still being fetched' : null;
}

/** What a person has to know of the evidence before they merge; null when all is well. */
function doubt(state: State, id: string): string | null {
  const { detail, problem } = detailOf(state, 'evidence', id) ?? {};
  if (!detail) return `its evidence could not be read (${problem ?? 'unknown'})`;
  const { text, isGood } = evidenceSummary(detail, headOf(detailOf(state, 'work', id)?.detail));
  return isGood ? null : text.replace(/^verify_report: /, '').replace(/not verified · /, '');
}

/** The worker's run of the selected row: in Workers itself, in Tasks its latest. */
function evidenceOf(
  state: State,
): { id: string; session: SessionRow | undefined; evidence: Evidence | null } | null {
  const id =
    state.focus === 'tasks'
      ? (state.data.tasks.get(state.lists.tasks.selected ?? '')?.session_id ?? null)
      : state.lists.workers.selected;
  if (id === null) return null;
  return {
    id,
    session: state.data.sessions.get(id),
    evidence: detailOf(state, 'evidence', id)?.detail ?? null,
  };
}

export function mayRerun(state: State): string | null {
  const shown = evidenceOf(state);
  if (shown === null) return state.focus === 'tasks' ? 'no worker has run it' : none;
  const { id, session, evidence } = shown;
  if (session !== undefined && session.state !== 'ended') return `${id} is still ${sessionState(session)}`;
  // In Tasks it is shown below what is known of the task.
  const task = state.lists.tasks.selected ?? '';
  if (evidence === null || (state.focus === 'tasks' && !detailOf(state, 'task', task)?.detail))
    return `the evidence of ${id} is still being fetched`;
  return evidence.tests.length === 0 ? `${id} has reported no tests` : null;
}

const rerunText = ({ session_id: id, rerun, state }: Evidence): string =>
  rerun?.agrees === false
    ? `${id}: a command did not end as it was reported; the preview has its output`
    : `${id}: every command ended as it was reported; the evidence is ${state === 'none' ? 'empty' : state}`;

/** Runs commands that a worker named, so they are shown and it asks. */
export function rerunQuestion(state: State): Question {
  const { id, evidence } = evidenceOf(state)!;
  const commands = evidence!.tests.map((each) => each.command);
  return {
    subject: { kind: 'session', id },
    text: `Run ${formatCount(commands.length, 'reported command')} in a clean checkout of ${id}? ${commands.join(' ; ')}`,
    answers: [
      {
        key: 'y',
        label: 'run',
        run: (now) =>
          call(now, {
            operation: 'verify.rerun',
            input: { session: id },
            busy: id,
            doing: `running the tests of ${id} again`,
            said: (answer) => rerunText(answer),
            // Good news are green, and this may be none.
            after: (later, answer) =>
              answer.rerun?.agrees === false ? said(later, rerunText(answer), 'bad') : later,
          }),
      },
    ],
  };
}

export function promoteQuestion(state: State): Question {
  const { session_id: id } = selectedSession(state)!;
  const { branch, base, head, sensitive } = trialOf(state) as Trial;
  const warning = doubt(state, id);
  const named = sensitive.length === 0 ? '' : ` LOOK AT ${clean(describeSensitive(sensitive, SHOWN))}.`;
  const run = (strategy: 'merge' | 'rebase') => (now: State) =>
    call(now, {
      operation: 'worktree.promote',
      input: { session: id, strategy, base, head },
      busy: id,
      doing: `promoting ${branch}`,
      said: (promoted) =>
        promoted.already_merged
          ? `${base} held ${branch} already`
          : `${branch} is in ${base} (${strategy}, ${promoted.after.slice(0, 10)}); nothing was pushed`,
    });
  return {
    subject: { kind: 'session', id },
    text: `Promote ${branch} into ${base}?${named}${warning === null ? ' It is verified.' : ` NOT VERIFIED: ${warning}.`}`,
    answers: [
      { key: 'm', label: 'merge', run: run('merge') },
      { key: 'b', label: 'rebase', run: run('rebase') },
    ],
  };
}

export function mayPublish(state: State): string | null {
  const session = selectedSession(state);
  if (session === undefined) return none;
  if (session.branch === null) return `${session.session_id} has no branch of its own`;
  return (session.commits ?? 0) > 0 ? null : `${session.session_id} has no commits`;
}

/** The commands that a person would type; svc itself never pushes. Also left on the terminal after quitting. */
export function publish(state: State): Step {
  const session = selectedSession(state)!;
  const { branch, base, title, task_id: task, repository } = session;
  const lines = [
    ...(repository === null ? [] : [`cd ${quoteForShell(repository)}`]),
    `git push --set-upstream origin ${quoteForShell(branch!)}`,
    `gh pr create --head ${quoteForShell(branch!)} --base ${quoteForShell(base ?? 'main')} --title ${quoteForShell(clean(title))} --body ${quoteForShell(`${task}, run ${session.session_id}`)}`,
  ];
  return step({
    ...state,
    overlay: { kind: 'text', title: 'Open a pull request', lines, top: 0 },
    farewell: [...state.farewell.filter((line) => !lines.includes(line)), ...lines],
  });
}
