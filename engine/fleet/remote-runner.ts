import { setTimeout as delay } from 'node:timers/promises';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { countBranch, type MachineRunner, NOTHING_KEPT, type RunExit } from '../workers/runner/runs/index.ts';
import { SESSION_PREFIX, type Worktrees } from '../workers/runner/worktrees/index.ts';
import type { Transfers } from '../workers/runner/worktrees/transfer/index.ts';
import type { LocalPlacement } from '../workers/sessions/index.ts';
import { fetchWork, type RemoteBranch } from './fetch-work.ts';
import type { LogMirror } from './log-mirror.ts';
import type { MachineConnection } from './machine-connection.ts';
import { nameSnapshot, runReport, type WirePlacement } from './messages.ts';
import { sendBase } from './send-base.ts';
import { stripSetup } from './strip-setup.ts';
import { writeWirePlacement } from './wire-placement.ts';

/** The pause before a runner that is stopping is asked again, ms. */
const AGAIN_MS = 1000;

export interface RemoteRunnerDeps {
  connection: MachineConnection;
  transfers: Transfers;
  worktrees: Pick<Worktrees, 'diffBranch'>;
  logs: LogMirror;
  log: Log;
  /** Four hexadecimal digits that end the names of branches whose usual names are taken. */
  suffix: string;
}

