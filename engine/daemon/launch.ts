import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { isErrorCode, SvcError } from '../core/base/errors.ts';
import { locateProgram } from '../core/base/own-package.ts';
import { makePrivateFolder, openPrivate } from '../core/base/private-files.ts';
import type { DaemonRecord } from '../core/workspace/daemon-record.ts';
import { claimDataFolder } from '../core/workspace/data-folder.ts';
import { resolveMachineHome } from '../core/workspace/machine-home.ts';
import { isInsideRun, isStillRunning, mustNotStartEngine } from '../workers/runner/processes/own.ts';
import { locateEngine } from './locate.ts';
import { startHost, waitForChild } from './start-host.ts';
import { takeStartTurn } from './start-turn.ts';

/** Node options of the supervisor, which loads next to nothing and waits. */
const LEAN = ['--max-semi-space-size=1', '--max-old-space-size=32', '--v8-pool-size=1'];

const LONGEST_START_MS = 20_000;

/** Variables of the caller's own session, which the engine must not inherit. */
const NOT_INHERITED =
  /^SVC_(SESSION|TASK|ROLE|AGENT|NAME|SESSION_NAME|RUN_ID|GIT_BASE|LEDGER_FORCE|ACTOR|SUPERVISOR)$/;

/** Reports whether this process must not host an engine, because it would pass on a run's environment. */
export const mustNotHost = isInsideRun;
/** Reports whether it must not start one for a data folder. */
export const mustNotStart = mustNotStartEngine;

/**
 * Reports whether the engine of a record has a running supervisor, which restarts it.
 * @param isFirst true on the first call, which notifies the supervisor that a client waits
 */
export function isSupervised(record: DaemonRecord | null, { isFirst }: { isFirst: boolean }): boolean {
  const supervisor = record?.supervisor ?? null;
  if (supervisor === null || !isStillRunning(supervisor)) return false;
  if (isFirst) signalSupervisor(supervisor, 'SIGHUP');
  return true;
}

/** Finds the supervisor of a workspace whose engine may have crashed; null for none. Throws as `locateEngine`. */
export async function findSupervisor(
  place: { root: string; file: string },
  env: NodeJS.ProcessEnv,
): Promise<{ pid: number } | null> {
  const supervisor = (await locateEngine(place, env)).record?.supervisor ?? null;
  return supervisor !== null && isStillRunning(supervisor) ? supervisor : null;
}

/** Sends `SIGHUP` (a client waits for the engine) or `SIGTERM` (stop). The supervisor may have ended already. */
export function signalSupervisor({ pid }: { pid: number }, signal: 'SIGHUP' | 'SIGTERM'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/**
 * Kills an engine that does not answer, and its supervisor, which would restart it. Returns the pids that ran: a pid
 * that now belongs to another process is left alone. Throws as `locateEngine`.
 */
export async function killEngine(
  place: { root: string; file: string },
  env: NodeJS.ProcessEnv,
): Promise<number[]> {
  const { record } = await locateEngine(place, env);
  if (record === null) return [];
  const { pid, process: own, supervisor } = record;
  // First the supervisor, which would restart it.
  const named = [supervisor, own === null ? null : { pid, pidStart: own.start }];
  const running = named.flatMap((each) => (each !== null && isStillRunning(each) ? [each.pid] : []));
  // A stopped process receives no other signal.
  for (const each of running) process.kill(each, 'SIGKILL');
  return running;
}

interface StartOptions {
  /** Program and arguments that host the engine. */
  command: readonly string[];
  root: string;
  /** svc.yaml. */
  file: string;
  /** The data folder; the host's output is stored below it. */
  data: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Starts an engine in the background, with a supervisor that keeps it running, and waits until it listens (`ready`).
 * Returns `taken` if another client has just started one, or the host finds the workspace taken: that engine may
 * still be starting, or stopping. Only for a person's clients, since the engine inherits their environment. Throws as
 * `claimDataFolder`.
 */
export async function startDaemon(options: StartOptions): Promise<'ready' | 'taken'> {
  if (options.command.length === 0) throw new SvcError('internal', 'no daemon command');
  claimDataFolder(options, options.env);
  const folder = join(options.data, 'log');
  makePrivateFolder(options.data, folder);
  const endTurn = await takeStartTurn(options.data);
  if (endTurn === null) return 'taken';
  try {
    return await launchHost(options, folder);
  } finally {
    endTurn();
  }
}

async function launchHost(
  { command, root, file, data, env }: StartOptions,
  folder: string,
): Promise<'ready' | 'taken'> {
  const output = openPrivate(join(folder, 'daemon.out'), 'add');
  const inherited = Object.entries(env).filter(([name]) => !NOT_INHERITED.test(name));
  const { child, said } = startHost({
    command: [process.execPath, ...LEAN, locateProgram('supervisor'), data, ...command],
    cwd: root,
    // Absolute, since the host runs in another folder.
    env: { ...Object.fromEntries(inherited), SVC_CONFIG: file, SVC_HOME: resolveMachineHome(env) },
    output,
    detached: true,
    patienceMs: LONGEST_START_MS,
  });
  closeSync(output);
  child.unref();
  const answer = await said;
  if ('ready' in answer) return 'ready';
  if (answer.code === 'engine_unreachable') throw unreachableError(answer);
  // Its report comes before its end: a caller that receives the failure must not find it still running.
  child.ref();
  await waitForChild(child);
  if (answer.code === 'already_running') return 'taken';
  const { code, message, hint } = answer;
  throw new SvcError(isErrorCode(code) ? code : 'internal', message, hint === undefined ? {} : { hint });
}

const unreachableError = ({ message, hint }: { message: string; hint?: string }): SvcError =>
  new SvcError('engine_unreachable', message, hint === undefined ? {} : { hint });
