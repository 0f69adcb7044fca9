import type { AgentCommand } from '../agents/index.ts';
import type { GatewayRoute } from '../agents/presets/index.ts';
import type { Task } from '../board/tasks/index.ts';
import type { Placement, Session } from '../sessions/index.ts';

/** What a run is made from. */
export interface Launch {
  session: Session;
  task: Task;
  /** As it was approved. */
  command: AgentCommand;
  runId: string;
  placement: Placement;
  route: GatewayRoute | null;
  /** Why the run before was interrupted, a clause; null for a first run, or when that is not known. */
  interruption: string | null;
}
