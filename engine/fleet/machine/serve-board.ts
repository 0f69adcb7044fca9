import { randomUUID } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { asSvcError } from '../../core/base/errors.ts';
import { openLog } from '../../core/base/log.ts';
import { version } from '../../core/base/own-package.ts';
import { listenOn } from '../../core/http/listen.ts';
import { makeSocketFolder } from '../../core/workspace/socket-path.ts';
import { holdHostLock } from '../../storage/index.ts';
import { checkConfinement } from '../../workers/runner/confine/index.ts';
import type { MachineFacts } from '../messages.ts';
import { FLEET_PROTOCOL, openLink } from '../wire/index.ts';
import { createBoardLink } from './board-link.ts';
import { composeMachineRunner } from './compose-runner.ts';
import { createGatewayPorts } from './gateway-ports.ts';
import { listInstalledAgents } from './installed-agents.ts';
import { readJoinedFleet } from './joined-fleet.ts';
import { openLease } from './lease.ts';
import { leaveFleet } from './leave-fleet.ts';
import { readLoginPath } from './login-path.ts';
import { locateMachineFolders, makeMachineFolders } from './machine-folders.ts';
import { readOwnRules } from './own-rules.ts';
import { listRecordedRuns } from './run-records.ts';
import { startHeartbeats } from './send-heartbeats.ts';
import { createCheckServer } from './serve-checks.ts';
import { connectRuns, createOrderServer } from './serve-orders.ts';
import { type ShortLife, watchShortLife } from './short-life.ts';
import { watchRuns } from './watch-runs.ts';

export interface MachineHost {
  /** Resolves when it has closed. */
  readonly closed: Promise<void>;
  /** Releases the runs, which continue. */
  close(): Promise<void>;
  /** Gets no more runs, and leaves the fleet once its last one has ended. */
  finish(): void;
}

/** How long a run may take to end by itself, ms. */
const GRACE_MS = 5000;

const LOCK_WORDS = {
  message: (pid: number | null) =>
    `a runner already works for this fleet here${pid === null ? '' : ` (pid ${pid})`}`,
  hint: 'it serves the engine by itself',
};

/**
 * Runs workers on this machine for the board of a fleet, until it is closed. Its runs outlive it, and are adopted by the
 * next one. Throws `already_running`, `storage_unsafe`, `storage_failed`.
 * @param svc program and arguments that run `svc`
 */
export async function serveBoard(
  fleet: string,
  {
    env: given,
    svc,
    life = null,
  }: { env: NodeJS.ProcessEnv; svc: readonly string[]; life?: ShortLife | null },
): Promise<MachineHost> {
  const folders = locateMachineFolders(fleet, given);
  makeMachineFolders(folders, given);
  const lock = holdHostLock(folders.data, LOCK_WORDS);
  const closers: (() => unknown)[] = [() => lock.release()];
  const closing = (close: () => unknown): void => void closers.push(close);
  async function unwind(): Promise<void> {
    for (const close of closers.splice(0).reverse()) await close();
  }
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let ending: Promise<void> | null = null;
  let isLeaving = false;
  let stay: ReturnType<typeof watchShortLife> | null = null;
  function close(): Promise<void> {
    ending ??= unwind()
      .then(() => (isLeaving ? leaveFleet(fleet, given) : undefined))
      .finally(resolve);
    return ending;
  }
  /** Ends this runner and removes its folders, once the answer to that order has gone out. */
  function leave(): void {
    isLeaving = true;
    setImmediate(() => void close());
  }
  try {
    const rules = readOwnRules(given);
    const env = { ...given, PATH: await readLoginPath(given) };
    const { log, close: closeLog } = openLog(folders.data);
    closing(closeLog);
    const board = createBoardLink(log);
    const parts = composeMachineRunner({ folders, env, svc, log, closing });
    const ports = createGatewayPorts((run, connection) => board.tunnel('gateway', run, connection));
    closing(ports.closeAll);
    connectRuns(parts, board);
    /** Something may have been installed in a folder that the person's shell has searched only since. */
    async function refreshPath(): Promise<void> {
      env.PATH = await readLoginPath(given, env.PATH);
    }
    const lease = openLease(folders.data, GRACE_MS);
    const { runner } = parts;
    const watch = watchRuns({
      ...{ runner, agentsDir: folders.agents, lease, graceMs: GRACE_MS, log },
      hasEnded: ({ sessionId, runId }) =>
        parts.processes.readExit(join(folders.agents, sessionId, runId)) !== null,
    });
    closing(watch.close);
    const { endAll } = watch;
    const joined = readJoinedFleet(folders.data);
    const checks = createCheckServer({ checks: parts.workChecks, folders });
    closing(checks.close);
    await checks.clearLeft();
    if (life !== null) {
      const countRuns = (): number => listRecordedRuns(folders.agents).length + checks.count();
      stay = watchShortLife(life, { board, countRuns, leave, log });
      closing(stay.close);
    }
    const orders = createOrderServer({
      ...{ ...parts, checks, folders, ports, env, refreshPath, rules, endAll },
      leave,
      onBegun: () => stay?.begun(),
      mustTrust: joined !== null,
    });
    await orders.resumeRuns();
    closing(
      startHeartbeats({ board, lease, folder: folders.data, listAgents: () => listInstalledAgents(env) })
        .close,
    );
    closing(board.close);
    const boot = randomUUID();

    /** The facts that this machine reports at the start of a connection. */
    async function describeMachine(): Promise<MachineFacts> {
      const confinementProblem = await checkConfinement(env).then(
        () => null,
        (error: unknown) => asSvcError(error).message,
      );
      const { agents, max, profile } = rules;
      const most = life?.isOnce ? Math.min(1, max ?? 1) : max;
      return { boot, confinementProblem, agents, most, profile };
    }

    const connections = new Set<Socket>();
    const server = createServer((socket) => {
      connections.add(socket);
      socket.on('close', () => connections.delete(socket));
      socket.on('error', () => socket.destroy());
      describeMachine()
        .then((about) => openLink(socket, { protocol: FLEET_PROTOCOL, version, about }, orders.handlers))
        .then(board.attach, (error: unknown) => {
          log.warn({ error: asSvcError(error).message }, 'the board was not connected');
          socket.destroy();
        });
    });
    await listenPrivately(server, folders.socket, folders.data);
    closing(() => {
      server.close();
      for (const socket of connections) socket.destroy();
      rmSync(folders.socket, { force: true });
    });
    if (joined !== null) {
      const { dialBoard } = await import('./dial-board.ts');
      const dialing = dialBoard({
        ...{ fleet, joined, handlers: orders.handlers, board, describe: describeMachine, log },
        readLeaseMs: lease.read,
        // A machine that stays stays: its person decides.
        ...(life === null ? {} : { onRefused: leave }),
      });
      closing(dialing.close);
    }
    log.info({ pid: process.pid, version, fleet }, 'runner open');
  } catch (error) {
    await unwind();
    throw error;
  }
  return { closed, close, finish: () => stay?.finish() };
}

async function listenPrivately(
  server: ReturnType<typeof createServer>,
  path: string,
  data: string,
): Promise<void> {
  makeSocketFolder(dirname(path), dirname(path) === data);
  // The lock is ours, so no one listens there.
  rmSync(path, { force: true });
  await listenOn(server, { path });
  chmodSync(path, 0o600);
}
