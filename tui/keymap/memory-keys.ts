import * as memories from '../actions/memories.ts';
import type { KeyBinding } from './binding.ts';

const inMemory = { group: 'Memory', panes: ['memories'] } as const;

/** Keys of the memories. */
export const MEMORY_KEYS: readonly KeyBinding[] = [
  {
    id: 'memories',
    operation: 'memory.browse',
    group: 'Memory',
    keys: ['M'],
    label: 'memory',
    about: 'list memories, and what the last worker received; / searches as you type, type:gotcha',
    isHiddenInHints: true,
    run: memories.openMemories,
  },
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
