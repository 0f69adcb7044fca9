import { describeUnseen, formatCount } from '../../engine/core/base/text.ts';
import {
  describeSensitive,
  nameSessionState,
  type PromoteStrategy,
  selectRerunCommands,
} from '../../engine/index.ts';
import { explainDoubt, getTrialHead } from '../panes/evidence.ts';
import { countUnseenOfPatch } from '../panes/patch-lines.ts';
import { isUnreadableWork } from '../panes/states.ts';
import { explainCheckout } from '../panes/work-lines.ts';
import { findDetail } from '../state/details.ts';
import { pauseLog, resumeLog } from '../state/log.ts';
import type { DetailSubject, RunText, State } from '../state/model.ts';
import type { ListedEvidence, ListedTrial } from '../state/rows.ts';
import { getRunText, getSelectedSession, getSelectedTask } from '../state/selection.ts';
import { findRowOfSession } from '../state/work-items.ts';
import { cleanText } from '../text/text.ts';
import { describeOthers, describeSquash } from './races.ts';
import { askToCancelTask, checkCanCancelTask } from './tasks.ts';
import {
  callEngine,
  type ScreenQuestion,
  type StateTransition,
  showMessage,
  transitionTo,
} from './transition.ts';

const NOTHING_SELECTED = 'no worker is selected';
/** How many files a question names; the preview lists them all. */
const MOST_NAMED_FILES = 3;

export const toggleLogFollowing = (state: State): StateTransition =>
  transitionTo({ ...state, log: state.log.following ? pauseLog(state.log) : resumeLog(state.log) });

/** Chooses what the text of the selected run is. */
const showRunText = (state: State, as: RunText): StateTransition =>
  transitionTo({ ...state, shown: { row: state.lists.work.selected!, as } });

/** Switches between the log of the selected run and its work. */
export const toggleRunText = (state: State): StateTransition =>
  showRunText(state, getRunText(state) === 'log' ? 'work' : 'log');

/** Switches between the task of the selected run, with prompt and history, and the text that fits the run's state. */
export const toggleTaskText = (state: State): StateTransition =>
  getRunText(state) === 'task' ? transitionTo({ ...state, shown: null }) : showRunText(state, 'task');

export function checkCanStop(state: State): string | null {
  const session = getSelectedSession(state);
  if (session === undefined || session.state === 'ended') return checkCanCancelTask(state);
  if (session.stop_reason !== null) return `${session.session_id} is being stopped`;
  return getSelectedTask(state) === undefined ? 'its task is still being fetched' : null;
}

export function checkCanMessage(state: State): string | null {
  const session = getSelectedSession(state);
  if (session === undefined) return NOTHING_SELECTED;
  return session.state === 'ended'
    ? `${session.session_id} has finished; press F to give it more work`
    : null;
}

export function checkCanInterrupt(state: State): string | null {
  const reason = checkCanMessage(state);
  const session = getSelectedSession(state);
  if (reason !== null || session === undefined) return reason;
  const { session_id: id, state: at, transport } = session;
  if (at !== 'running') return `${id} is ${nameSessionState(session)}`;
  return transport === 'acp' ? null : `${id} does not run over the agent client protocol; x stops it`;
}

export function askToInterrupt(state: State): ScreenQuestion {
  const { session_id: id } = getSelectedSession(state)!;
  return {
    subject: { kind: 'session', id },
    text: `Interrupt ${id}, so that it reads its messages now?`,
    answers: [
      {
        key: 'y',
        label: 'interrupt',
        run: (now) =>
          callEngine(now, {
            operation: 'worker.interrupt',
            input: { session: id },
            busy: id,
            doing: `interrupting ${id}`,
            describeAnswer: () => `${id} is interrupted if it has an unread message`,
          }),
      },
    ],
  };
}

/** Asks to stop a run or a task, which cancels the task; in a race only this run is stopped. */
export function askToStop(state: State): ScreenQuestion {
  const session = getSelectedSession(state);
  if (session === undefined || session.state === 'ended' || session.race === null)
    return askToCancelTask(getSelectedTask(state)!);
  const { session_id: id } = session;
  return {
    subject: { kind: 'session', id },
    text: `Stop ${id}? The other sessions of its race continue. The work so far is kept on its branch.`,
    answers: [
      {
        key: 'y',
        label: 'stop',
        run: (now) =>
          callEngine(now, {
            operation: 'worker.kill',
            input: { session: id },
            busy: id,
            doing: `stopping ${id}`,
            describeAnswer: () => `${id} is stopped`,
          }),
      },
    ],
  };
}

/** Goes to the row of a run, for example from its message. */
export function goToRun(state: State, session: string): StateTransition {
  const jump = { pane: 'work', id: findRowOfSession(state.data, session) } as const;
  return transitionTo({ ...state, focus: 'work', view: 'list', jump });
}

const findTrial = (state: State): ListedTrial | { problem: string } | undefined => {
  const session = getSelectedSession(state);
  return session === undefined ? undefined : findDetail(state, 'work', session.session_id)?.detail?.trial;
};

