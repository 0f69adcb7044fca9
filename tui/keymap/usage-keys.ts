import * as usage from '../actions/usage.ts';
import * as workers from '../actions/workers.ts';
import type { KeyBinding } from './binding.ts';

const inUsage = { group: 'Usage', panes: ['usage'] } as const;

/** Keys of the usage of model calls. */
export const USAGE_KEYS: readonly KeyBinding[] = [
  {
    id: 'usage-kind',
    ...inUsage,
    view: 'list',
    keys: ['b'],
    label: 'by',
    about: 'show one of sessions, models, providers or tasks; then all of them again',
    offline: true,
    run: usage.showNextUsageKind,
  },
  {
    id: 'usage-worker',
    ...inUsage,
    keys: ['l'],
    label: 'worker',
    about: 'go to the worker of the session',
    offline: true,
    disabledReason: (state) => (usage.findUsingWorker(state) === null ? 'no worker is selected here' : null),
    run: (state) => workers.goToRun(state, usage.findUsingWorker(state)!),
  },
];
