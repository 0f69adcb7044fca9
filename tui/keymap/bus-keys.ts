import * as asks from '../actions/asks.ts';
import * as bus from '../actions/bus.ts';
import * as workers from '../actions/workers.ts';
import type { State } from '../state/model.ts';
import type { Binding } from './binding.ts';

const inAsks = { group: 'Asks', panes: ['asks'] } as const;
const inBus = { group: 'Bus', panes: ['bus'] } as const;

const askerOf = (state: State): string | null => {
  const id = asks.selectedAsk(state)?.from_session ?? null;
  return id !== null && state.data.sessions.has(id) ? id : null;
};

/** Keys of what workers ask, what is said, and what is held. */
export const TALKING: readonly Binding[] = [
  {
    id: 'answer',
    ...inAsks,
    view: 'list',
    keys: ['enter'],
    label: 'open',
    about: 'open the question: a digit sends that answer, or a text and Enter',
    offline: true,
    acts: true,
    when: asks.mayOpen,
    run: asks.openAsk,
  },
  {
    id: 'asker',
    ...inAsks,
    keys: ['l'],
    label: 'worker',
    about: 'go to the worker that asks',
    offline: true,
    when: (state) => (askerOf(state) === null ? 'no worker asks here' : null),
    run: (state) => workers.toWorker(state, askerOf(state)!),
  },

  {
    id: 'ack',
    ...inBus,
    keys: ['a'],
    label: 'ack',
    about: 'acknowledge the message: it has been read',
    when: bus.mayAck,
    acts: true,
    run: bus.ack,
  },
  {
    id: 'reply',
    ...inBus,
    keys: ['r'],
    label: 'reply',
    about: 'reply to the sender of the message',
    when: bus.mayReply,
    acts: true,
    run: bus.reply,
  },
  {
    id: 'write',
    group: 'Bus',
    panes: ['bus', 'peers'],
    view: 'list',
    keys: ['n'],
    label: 'new',
    about: 'write a message to the Chair or to a session that is here',
    acts: true,
    run: bus.write,
  },
  {
    id: 'who',
    group: 'Bus',
    panes: ['bus', 'locks'],
    keys: ['w'],
    label: 'who',
    about: 'who is here; Esc goes back to the messages',
    offline: true,
    run: bus.show('peers'),
  },
  {
    id: 'locks',
    group: 'Bus',
    panes: ['bus', 'peers'],
    keys: ['L'],
    label: 'locks',
    about: 'which paths are locked, and by whom; Esc goes back to the messages',
    offline: true,
    run: bus.show('locks'),
  },
  {
    id: 'sender',
    ...inBus,
    keys: ['l'],
    label: 'worker',
    about: 'go to the worker that sent the message, or gets it',
    offline: true,
    when: (state) => (bus.workerOf(state) === null ? 'no worker is in it' : null),
    run: (state) => workers.toWorker(state, bus.workerOf(state)!),
  },
  {
    id: 'release',
    group: 'Bus',
    panes: ['locks'],
    keys: ['x'],
    label: 'release',
    about: 'release the lock of another',
    when: bus.mayRelease,
    ask: bus.releaseQuestion,
    confirm: ['y'],
  },
];
