import type { OperationPolicy } from '../../core/api/operation.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { AgentRegistry } from '../../workers/agents/index.ts';
import type { FollowUps, Session, SessionPeers, Sessions } from '../../workers/sessions/index.ts';
import type { Decisions } from '../decisions/index.ts';
import type { DispatchOptions } from '../dispatch-options.ts';
import type { RunPlans } from '../plan.ts';
import type { Races } from '../races/index.ts';
import type { Tasks, TaskTemplates } from '../tasks/index.ts';
import type { Workflow } from '../workflow/index.ts';
import type { TaskActions } from './task-actions.ts';

/** Dependencies of the board's operations and tools. */
export interface BoardOperationsDeps {
  storage: Storage;
  events: EventLog;
  tasks: Tasks;
  decisions: Decisions;
  sessions: Sessions;
  races: Races;
  followUps: Pick<FollowUps, 'findOfWorker'>;
  workflow: Workflow;
  plans: RunPlans;
  agents: AgentRegistry;
  peers: Pick<SessionPeers, 'known'>;
  templates(): TaskTemplates;
  actions: TaskActions;
  policy(): OperationPolicy;
  /** Throws `consent_missing` until someone has agreed to svc.yaml. */
  requireConsent(): void;
  /** Reports whether a run goes to another machine, which has its own programs. */
  runsElsewhere(project: string | null, wanted: Pick<DispatchOptions, 'pool' | 'on'>): boolean;
  /** Checks that workers can be confined here. Throws `tool_missing`, `confinement_unavailable`. */
  checkConfinement(): Promise<unknown>;
  /** State of a session's evidence. */
  verificationOf(session: Session): string;
}
