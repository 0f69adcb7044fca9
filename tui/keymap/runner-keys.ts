import * as runners from '../actions/runners.ts';
import type { State } from '../state/model.ts';
import type { KeyBinding } from './binding.ts';

/** A machine that was revoked gets no key. */
const onRunners = {
  group: 'Runners',
  panes: ['runners'],
  disabledReason: runners.checkIsInUse,
  hasUse: (state: State) => runners.checkIsInUse(state) === null,
} as const;

/** Keys of the machines that run workers. */
export const RUNNER_KEYS: readonly KeyBinding[] = [
  {
    id: 'drain',
    aliases: ['pause', 'undrain'],
    operation: 'runner.drain',
    covers: ['undo'],
    ...onRunners,
    keys: ['D'],
    label: 'drain',
    about: 'let the machine finish its runs without new ones, or let it get runs again',
    ask: runners.askToDrain,
    confirm: ['y'],
  },
  {
    id: 'revoke',
    aliases: ['cut off', 'distrust'],
    operation: 'runner.revoke',
    ...onRunners,
    keys: ['X'],
    label: 'revoke',
    about: 'cut the machine off at once, for good; its runs continue on others of its pool',
    ask: runners.askToRevoke,
    confirm: ['y'],
  },
];
