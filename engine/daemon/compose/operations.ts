import { z } from 'zod';
import type { Schedule } from '../../board/schedules/index.ts';
import { actorDenied, mayAct, type OperationPolicy, operation } from '../../core/api/operation.ts';
import type { LinkStatus } from '../../link/index.ts';

export interface EngineStatus {
  pid: number;
  version: string;
  root: string;
  workspace: string;
  startedAt: string;
  uptimeSec: number;
  memoryBytes: number;
  http: { host: string; port: number } | null;
  receivers: { host: string; port: number }[];
  /** Why the receiver of `ui.addr` is off, a clause; null while it is on, or if nothing has tried to open it. */
  receiverProblem: string | null;
  /** The repositories that are polled, and why that fails; null if it works. */
  sources: { repository: string; problem: string | null }[];
  /** The schedules, which create tasks. */
  schedules: Schedule[];
  /** The process that restarts the engine after a crash; null for none. */
  supervisor: number | null;
  /** The variables that hold secrets, and whether the engine has them: it keeps the environment that it was started with. */
  secrets: { key: string; name: string; isSet: boolean }[];
  /** The engine's search locations for programs and files: its environment is that of its start. */
  environment: { path: string | null; home: string | null };
  tasks: Record<string, number>;
  decisionsPending: number;
  /** Open questions of workers. */
  asksOpen: number;
  workers: { running: number; queued: number; paused: number; cap: number };
  /** How the processes of a run are contained here; null while that is being determined. */
  containment: 'cgroup' | 'pidns' | 'marks' | null;
  /** Suspended agents. */
  heldAgents: string[];
  deliveries: { pending: number; delivered: number; dead: number };
  deliveryProblems: { target: string; problem: string }[];
  link: LinkStatus;
  /** Why the configuration on disk is not the one in use; null if it is. */
  configProblem: string | null;
  /** The consent to svc.yaml on this machine; `none`: never given, so nothing is started. */
  consent: 'given' | 'changed' | 'none';
  /** Keys of svc.yaml whose values wait for consent. */
  consentPending: string[];
  /** Changed keys that only take effect after a restart. */
  restartNeeded: string[];
  warnings: string[];
}

/** Operations on the engine itself. */
export function engineOperations(deps: {
  status(): EngineStatus;
  reload(): { configProblem: string | null; restartNeeded: string[] };
  stop(options: { stopWorkers: boolean }): Promise<{ left: string[] }>;
  policy(): OperationPolicy;
}) {
  return [
    operation({
      name: 'engine.status',
      about: 'Running and waiting work, and the addresses that the engine listens on.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({}),
      run: () => deps.status(),
    }),
    operation({
      name: 'engine.reload',
      about: 'Read svc.yaml again now, after it was changed.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({}),
      run: () => deps.reload(),
    }),
    operation({
      name: 'engine.stop',
      about:
        'Stop the engine. Workers keep running and are adopted at the next start, unless they are to be stopped too.',
      seat: 'chair',
      // By itself it changes no work: an unlisted person may stop the engine on their machine. Ending workers does change work.
      changes: false,
      input: z.strictObject({ stop_workers: z.boolean().optional() }),
      run({ stop_workers: stopWorkers = false }, { actor }) {
        if (stopWorkers && !mayAct(deps.policy(), actor)) throw actorDenied(actor);
        return deps.stop({ stopWorkers });
      },
    }),
  ];
}