export function checkCanPromote(state: State): string | null {
  const session = getSelectedSession(state);
  if (session === undefined) return NOTHING_SELECTED;
  const id = session.session_id;
  if (session.state !== 'ended') return `${id} is still ${nameSessionState(session)}`;
  if (session.branch === null) return `${id} has no branch`;
  if (isUnreadableWork(session)) return `the work of ${id} could not be read: check its folder by hand`;
  if ((session.commits ?? 0) === 0) return `${id} has no commits`;
  if (session.promoted_at !== null || session.branch_state === 'merged') return `${id} is already merged`;
  if (session.branch_state === 'continued') return `a later run continued ${id}: promote the later run`;
  if (session.branch_state === 'discarded') return `${id} is discarded: U brings it back`;
  if (session.branch_state === 'gone') return `the branch of ${id} is gone`;
  const trial = findTrial(state);
  if (trial === undefined) return null;
  if ('problem' in trial) return trial.problem;
  if (trial.conflicts.length > 0)
    return `conflicts in ${trial.conflicts.join(', ')}; F has its worker resolve them`;
  if (trial.checkout.state === 'dirty') return explainCheckout(trial);
  return null;
}

/** Names what is still being fetched before a promotion can be answered. */
export function describePromotionCheck(state: State): { subject: DetailSubject; text: string } | null {
  const id = getSelectedSession(state)?.session_id;
  if (id === undefined) return null;
  const subject = { kind: 'session', id } as const;
  if (findTrial(state) === undefined) return { subject, text: 'checking for conflicts …' };
  return findDetail(state, 'evidence', id) === undefined
    ? { subject, text: 'fetching its evidence …' }
    : null;
}

/** Explains why the evidence is not enough for a merge; null if it is verified. */
function describeDoubt(state: State, id: string): string | null {
  const { detail, problem } = findDetail(state, 'evidence', id) ?? {};
  if (!detail) return `its evidence could not be read (${problem ?? 'unknown'})`;
  return explainDoubt(detail, getTrialHead(findDetail(state, 'work', id)?.detail));
}

export function checkCanRerunTests(state: State): string | null {
  const session = getSelectedSession(state);
  if (session === undefined) return NOTHING_SELECTED;
  const id = session.session_id;
  if (session.state !== 'ended') return `${id} is still ${nameSessionState(session)}`;
  const evidence = findDetail(state, 'evidence', id)?.detail;
  if (!evidence) return `the evidence of ${id} is still being fetched`;
  return evidence.rerun_hash === null ? `${id} has reported no test that ran` : null;
}

const describeRerun = ({ session_id: id, rerun, state }: ListedEvidence): string =>
  rerun?.agrees === false
    ? `${id}: a command did not end as reported; the preview has its output`
    : `${id}: every command ended as reported; the evidence is ${state === 'none' ? 'empty' : state}`;

/** Asks to rerun the reported commands. A worker chose them, so the question shows them. */
export function askToRerunTests(state: State): ScreenQuestion {
  const { session_id: id } = getSelectedSession(state)!;
  const evidence = findDetail(state, 'evidence', id)!.detail!;
  const { tests, checks } = selectRerunCommands(evidence.tests, evidence.checks);
  const counts = [
    ...(tests.length > 0 ? [formatCount(tests.length, 'reported command')] : []),
    ...(checks.length > 0 ? [formatCount(checks.length, 'check')] : []),
  ];
  const commands = [...tests.map(({ command }) => command), ...checks];
  const hash = evidence.rerun_hash;
  return {
    subject: { kind: 'session', id },
    text: `Run ${counts.join(' and ')} in a clean checkout of ${id}? ${commands.join(' ; ')}`,
    answers: [
      {
        key: 'y',
        label: 'run',
        run: (now) =>
          callEngine(now, {
            operation: 'verify.rerun',
            input: { session: id, ...(hash === null ? {} : { hash }) },
            busy: id,
            doing: `rerunning the tests of ${id}`,
            describeAnswer: (answer) => describeRerun(answer),
            // `describeAnswer` is shown as good news, which a disagreement is not.
            onAnswer: (later, answer) =>
              answer.rerun?.agrees === false ? showMessage(later, describeRerun(answer), 'bad') : later,
          }),
      },
    ],
  };
}

export function askToPromote(state: State): ScreenQuestion {
  const { session_id: id } = getSelectedSession(state)!;
  const { branch, base, head, sensitive, subject } = findTrial(state) as ListedTrial;
  const warning = describeDoubt(state, id);
  const work = findDetail(state, 'work', id)?.detail;
  const holds = work ? describeUnseen(countUnseenOfPatch(work)) : null;
  const named =
    sensitive.length === 0 ? '' : ` CHECK ${cleanText(describeSensitive(sensitive, MOST_NAMED_FILES))}.`;
  const promoteWith = (strategy: PromoteStrategy) => (now: State) =>
    callEngine(now, {
      operation: 'worktree.promote',
      input: { session: id, strategy, base, head },
      busy: id,
      doing: `promoting ${branch}`,
      describeAnswer: (promoted) =>
        promoted.already_merged
          ? `${base} held ${branch} already`
          : `${branch} is in ${base} (${strategy}, ${promoted.after.slice(0, 10)}); nothing was pushed`,
    });
  return {
    subject: { kind: 'session', id },
    text: `Promote ${branch} into ${base}?${holds === null ? '' : ` ITS PATCH ${holds}.`}${named}${warning === null ? ' It is verified.' : ` Not verified: ${warning}.`}${describeOthers(state, getSelectedSession(state)!)} ${describeSquash(subject)}`,
    answers: [
      { key: 'm', label: 'merge', run: promoteWith('merge') },
      { key: 'b', label: 'rebase', run: promoteWith('rebase') },
      { key: 's', label: 'squash', run: promoteWith('squash') },
    ],
  };
}
