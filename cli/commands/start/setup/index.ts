import type { Command } from '../../../command.ts';
import { setupForgeCommands } from './setup-forge.ts';
import { setupUndoCommand } from './setup-undo.ts';

export const setupCommands: readonly Command[] = [...setupForgeCommands, setupUndoCommand];
