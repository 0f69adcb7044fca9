import { archiveOperations } from './archive.ts';
import { decisionOperations } from './decisions.ts';
import type { BoardOperationsDeps } from './deps.ts';
import { runOperations } from './runs.ts';
import { taskOperations } from './tasks.ts';

/** Operations on tasks and decisions. */
export const boardOperations = (deps: BoardOperationsDeps) => [
  ...taskOperations(deps),
  ...archiveOperations(deps),
  ...runOperations(deps),
  ...decisionOperations(deps),
];
