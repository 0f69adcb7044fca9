import type { Clock } from '../../../core/base/clock.ts';
import type { Log } from '../../../core/base/log.ts';
import type { Agents } from '../../agents/index.ts';
import type { Confinement } from '../confine/index.ts';
import type { Processes } from '../processes/index.ts';
import type { RunSockets } from '../run-sockets.ts';
import type { Setup } from '../setup/index.ts';
import type { Worktrees } from '../worktrees/index.ts';
import type { SessionFolders } from './folders.ts';

/** What a runner on this machine is made of. */
export interface LocalRunnerDeps {
  processes: Processes;
  worktrees: Worktrees;
  setup: Pick<Setup, 'readProjectSetup' | 'checkConsent' | 'prepareWorktree' | 'endAbandonedSetup'>;
  confinement: Confinement;
  /** Whether workers can be confined here. Throws `tool_missing`, `confinement_unavailable`. */
  checkConfinement(): Promise<unknown>;
  /** Gives a confined run its own way to the engine. */
  runSockets: RunSockets;
  agents: Pick<Agents, 'resolveFolder'>;
  paths: SessionFolders;
  /** svc.yaml, given to workers as `SVC_CONFIG`. */
  configFile: string;
  /** Program and arguments that run `svc`; null when the host has none. */
  svc: readonly string[] | null;
  /** Whether other users of this machine can read the arguments of our processes. */
  isArgvSeen: boolean;
  /** Of a child of the engine: what it may inherit, the engine's mark, and what is added. */
  environment(extra: Record<string, string>): Record<string, string>;
  clock: Clock;
  log: Log;
}
