import { type LocalPlacement, type SessionPlacement, writeSitePath } from '../../sessions/index.ts';
import type { LocalRunner, MachineRunner, Runner } from './runner.ts';

/** The runners of sessions. */
export interface RunnerRoutes {
  /** This machine's. */
  local: LocalRunner;
  /** Returns the runner of another machine by its id. Throws an `SvcError` if there is none. */
  findRemote(runner: string): MachineRunner;
  /** Returns the id of the runner that a session is on; null for this machine. */
  findRunnerOf(sessionId: string): string | null;
  /** Releases the runs of all other machines, which continue there. */
  closeRemotes(): Promise<void>;
}

/**
 * Routes each call to the runner of its session. Paths of another machine are strings only there. Projects, branches
 * and other facts that the engine knows itself are read on this machine.
 */
export function createRunnerRouter({ local, findRemote, findRunnerOf, closeRemotes }: RunnerRoutes): Runner {
  function route(sessionId: string): { machine: MachineRunner; runner: string | null } {
    const runner = findRunnerOf(sessionId);
    return { machine: runner === null ? local : findRemote(runner), runner };
  }

  return {
    ...local,
    async close() {
      await Promise.all([local.close(), closeRemotes()]);
    },
    async place(order) {
      const { machine, runner } = route(order.sessionId);
      const { placement, ...placed } = await machine.place({
        ...order,
        placement: order.placement && placeThere(order.placement),
        former: order.former && placeThere(order.former),
      });
      return { ...placed, placement: placeHere(runner, placement) };
    },
    async prepare(order) {
      const placement = placeThere(order.placement);
      return route(order.run.sessionId).machine.prepare({ ...order, placement });
    },
    async start(order) {
      const placement = placeThere(order.placement);
      return route(order.run.sessionId).machine.start({ ...order, placement });
    },
    adopt: async (order) => route(order.run.sessionId).machine.adopt(order),
    watch: async (order, onReport) => route(order.run.sessionId).machine.watch(order, onReport),
    stop: async (run, graceMs) => route(run.sessionId).machine.stop(run, graceMs),
    async collect(order) {
      const placement = order.placement && placeThere(order.placement);
      return route(order.run.sessionId).machine.collect({ ...order, placement });
    },
    async keep(order) {
      const placement = order.placement && placeThere(order.placement);
      return route(order.sessionId).machine.keep({ ...order, placement });
    },
    discard: async (run) => route(run.sessionId).machine.discard(run),
    clear: async (order) =>
      route(order.session.sessionId).machine.clear({ ...order, placement: placeThere(order.placement) }),
  };
}

/** Writes a placement as its own machine sees it. */
function placeThere(placement: SessionPlacement): LocalPlacement {
  const { worktree, cwd } = placement;
  return { ...placement, runner: null, worktree: writeSitePath(worktree), cwd: writeSitePath<never>(cwd) };
}

/** Writes a placement of a machine as it is seen from this one. */
function placeHere(runner: string | null, placement: LocalPlacement): SessionPlacement {
  if (runner === null) return placement;
  const { worktree, cwd } = placement;
  return {
    ...placement,
    runner,
    worktree: worktree === null ? null : { path: worktree },
    cwd: { path: cwd },
  };
}
