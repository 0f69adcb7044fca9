import { findSecrets } from '../../config/index.ts';
import type { ConfigKeeper } from '../../config/keeper.ts';
import { version } from '../../core/base/own-package.ts';
import { readResidentBytes } from '../../core/platform/resident-memory.ts';
import { findOwnSupervisor } from '../../core/workspace/own-supervisor.ts';
import type { EngineModules } from './modules.ts';
import type { EngineStatus } from './operations.ts';
import type { SharedDependencies } from './shared-dependencies.ts';

/** Creates the status of the engine itself. */
export function createEngineStatus(
  shared: SharedDependencies,
  modules: EngineModules,
  { keeper, startedAt }: { keeper: ConfigKeeper; startedAt: string },
) {
  const { config, env, clock } = shared;
  const { board, bus, link, listeners, receiver } = modules;
  let http: EngineStatus['http'] = null;
  let containment: EngineStatus['containment'] = null;
  return {
    read: (): EngineStatus => ({
      pid: process.pid,
      version,
      root: shared.root,
      workspace: config().workspace.name,
      startedAt,
      uptimeSec: Math.floor((clock.now() - Date.parse(startedAt)) / 1000),
      memoryBytes: readResidentBytes(),
      http,
      receivers: listeners.addresses(),
      receiverProblem: receiver.problem(),
      sources: modules.sources.list().map(({ repository, problem }) => ({ repository, problem })),
      schedules: board.schedules.list(),
      supervisor: findOwnSupervisor(env),
      secrets: findSecrets(config(), shared.secret, shared.currentSecret),
      environment: { path: env.PATH ?? null, home: env.HOME ?? null },
      tasks: board.tasks.counts(),
      decisionsPending: board.decisions.count('pending'),
      asksOpen: bus.asks.counts().open,
      workers: { ...modules.sessions.counts(), cap: board.dispatcher.cap },
      containment,
      heldAgents: modules.circuits.listCircuits().map(({ agent }) => agent),
      deliveries: modules.notify.counts(),
      deliveryProblems: modules.notify.problems(),
      link: link.status(),
      configProblem: keeper.problem(),
      restartNeeded: keeper.restartNeeded(),
      consent: keeper.loaded().consent.state,
      consentPending: keeper.loaded().consent.pending.map(({ key }) => key),
      warnings: keeper.loaded().warnings,
    }),
    setHttp(address: { host: string; port: number }) {
      http = address;
    },
    /** Determines how runs are contained, before the first one has to wait for it. */
    async findContainment(): Promise<void> {
      containment = await modules.processes.findContainmentKind();
    },
  };
}