/** Runs workers on another machine. Everything that is sent there or comes back is checked here. */
export function createRemoteRunner({
  connection,
  transfers,
  worktrees,
  logs,
  log,
  suffix,
}: RemoteRunnerDeps): MachineRunner {
  const placeThere = (placement: LocalPlacement): Promise<WirePlacement> =>
    writeWirePlacement(transfers, placement);

  /** Writes a placement of the machine with the repository of this one. */
  const placeHere = (placement: WirePlacement, repository: string | null): LocalPlacement => ({
    ...placement,
    repository,
  });

  const findBranch = (
    placement: LocalPlacement,
    { repository, branch, baseCommit }: WirePlacement,
  ): RemoteBranch => ({
    folder: placement.repository ?? '',
    repository,
    branch,
    baseCommit,
  });

  /** Creates the branch of a new session here, so that no other workspace of the repository takes its name. */
  async function reserveBranch(folder: string, sessionId: string, commit: string): Promise<string> {
    for (const name of [sessionId, `${sessionId}-${suffix}`])
      if (await transfers.createBranch(folder, `${SESSION_PREFIX}${name}`, commit))
        return `${SESSION_PREFIX}${name}`;
    throw new SvcError('exists', `the branch ${SESSION_PREFIX}${sessionId} exists already`);
  }

  /** Finds the branch of a session and the commit that it starts from: its end if it was begun on another machine. */
  async function findStart(sessionId: string, folder: string, baseCommit: string, begun: string | undefined) {
    if (begun === undefined)
      return { branch: await reserveBranch(folder, sessionId, baseCommit), baseCommit };
    const tip = await transfers.findTip(folder, begun);
    if (tip !== null) return { branch: begun, baseCommit: tip };
    throw new SvcError('not_found', `the branch ${begun} no longer exists`, {
      hint: 'its work cannot continue on another machine without it',
    });
  }

  const runner: MachineRunner = {
    async place(order) {
      const { sessionId, origin, placement, former, isQuiet, note, signal } = order;
      const folder = placement?.repository ?? former?.repository ?? origin?.repository ?? null;
      const baseCommit = placement?.baseCommit ?? former?.baseCommit ?? origin?.baseCommit ?? null;
      if (folder === null || baseCommit === null)
        throw new SvcError('not_a_repository', 'a run on another machine needs a git repository', {
          hint: 'run `git init` and commit something, or run it on this machine',
        });
      const repository = await transfers.identifyRepository(folder, baseCommit);
      const start = origin === null ? null : await findStart(sessionId, folder, baseCommit, origin.branch);
      if (start !== null)
        await sendBase(connection, transfers, { folder, repository, commit: start.baseCommit });
      const sent = {
        sessionId,
        origin: origin && start && { repository, inside: origin.inside, base: origin.base, ...start },
        placement: placement && (await placeThere(placement)),
        former: former && (await placeThere(former)),
        isQuiet,
        note,
        logFrom: logs.findEnd(sessionId),
      };
      const placed = await connection
        .call('place', sent, signal === undefined ? {} : { signal })
        .catch(async (error: unknown) => {
          const isReserved = start !== null && origin?.branch === undefined;
          if (isReserved && asSvcError(error).code === 'cancelled')
            await transfers.removeUnusedBranch(folder, start.branch, start.baseCommit);
          throw error;
        });
      const { placement: there } = placed;
      const isOther =
        start !== null && (there.branch !== start.branch || there.baseCommit !== start.baseCommit);
      const isOtherBase = start === null && there.baseCommit !== baseCommit;
      if (isOther || isOtherBase || there.repository !== repository)
        throw new SvcError('answer_invalid', 'the machine has placed the session elsewhere than ordered');
      logs.follow(sessionId);
      return { ...placed, placement: { ...placeHere(there, folder), baseCommit } };
    },
    async prepare(order) {
      logs.follow(order.run.sessionId);
      return connection.call('prepare', {
        ...order,
        setup: stripSetup(order.setup),
        placement: await placeThere(order.placement),
      });
    },
    async start(order) {
      return connection.call('start', { ...order, placement: await placeThere(order.placement) });
    },
    async adopt(order) {
      logs.follow(order.run.sessionId);
      return connection.call('adopt', order);
    },
    async watch(order, onReport) {
      logs.follow(order.run.sessionId);
      const listen = {
        onReport(data: unknown): void {
          const report = runReport.safeParse(data).data;
          if (report !== undefined) onReport(report);
        },
      };
      try {
        for (;;) {
          const { run, format, outputFrom } = order;
          const exit: RunExit | null = await connection.call('watch', { run, format, outputFrom }, listen);
          if (exit !== null) return exit;
          // That runner is stopping; the next one adopts the run.
          await delay(AGAIN_MS);
        }
      } catch (error) {
        if (asSvcError(error).code === 'engine_closing') return null;
        throw error;
      }
    },
    async stop(run, graceMs) {
      await connection.call('stop', { run, graceMs });
    },
    async collect(order) {
      const placement = order.placement && (await placeThere(order.placement));
      const { logEnd, ...result } = await connection.call('collect', { ...order, placement });
      await logs.finish(order.run.sessionId, logEnd);
      return result;
    },
    async keep({ signal: _, ...order }) {
      const { placement } = order;
      if (placement === null) return NOTHING_KEPT;
      try {
        const there = await placeThere(placement);
        const { left } = await connection.call('keep', { ...order, placement: there });
        // The counts are the board's.
        const branch = findBranch(placement, there);
        const { sessionId, number, message } = order;
        // Nothing is committed before a pause, and its machine may be lost during that.
        const problem = await fetchWork(connection, transfers, branch, {
          ...(message === null ? { snapshot: { sessionId, number } } : {}),
        });
        if (problem === null && message !== null)
          await transfers.removeSnapshot(branch.folder, nameSnapshot(branch.branch, sessionId, number));
        if (problem !== null)
          log.warn({ sessionId: order.sessionId, problem }, 'not all work was taken over');
        const all = problem === null ? left : [...left, problem];
        const work = { repository: branch.folder, head: branch.branch, baseCommit: branch.baseCommit };
        const isHere = (await transfers.findTip(branch.folder, branch.branch)) !== null;
        return order.message === null || !isHere
          ? { ...NOTHING_KEPT, left: all }
          : { ...(await countBranch(worktrees, work)), left: all };
      } catch (error) {
        if (asSvcError(error).code === 'engine_closing') throw error;
        const { message } = asSvcError(error);
        log.warn({ sessionId: order.sessionId, error: message }, 'the work was not taken over');
        return { ...NOTHING_KEPT, left: [`its work is still on its machine: ${message}`] };
      }
    },
    async discard(run) {
      const { logEnd } = await connection.call('discard', run);
      await logs.finish(run.sessionId, logEnd);
    },
    async clear(order) {
      const there = await placeThere(order.placement);
      const confirmed = await transfers.findTip(order.placement.repository ?? '', there.branch);
      return connection.call('clear', {
        ...order,
        setup: stripSetup(order.setup),
        placement: there,
        confirmed,
      });
    },
  };
  return runner;
}
