import { recipientOf } from '../panes/bus.ts';
import { holderOf } from '../panes/locks.ts';
import { EMPTY_INPUT } from '../state/input.ts';
import type { MessageRow, PaneId, PeerRow, State, WriteMessage } from '../state/model.ts';
import { call, type Question, type Step, said, step } from './step.ts';

export function selectedMessage(state: State): MessageRow | undefined {
  const { selected } = state.lists.bus;
  return selected === null ? undefined : state.data.messages.get(selected);
}

const none = 'no message is selected';

/** The live session that will read a message itself; null when a person may do that for it. */
function readerOf({ data: { peers } }: State, message: MessageRow): PeerRow | undefined {
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

export function mayAck(state: State): string | null {
  const message = selectedMessage(state);
  if (message === undefined) return none;
  if (message.acked_at !== null) return `message ${message.message_id} is acknowledged already`;
  const reader = readerOf(state, message);
  return reader === undefined ? null : `${reader.session_id} is here and has to read it itself`;
}

/** It destroys nothing, so it does not ask. */
export function ack(state: State): Step {
  const { message_id: id } = selectedMessage(state)!;
  return call(state, {
    operation: 'message.ack',
    input: { id },
    busy: `message ${id}`,
    doing: `acknowledging message ${id}`,
    said: () => `message ${id} is acknowledged`,
  });
}

export function mayReply(state: State): string | null {
  const message = selectedMessage(state);
  if (message === undefined) return none;
  return message.from_session === null
    ? `message ${message.message_id} came from no session: nobody could read the reply`
    : null;
}

const blank = {
  kind: 'write',
  to: 0,
  message: 'note',
  text: EMPTY_INPUT,
  long: null,
} as const;

export function reply(state: State): Step {
  const parent = selectedMessage(state)!;
  const { from_name: name, from_agent: agent, from_session: session } = parent;
  const target = { session: session!, about: name ?? agent ?? '' };
  return step({ ...state, overlay: { ...blank, parent, targets: [target], field: 2 } });
}

const about = ({ seat, agent, task_id: task, title }: PeerRow): string =>
  [seat, agent, task, title].filter(Boolean).join(' · ');

/** To the Chair's seat, whoever has it, or to a session that is here; the one under the cursor first. */
export function write(state: State): Step {
  const here = state.data.peers.filter((each) => each.state === 'live');
  const targets = [
    { session: 'chair', about: "the Chair's seat, whoever has it" },
    ...here.map((each) => ({ session: each.session_id, about: about(each) })),
  ];
  const wanted = state.focus === 'peers' ? state.lists.peers.selected : null;
  const to = Math.max(
    0,
    targets.findIndex((each) => each.session === wanted),
  );
  return step({ ...state, overlay: { ...blank, parent: null, targets, to, field: wanted === null ? 0 : 2 } });
}

export function sendMessage(state: State, overlay: WriteMessage): Step {
  const body = overlay.long ?? overlay.text.value.trim();
  const target = overlay.targets[overlay.to];
  if (target === undefined || body.trim() === '')
    return step(said(state, 'a message needs a text', 'bad', 'type it, or press Ctrl-E for your editor'));
  if (state.link.phase === 'lost')
    return step(said(state, 'the engine is away: the message was not sent', 'bad', 'Esc, then u starts it'));
  const { parent, message: kind } = overlay;
  return call(
    { ...state, overlay: null },
    {
      operation: 'msg_send',
      input: {
        to_session: target.session,
        kind,
        body,
        ...(parent === null ? {} : { parent_id: parent.message_id }),
      },
      busy: `message to ${target.session}`,
      doing: `sending to ${target.session}`,
      said: ({ known }) =>
        known === false
          ? `the ${kind} is kept for ${target.session}, which nobody knows yet`
          : `the ${kind} is sent to ${target.session}`,
    },
  );
}

/** Who is here, and which paths are locked, stand in the place of the messages; Esc leads back. */
export const show =
  (pane: PaneId) =>
  (state: State): Step =>
    step({ ...state, focus: pane, view: 'list' });

const selectedLock = (state: State) =>
  state.data.locks.find((each) => each.path === state.lists.locks.selected);

export const mayRelease = (state: State): string | null =>
  selectedLock(state) === undefined ? 'no lock is selected' : null;

export function releaseQuestion(state: State): Question {
  const { path, holder } = selectedLock(state)!;
  const { sessions } = state.data;
  const isLive = sessions.get(holder)?.state !== 'ended';
  return {
    subject: { kind: 'lock', id: path },
    text: `Release ${path}, held by ${holderOf(holder, sessions)}?${isLive ? ' It may be writing there.' : ''}`,
    answers: [
      {
        key: 'y',
        label: 'release',
        run: (now) =>
          call(now, {
            operation: 'lock_release',
            input: { holder, path },
            busy: path,
            doing: `releasing ${path}`,
            said: () => `${path} is released`,
          }),
      },
    ],
  };
}

/** From a message to the worker that sent it, or that it is for. */
export function workerOf(state: State): string | null {
  const message = selectedMessage(state);
  if (message === undefined) return null;
  const known = (id: string | null): string | null =>
    id !== null && state.data.sessions.has(id) ? id : null;
  return known(message.from_session) ?? known(recipientOf(message));
}
