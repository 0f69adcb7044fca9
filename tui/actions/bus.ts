import { READING_WORDS } from '../../engine/index.ts';
import type { PaneId } from '../pane-ids.ts';
import { describeRecipient } from '../panes/bus.ts';
import { describeHolder } from '../panes/locks.ts';
import { getLockId } from '../state/details.ts';
import { EMPTY_INPUT } from '../state/input.ts';
import type { State } from '../state/model.ts';
import type { WriteMessage } from '../state/overlays.ts';
import type { ListedMessage, PeerRow } from '../state/rows.ts';
import { getSelectedSession } from '../state/selection.ts';
import {
  callEngine,
  type ScreenQuestion,
  type StateTransition,
  showMessage,
  transitionTo,
} from './transition.ts';

export function getSelectedMessage(state: State): ListedMessage | undefined {
  const { selected } = state.lists.bus;
  return selected === null ? undefined : state.data.messages.get(selected);
}

const NOTHING_SELECTED = 'no message is selected';

/** The live session that will read a message itself; undefined when a person may acknowledge it instead. */
function findLiveReader({ data: { peers } }: State, message: ListedMessage): PeerRow | undefined {
  const { to_session: session, to_worker: worker, to_agent: agent } = message;
  return peers.find(
    (each) =>
      each.state === 'live' &&
      each.seat !== 'chair' &&
      (each.session_id === session ||
        (worker !== null && each.worker_id === worker) ||
        (agent !== null && each.agent === agent)),
  );
}

export function checkCanAcknowledge(state: State): string | null {
  const message = getSelectedMessage(state);
  if (message === undefined) return NOTHING_SELECTED;
  if (message.acked_at !== null) return `message ${message.id} is already acknowledged`;
  const reader = findLiveReader(state, message);
  return reader === undefined ? null : `${reader.session_id} is connected and has to read it itself`;
}

/** Acknowledges the selected message. That destroys nothing, so it needs no confirmation. */
export function acknowledgeMessage(state: State): StateTransition {
  const { id } = getSelectedMessage(state)!;
  return callEngine(state, {
    operation: 'msg.ack',
    input: { id, as_person: true },
    busy: `message ${id}`,
    doing: `acknowledging message ${id}`,
    describeAnswer: () => `message ${id} is acknowledged`,
  });
}

export function checkCanReply(state: State): string | null {
  const message = getSelectedMessage(state);
  if (message === undefined) return NOTHING_SELECTED;
  return message.from_session === null
    ? `message ${message.id} came from no session: no one could read the reply`
    : null;
}

const EMPTY_MESSAGE = {
  kind: 'write',
  to: 0,
  message: 'note',
  text: EMPTY_INPUT,
  long: null,
} as const;

export function openReply(state: State): StateTransition {
  const parent = getSelectedMessage(state)!;
  const { from_name: name, from_agent: agent, from_session: session } = parent;
  const target = { session: session!, about: name ?? agent ?? '' };
  return transitionTo({ ...state, overlay: { ...EMPTY_MESSAGE, parent, targets: [target], field: 2 } });
}

const describePeer = ({ seat, agent, task_id: task, title }: PeerRow): string =>
  [seat, agent, task, title].filter(Boolean).join(' · ');

/** Opens a new message to the Chair or to a live session, starting with the session under the cursor. */
export function openNewMessage(state: State): StateTransition {
  const here = state.data.peers.filter((each) => each.state === 'live');
  const targets = [
    { session: 'chair', about: 'the current Chair' },
    ...here.map((each) => ({ session: each.session_id, about: describePeer(each) })),
  ];
  const wanted = state.focus === 'peers' ? state.lists.peers.selected : null;
  const to = Math.max(
    0,
    targets.findIndex((each) => each.session === wanted),
  );
  return transitionTo({
    ...state,
    overlay: { ...EMPTY_MESSAGE, parent: null, targets, to, field: wanted === null ? 0 : 2 },
  });
}

export function sendWrittenMessage(state: State, overlay: WriteMessage): StateTransition {
  const body = overlay.long ?? overlay.text.value.trim();
  const target = overlay.targets[overlay.to];
  if (target === undefined || body.trim() === '')
    return transitionTo(
      showMessage(state, 'a message needs a text', 'bad', 'type it, or press Ctrl-E for your editor'),
    );
  if (state.link.phase === 'lost')
    return transitionTo(
      showMessage(
        state,
        'the engine is not running: the message was not sent',
        'bad',
        'Esc, then u starts it',
      ),
    );
  const { parent, message: kind } = overlay;
  return callEngine(
    { ...state, overlay: null },
    {
      operation: 'msg.send',
      input: {
        to_session: target.session,
        kind,
        body,
        ...(parent === null ? {} : { parent_id: parent.id }),
      },
      busy: `message to ${target.session}`,
      form: overlay,
      doing: `sending to ${target.session}`,
      describeAnswer: ({ known }) =>
        known === false
          ? `the ${kind} is stored for ${target.session}, who has not been seen yet`
          : describeSent(state, kind, target.session),
    },
  );
}

/** Describes when a message is read: a worker may read it later, an ended one never does. */
function describeSent({ data }: State, kind: ListedMessage['kind'], id: string): string {
  const reads = data.sessions.get(id)?.reads_messages;
  if (reads === undefined) return `the ${kind} is sent to ${id}`;
  return reads === 'never'
    ? `the ${kind} is stored, but ${id} ${READING_WORDS.never}; F gives it more work`
    : `the ${kind} is sent: ${id} ${READING_WORDS[reads]}`;
}

/** Opens a message to the worker under the cursor. */
export function openWorkerMessage(state: State): StateTransition {
  const { session_id: session, agent, title } = getSelectedSession(state)!;
  const target = { session, about: `${agent} · ${title}` };
  return transitionTo({
    ...state,
    overlay: { ...EMPTY_MESSAGE, parent: null, targets: [target], field: 2 },
  });
}

/** Shows the list of peers or locks instead of the messages; Esc returns. */
export const openBusList =
  (pane: PaneId) =>
  (state: State): StateTransition =>
    transitionTo({ ...state, focus: pane, view: 'list' });

const getSelectedLock = (state: State) =>
  state.data.locks.find((each) => getLockId(each) === state.lists.locks.selected);

export const checkCanReleaseLock = (state: State): string | null =>
  getSelectedLock(state) === undefined ? 'no lock is selected' : null;

export function askToReleaseLock(state: State): ScreenQuestion {
  const lock = getSelectedLock(state)!;
  const { path, holder } = lock;
  const { sessions } = state.data;
  const isLive = sessions.get(holder)?.state !== 'ended';
  return {
    subject: { kind: 'lock', id: getLockId(lock) },
    text: `Release ${path}, held by ${describeHolder(holder, sessions)}?${isLive ? ' It may be writing there.' : ''}`,
    answers: [
      {
        key: 'y',
        label: 'release',
        run: (now) =>
          callEngine(now, {
            operation: 'lock.release',
            input: { holder, path },
            busy: getLockId(lock),
            doing: `releasing ${path}`,
            describeAnswer: () => `${path} is released`,
          }),
      },
    ],
  };
}

/** Finds the worker that sent the selected message or, failing that, its recipient. */
export function findMessageWorker(state: State): string | null {
  const message = getSelectedMessage(state);
  if (message === undefined) return null;
  const knownSession = (id: string | null): string | null =>
    id !== null && state.data.sessions.has(id) ? id : null;
  return knownSession(message.from_session) ?? knownSession(describeRecipient(message));
}
