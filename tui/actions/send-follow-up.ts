import { writeFollowUpMessage } from '../../engine/index.ts';
import { findDetail, getSubjectStamp } from '../state/details.ts';
import type { State } from '../state/model.ts';
import type { SendFollowUp } from '../state/overlays.ts';
import type { ShownSession } from '../state/rows.ts';
import { jumpToRun } from './navigation.ts';
import { callEngine, type StateTransition, showMessage, transitionTo } from './transition.ts';

/** Returns the material for a follow-up of an ended session: comments on its diff, and conflicts with its base; null for none. */
export function draftFollowUp(
  state: State,
  { session_id: session, branch, promoted_at: promoted }: ShownSession,
): Pick<SendFollowUp, 'text' | 'comments'> | null {
  const comments = findDetail(state, 'comments', session)?.detail ?? [];
  const trial = findDetail(state, 'work', session)?.detail?.trial;
  const conflicts = trial === undefined || 'problem' in trial || promoted !== null ? [] : trial.conflicts;
  if (comments.length === 0 && conflicts.length === 0) return null;
  const base = trial !== undefined && 'base' in trial ? trial.base : '';
  const text = writeFollowUpMessage({
    session,
    branch,
    comments,
    conflict: conflicts.length === 0 ? null : { base, paths: conflicts },
  });
  return { text, comments: comments.map((each) => each.comment_id) };
}

const getSessionStamp = (state: State, id: string): string =>
  getSubjectStamp(state.data, { kind: 'session', id });

/** Opens the follow-up for reading; nothing is sent yet. */
export function openFollowUp(state: State, session: ShownSession): StateTransition {
  const id = session.session_id;
  const draft = draftFollowUp(state, session);
  if (draft === null) return transitionTo(state);
  return transitionTo({
    ...state,
    message: null,
    overlay: {
      kind: 'follow-up',
      session: id,
      ...draft,
      top: 0,
      openedAt: state.now,
      stamp: getSessionStamp(state, id),
    },
  });
}

export const editFollowUp = (state: State, overlay: SendFollowUp): StateTransition =>
  transitionTo(state, {
    do: 'edit',
    text: overlay.text,
    name: `${overlay.session}.md`,
    onEdited: (now, text) =>
      text.trim() === ''
        ? transitionTo(
            showMessage({ ...now, overlay: null }, `${overlay.session} is unchanged: nothing was written`),
          )
        : transitionTo({ ...now, overlay: { ...overlay, text: text.trimEnd(), top: 0, openedAt: now.now } }),
  });

/** Sends the follow-up that was read, unless the session has changed since. */
export function sendFollowUp(state: State, overlay: SendFollowUp): StateTransition {
  const { session, stamp } = overlay;
  const current = getSessionStamp(state, session);
  if (current !== stamp) {
    const next = { ...state, overlay: { ...overlay, stamp: current, openedAt: state.now } };
    return transitionTo(showMessage(next, `${session} has changed: check it again`, 'bad'));
  }
  if (state.busy.includes(session))
    return transitionTo(showMessage(state, `${session}: the answer is on its way`));
  if (state.link.phase === 'lost')
    return transitionTo(
      showMessage(state, 'the engine is not running: nothing was sent', 'bad', 'Esc, then u starts it'),
    );
  return sendOn({ ...state, overlay: null }, overlay);
}

/** Sends a text from the editor as a follow-up, without showing it on the screen first. */
export const sendWrittenFollowUp = (state: State, session: string, text: string): StateTransition =>
  sendOn(state, {
    kind: 'follow-up',
    session,
    text,
    comments: [],
    top: 0,
    openedAt: state.now,
    stamp: getSessionStamp(state, session),
  });

/** Gives a finished session more work. */
const sendOn = (state: State, form: SendFollowUp): StateTransition => {
  const { session: id, text: prompt, comments } = form;
  return callEngine(state, {
    operation: 'worker.follow_up',
    input: { session: id, prompt, ...(comments.length === 0 ? {} : { comments: [...comments] }) },
    form,
    busy: id,
    doing: `sending ${id} on`,
    describeAnswer: ({ task, session }) => `${session.session_id} continues ${id} (task ${task.task_id})`,
    onAnswer: (since, { session }) => jumpToRun(since, session),
  });
};
