import type { Clock } from '../../../core/base/clock.ts';
import type { Log } from '../../../core/base/log.ts';
import type { AgentRegistry } from '../../agents/index.ts';
import type { Confinement } from '../confine/index.ts';
import type { RunProcesses } from '../processes/index.ts';
import type { RunSockets } from '../run-sockets.ts';
import type { WorktreeSetup } from '../setup/index.ts';
import type { Worktrees } from '../worktrees/index.ts';
import type { SessionFolders } from './folders.ts';

/** The dependencies of a runner on this machine. */
export interface LocalRunnerDeps {
  processes: RunProcesses;
  worktrees: Worktrees;
  setup: Pick<
    WorktreeSetup,
    | 'readProjectSetup'
    | 'checkConsent'
    | 'prepareWorktree'
    | 'tearDownWorktree'
    | 'forgetSetup'
    | 'endAbandonedSetup'
  >;
  confinement: Confinement;
  /** Checks that workers can be confined here. Throws `tool_missing`, `confinement_unavailable`. */
  checkConfinement(): Promise<unknown>;
  /** Gives a confined run its own connection to the engine. */
  runSockets: Pick<RunSockets, 'open'>;
  /** True if the engine is on another machine: every run here has its own connection to it. */
  isEngineElsewhere: boolean;
  agents: Pick<AgentRegistry, 'resolveFolder'>;
  paths: SessionFolders;
  /** svc.yaml, given to workers as `SVC_CONFIG`. */
  configFile: string;
  /** Program and arguments that run `svc`; null when the host has none. */
  svc: readonly string[] | null;
  /** Reports whether other users of this machine can read the arguments of our processes. */
  isArgvSeen: boolean;
  /** The environment of a child of the engine: inherited variables, the engine's mark, and additions. */
  environment(extra: Record<string, string>): Record<string, string>;
  clock: Clock;
  log: Log;
}
