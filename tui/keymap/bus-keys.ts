import * as asks from '../actions/asks.ts';
import * as bus from '../actions/bus.ts';
import * as workers from '../actions/workers.ts';
import type { State } from '../state/model.ts';
import type { KeyBinding } from './binding.ts';

const inAsks = { group: 'Asks', panes: ['asks'] } as const;
const inBus = { group: 'Bus', panes: ['bus'] } as const;

const findAskingWorker = (state: State): string | null => {
  const id = asks.getSelectedAsk(state)?.from_session ?? null;
  return id !== null && state.data.sessions.has(id) ? id : null;
};

/** Keys of asks, messages and locks. */
export const BUS_KEYS: readonly KeyBinding[] = [
  {
    id: 'answer',
    operation: 'ask.answer',
    ...inAsks,
    view: 'list',
    keys: ['enter'],
    label: 'open',
    about: 'answer the question: a digit sends that option, or type a text and Enter',
    offline: true,
    acts: true,
    disabledReason: asks.checkCanOpenAsk,
    run: asks.openAsk,
  },
  {
    id: 'asker',
    ...inAsks,
    keys: ['l'],
    label: 'worker',
    about: 'go to the worker that asks',
    offline: true,
    disabledReason: (state) => (findAskingWorker(state) === null ? 'no worker asks here' : null),
    run: (state) => workers.goToWorker(state, findAskingWorker(state)!),
  },

  {
    id: 'ack',
    operation: 'msg.ack',
    ...inBus,
    keys: ['a'],
    label: 'ack',
    about: 'acknowledge the message as read',
    disabledReason: bus.checkCanAcknowledge,
    bulk: 'rows',
    acts: true,
    run: bus.acknowledgeMessage,
  },
  {
    id: 'reply',
    ...inBus,
    keys: ['r'],
    label: 'reply',
    about: 'reply to the sender of the message',
    disabledReason: bus.checkCanReply,
    acts: true,
    run: bus.openReply,
  },
  {
    id: 'write',
    operation: 'msg.send',
    group: 'Bus',
    panes: ['bus', 'peers'],
    view: 'list',
    keys: ['n'],
    label: 'new',
    about: 'write a message to the Chair or to a connected session',
    acts: true,
    run: bus.openNewMessage,
  },
  {
    id: 'who',
    operation: 'msg.peers',
    group: 'Bus',
    panes: ['bus', 'locks'],
    keys: ['w'],
    label: 'who',
    about: 'list participants; Esc returns to the messages',
    offline: true,
    run: bus.openBusList('peers'),
  },
  {
    id: 'locks',
    operation: 'lock.status',
    group: 'Bus',
    panes: ['bus', 'peers'],
    keys: ['L'],
    label: 'locks',
    about: 'list locked paths and their holders; Esc returns to the messages',
    offline: true,
    run: bus.openBusList('locks'),
  },
  {
    id: 'sender',
    ...inBus,
    keys: ['l'],
    label: 'worker',
    about: 'go to the worker that sent or receives the message',
    offline: true,
    disabledReason: (state) => (bus.findMessageWorker(state) === null ? 'no worker is involved' : null),
    run: (state) => workers.goToWorker(state, bus.findMessageWorker(state)!),
  },
  {
    id: 'release',
    operation: 'lock.release',
    group: 'Bus',
    panes: ['locks'],
    keys: ['x'],
    label: 'release',
    about: "release someone else's lock",
    disabledReason: bus.checkCanReleaseLock,
    bulk: 'rows',
    ask: bus.askToReleaseLock,
    confirm: ['y'],
  },
];
