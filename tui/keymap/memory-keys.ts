import * as memories from '../actions/memories.ts';
import type { KeyBinding } from './binding.ts';

const inMemory = { group: 'Memory', panes: ['memories'] } as const;

/** Keys of the memories. */
export const MEMORY_KEYS: readonly KeyBinding[] = [
  {
    id: 'keep-memory',
    operation: 'memory.keep',
    ...inMemory,
    keys: ['K'],
    label: 'keep',
    about: 'let it enter briefs, or let it supersede memories that contradict it',
    disabledReason: memories.checkCanKeep,
    ask: memories.askToKeep,
    requiresReading: true,
    confirm: ['y'],
  },
  {
    id: 'edit-memory',
    operation: 'memory.edit',
    ...inMemory,
    keys: ['e'],
    label: 'edit',
    about: 'edit its title and text in $EDITOR; the old wording is superseded',
    disabledReason: memories.checkCanEdit,
    acts: true,
    run: memories.editMemory,
  },
  {
    id: 'forget-memory',
    aliases: ['delete'],
    operation: 'memory.forget',
    ...inMemory,
    keys: ['x'],
    label: 'forget',
    about: 'forget it; svc memory show still shows it',
    disabledReason: memories.checkIsSelected,
    bulk: 'rows',
    ask: memories.askToForget,
    confirm: ['y'],
  },
];
