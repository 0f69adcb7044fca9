import { browseOperations } from './browse-operations.ts';
import { bundleOperations } from './bundle-operations.ts';
import { findOperations } from './find-operations.ts';
import type { Memories, MemoryDeps } from './index.ts';
import { noteOperations } from './note-operations.ts';
import { reviewOperations } from './review-operations.ts';
import { createMemoryView } from './show-memories.ts';

/** Creates the operations of clients on the memory. */
export const memoryOperations = ({
  memory,
  ...deps
}: { memory: Memories } & Pick<MemoryDeps, 'paths' | 'callerPaths' | 'clock' | 'listUnknownNames'>) => [
  ...findOperations(memory, createMemoryView(deps)),
  ...noteOperations(memory),
  ...bundleOperations(memory),
  ...browseOperations(memory),
  ...reviewOperations(memory),
];
