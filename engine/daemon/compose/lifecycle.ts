import type { ConfigKeeper } from '../../config/keeper.ts';
import { SvcError } from '../../core/base/errors.ts';
import type { Session } from '../../workers/sessions/index.ts';
import type { EngineModules } from './modules.ts';
import type { SharedDependencies } from './shared-dependencies.ts';

/** Throws `engine_not_running` inside a run: it would end with the run, and has the environment that the worker gave it. */
export function refuseInsideRun(root: string, { processes, sessions }: EngineModules): void {
  if (processes.listRunsAbove(process.pid).every((runId) => sessions.byRunId(runId) === null)) return;
  throw new SvcError(
    'engine_not_running',
    `no engine is running for ${root}, and a worker cannot start one`,
    { hint: 'wait until the person has started it again' },
  );
}

/** A larger budget, or none, lets workers resume that wait for the next day's. */
async function resumeWithinBudget({ gateway, board }: EngineModules): Promise<void> {
  if (gateway.hasDayBudget()) await board.dispatcher.resumePaused('budget_exceeded');
}

/** Applies each change of svc.yaml to the modules that keep anything of it. */
export function watchConfiguration(
  { storage, events, log, closing }: SharedDependencies,
  modules: EngineModules,
  keeper: ConfigKeeper,
): void {
  keeper.watch((change) => {
    const invalid = {
      code: 'config_invalid',
      reason: 'svc.yaml has errors; the earlier configuration stays in use',
    };
    const waits = {
      code: 'consent_missing',
      reason: `svc.yaml has new values under ${change.waits.join(', ')}; the earlier values stay in use until svc trust`,
    };
    storage
      .write(() => {
        if (change.problem !== null) return events.append({ kind: 'alert', data: invalid });
        if (change.waits.length > 0) events.append({ kind: 'alert', data: waits });
        return events.append({ kind: 'config_reloaded', data: { restartNeeded: keeper.restartNeeded() } });
      })
      // Keys that waited for consent may have got it.
      .then(() => modules.link.applySettings())
      .then(() => modules.board.dispatcher.look())
      .then(() => modules.board.schedules.look())
      .then(() => modules.gateway.process.applySettings())
      .then(() => resumeWithinBudget(modules))
      .catch(() => undefined);
    log.info({ problem: change.problem }, 'svc.yaml changed');
  });
  closing(() => keeper.close());
}

/** Starts the modules, adopts an earlier host's sessions, and lets outside commands in. */
export async function startModules(
  { log, closing }: SharedDependencies,
  modules: EngineModules,
): Promise<void> {
  const { board, gateway, leases, link, processes, reviews, sessions } = modules;
  // Read during other waits.
  const leaseRead = leases.read();
  board.start();
  modules.memory.start();
  modules.texts.start();
  modules.retention.start();
  modules.bus.start();
  const live = new Set(sessions.listLive().map(({ sessionId }) => sessions.private(sessionId).runId));
  await processes.endUnknownRuns((runId) => live.has(runId));
  await gateway.start();
  await leaseRead;
  await reviews.recover();
  await modules.fleet.start();
  await board.dispatcher.recover();
  reviews.start();
  await resumeWithinBudget(modules);
  await modules.sessionActions.reap();
  // No outside command reaches an engine that does not know its lease and its workers yet.
  link.applySettings();
  leases.start();
  modules.sources.start();
  modules.pullRequests.automatic.start();
  modules.pullRequests.watch.start();
  board.schedules.start();
  // Branches may have been merged or deleted while no engine ran.
  const compared = reviews
    .reconcileRegister()
    .catch((error: unknown) => log.warn({ error }, 'branches were not compared'));
  // An engine that is stopped immediately still has its log while this ends.
  closing(() => compared);
}

/** Reports whether something of a session works without an engine: nothing of one that waits, or is being placed here. */
const mayWork = ({ state, runner }: Session): boolean =>
  state === 'running' || (state === 'starting' && runner !== null);

/** Creates the two ways in which a running engine ends: it is stopped, or loses its data folder. */
export function createStops({ log }: SharedDependencies, modules: EngineModules) {
  const { sessions, processes, board, gateway } = modules;
  let stopAsked: () => void = () => undefined;
  let goneTold: () => void = () => undefined;
  return {
    async stopEngine({ stopWorkers }: { stopWorkers: boolean }): Promise<{ left: string[] }> {
      const live = sessions.listLive();
      if (stopWorkers) await board.dispatcher.stopAll();
      // Workers that continue still call it.
      if (stopWorkers || live.length === 0) await gateway.process.stop();
      // The answer is sent before the connection closes.
      setImmediate(() => stopAsked());
      // Those of a machine that cannot be reached are stopped later.
      const left = stopWorkers ? sessions.listLive() : live;
      return { left: left.filter(mayWork).map(({ sessionId }) => sessionId) };
    },
    /** Without its data folder an engine cannot promise anything; its workers have no one to report to. */
    async stopWithoutFolder(): Promise<void> {
      log.error({}, 'the data folder was removed; the engine stops');
      const live = sessions.listLive().map((each) => sessions.private(each.sessionId));
      await Promise.allSettled(
        live.map(({ runId, process }) => processes.sweep(runId ?? '', process?.pidStart)),
      );
      goneTold();
    },
    onStopAsked(listener: () => void) {
      stopAsked = listener;
    },
    /** Called when the data folder was removed: the host has to release it. Workers have already ended. */
    onGone(listener: () => void) {
      goneTold = listener;
    },
  };
}
