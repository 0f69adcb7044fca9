import { z } from 'zod';
import { actorDenied, mayAct, operation, type Policy } from '../../core/api/operation.ts';
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
  /** Why the receiver of `ui.addr` is off, a clause; null while it is on, and when nothing has tried to open it. */
  receiverProblem: string | null;
  /** The process that starts the engine again after a crash; null for none. */
  supervisor: number | null;
  /** The variables that hold secrets, and whether the engine has them: it keeps the environment that it was started with. */
  secrets: { key: string; name: string; isSet: boolean }[];
  /** Where the engine looks for programs and files: its environment is that of its start. */
  environment: { path: string | null; home: string | null };
  tasks: Record<string, number>;
  decisionsPending: number;
  /** Questions of workers that nobody has answered. */
  asksOpen: number;
  workers: { running: number; queued: number; paused: number; cap: number };
  /** How the processes of a run are held together here; null while that is being found out. */
  containment: 'cgroup' | 'pidns' | 'marks' | null;
  /** Agents that are given no work. */
  heldAgents: string[];
  deliveries: { pending: number; delivered: number; dead: number };
  link: LinkStatus;
  /** Why the configuration on disk is not the one in use; null when it is. */
  configProblem: string | null;
  /** Whether what svc.yaml says was agreed to on this machine; `none`: never, so nothing is started. */
  consent: 'given' | 'changed' | 'none';
  /** Keys of svc.yaml whose values wait for that. */
  consentPending: string[];
  /** Changed keys that count only after a restart. */
  restartNeeded: string[];
  warnings: string[];
}

/** What clients may ask about the engine itself. */
export function engineOperations(deps: {
  status(): EngineStatus;
  reload(): { configProblem: string | null; restartNeeded: string[] };
  stop(options: { stopWorkers: boolean }): Promise<{ left: string[] }>;
  policy(): Policy;
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
      // Alone it changes no work: a person who is not listed may stop what runs on their machine. Ending workers does.
      changes: false,
      input: z.strictObject({ stop_workers: z.boolean().optional() }),
      run({ stop_workers: stopWorkers = false }, { actor }) {
        if (stopWorkers && !mayAct(deps.policy(), actor)) throw actorDenied(actor);
        return deps.stop({ stopWorkers });
      },
    }),
  ];
}
