import { decisionOperations } from './decisions/operations.ts';
import type { BoardOperationsDeps } from './deps.ts';
import { archiveOperations } from './tasks/archive-operations.ts';
import { taskOperations } from './tasks/operations.ts';
import { runOperations } from './tasks/run-operations.ts';

/** Operations on tasks and decisions. */
export const boardOperations = (deps: BoardOperationsDeps) => [
  ...taskOperations(deps),
  ...archiveOperations(deps),
  ...runOperations(deps),
  ...decisionOperations(deps),
];
