import { formatClockTime, formatCount } from '../../engine/core/base/text.ts';
import { isPausedRun, nameSessionState } from '../../engine/index.ts';
import { describeRetryTime } from '../panes/time.ts';
import { findDetail } from '../state/details.ts';
import type { State } from '../state/model.ts';
import { parseIdNumber } from '../state/numbers.ts';
import type { HeldRow, ShownSession } from '../state/rows.ts';
import { getSelectedSession } from '../state/selection.ts';
import { jumpToRun } from './navigation.ts';
import { draftFollowUp, openFollowUp, sendWrittenFollowUp } from './send-follow-up.ts';
import {
  callEngine,
  type ScreenQuestion,
  type StateTransition,
  showMessage,
  transitionTo,
} from './transition.ts';

/** Exit code of a program that Ctrl-C ended. */
const INTERRUPTED = 130;

const NOTHING_SELECTED = 'no worker is selected';

const hasWorkFolder = ({ worktree, inplace }: ShownSession): boolean => worktree !== null || inplace;

/** Finds a later session of the same task, or one that continues in its worktree. */
const findLaterSession = ({ data }: State, session: ShownSession): ShownSession | undefined =>
  [...data.sessions.values()].find(
    (each) =>
      each.continues === session.session_id ||
      (each.task_id === session.task_id &&
        (each.race === null || each.race !== session.race) &&
        parseIdNumber(each.session_id) > parseIdNumber(session.session_id)),
  );

export function checkCanResume(state: State): string | null {
  const session = getSelectedSession(state);
  if (session === undefined) return NOTHING_SELECTED;
  const { session_id: id, task_id: task } = session;
  if (session.state === 'queued' && isPausedRun(session, state.now)) return null;
  if (session.state === 'queued') return `${id} waits for a free worker`;
  if (session.state !== 'ended') return `${id} is ${nameSessionState(session)} and cannot be resumed`;
  if (session.race !== null && state.data.tasks.get(task)?.race === session.race)
    return `${id} is in a race and cannot be run again: F gives it more work, still in the race`;
  const next = findLaterSession(state, session);
  if (next !== undefined) return `${task} has continued since, as ${next.session_id}`;
  if (session.failure === null) return `${id} has done its work`;
  return hasWorkFolder(session) ? null : `the worktree of ${id} is no longer there`;
}

/** Asks to resume: a paused worker before its time, or a failed one as a new session. Both spend tokens. */
export function askToResume(state: State): ScreenQuestion {
  const session = getSelectedSession(state)!;
  const { session_id: id, agent, agent_session: conversation, resume_at: at, pause } = session;
  const held = state.data.held.find((each) => each.agent === agent);
  const but =
    held === undefined ? '' : `, but it is suspended ${describeRetryTime(held.reopen_at, state.now)}`;
  const isWaiting = at !== null && session.state === 'queued';
  return {
    subject: { kind: 'session', id },
    text: isWaiting
      ? `Resume ${id} now and not at ${formatClockTime(at, state.now)}? It stopped with ${pause?.code ?? 'a limit'} and spends ${agent}'s tokens${but}.`
      : `Resume ${id} in its worktree${conversation === null ? '' : ' and conversation'}, as a new session? It spends ${agent}'s tokens${but}.`,
    answers: [
      {
        key: 'y',
        label: 'resume',
        run: (now) =>
          callEngine(now, {
            operation: 'worker.resume',
            input: { session: id },
            busy: id,
            doing: `resuming ${id}`,
            describeAnswer: (answer) =>
              answer.session_id === id ? `${id} resumed` : `${answer.session_id} continues ${id}`,
            onAnswer: (since, answer) => (answer.session_id === id ? since : jumpToRun(since, answer)),
          }),
      },
    ],
  };
}

