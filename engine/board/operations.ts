import type { Sessions } from '../bus/sessions/index.ts';
import type { Operation } from '../operation.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { Agents } from '../workers/dispatch/index.ts';
import type { Decisions } from './decisions/index.ts';
import { decisionOperations } from './decisions/operations.ts';
import type { Plans } from './plan.ts';
import type { TaskActions } from './tasks/actions.ts';
import type { Tasks } from './tasks/index.ts';
import { taskOperations } from './tasks/operations.ts';
import { type TaskToolsDeps, taskTools } from './tasks/tools.ts';
import type { Workflow } from './workflow/index.ts';

export interface BoardOperationsDeps {
  storage: Storage;
  events: EventLog;
  tasks: Tasks;
  decisions: Decisions;
  sessions: Sessions;
  workflow: Workflow;
  plans: Plans;
  agents: Agents;
  templates(): Readonly<Record<string, Template>>;
  actions: TaskActions;
}

export interface Template {
  agent?: string | undefined;
  prompt?: string | undefined;
  project?: string | undefined;
  timeout_sec?: number | undefined;
}

/** What clients may ask about tasks and decisions. */
export const boardOperations = (deps: TaskToolsDeps): Operation[] => [
  ...taskTools(deps),
  ...taskOperations(deps),
  ...decisionOperations(deps),
];