export function checkCanFollowUp(state: State): string | null {
  const session = getSelectedSession(state);
  if (session === undefined) return NOTHING_SELECTED;
  const { session_id: id } = session;
  if (session.state !== 'ended') return `${id} has not ended: send it a message instead`;
  const next = [...state.data.sessions.values()].find((each) => each.continues === id);
  if (next !== undefined) return `${next.session_id} continues ${id}`;
  if (!hasWorkFolder(session)) return `the worktree of ${id} is no longer there`;
  // They contain the material for a follow-up.
  const isKnown = (['work', 'comments'] as const).every((kind) => findDetail(state, kind, id) !== undefined);
  return isKnown ? null : `what ${id} did is still being fetched`;
}

/** Opens the material for a follow-up: comments on its diff, conflicts with its base. */
export const openSelectedFollowUp = (state: State): StateTransition =>
  openFollowUp(state, getSelectedSession(state)!);

/**
 * Asks first, because the text starts an agent as soon as the editor is closed. Null if there is material, which is
 * opened instead.
 */
export function askToFollowUp(state: State): ScreenQuestion | null {
  const session = getSelectedSession(state)!;
  if (draftFollowUp(state, session) !== null) return null;
  const { session_id: id, agent, agent_session: conversation } = session;
  return {
    subject: { kind: 'session', id },
    text: `Write the next instructions for ${id}, in its worktree${conversation === null ? '' : ' and conversation'}? It starts when your editor closes and spends ${agent}'s tokens.`,
    answers: [{ key: 'y', label: 'write', run: (now) => writeFollowUp(now, id) }],
  };
}

const writeFollowUp = (state: State, id: string): StateTransition =>
  transitionTo(state, {
    do: 'edit',
    text: '',
    name: `${id}.md`,
    onEdited(now, text) {
      if (text.trim() === '')
        return transitionTo(showMessage(now, `${id} is unchanged: nothing was written`));
      return sendWrittenFollowUp(now, id, text);
    },
  });

export function checkCanAttach(state: State): string | null {
  const session = getSelectedSession(state);
  if (session === undefined) return NOTHING_SELECTED;
  const { session_id: id } = session;
  if (session.state !== 'ended' && session.resume_at === null)
    return `${id} is ${nameSessionState(session)}: its agent works alone until it pauses or ends`;
  return hasWorkFolder(session) ? null : `the worktree of ${id} is no longer there`;
}

/** Hands the terminal to the session's agent through `svc worker attach`, which asks the engine itself. */
export function attachToSession(state: State): StateTransition {
  const { session_id: id } = getSelectedSession(state)!;
  return transitionTo(state, {
    do: 'command',
    words: ['worker', 'attach', id],
    onExit(now, code) {
      if (code !== 0 && code !== INTERRUPTED)
        return showMessage(now, `svc worker attach ${id} ended with exit code ${code}`, 'bad');
      const session = now.data.sessions.get(id);
      const at = session?.resume_at ?? null;
      const next =
        at === null || session === undefined || !isPausedRun(session, now.now)
          ? ''
          : `; it resumes at ${formatClockTime(at, now.now)}, or with R`;
      return showMessage(now, `you have left ${id}${next}`, 'good');
    },
  });
}

/** Finds the suspended agent of the selected worker, otherwise the first one. */
function findHeldAgent(state: State): HeldRow | undefined {
  const { held } = state.data;
  const agent = state.focus === 'work' ? getSelectedSession(state)?.agent : undefined;
  return held.find((each) => each.agent === agent) ?? held[0];
}

export const checkCanResetAgent = (state: State): string | null =>
  findHeldAgent(state) === undefined ? 'no agent is suspended' : null;

export function askToResetAgent(state: State): ScreenQuestion {
  const { agent, failures, code, text } = findHeldAgent(state)!;
  return {
    subject: { kind: 'agent', id: agent },
    text: `Let ${agent} take work again? It failed ${formatCount(failures, 'time')} in a row (${code}: ${text}). Its waiting sessions start immediately and spend tokens.`,
    answers: [
      {
        key: 'y',
        label: 'take work',
        run: (now) =>
          callEngine(now, {
            operation: 'agent.reset',
            input: { agent },
            busy: agent,
            doing: `resetting ${agent}`,
            describeAnswer: () => `${agent} takes work again`,
          }),
      },
    ],
  };
}
