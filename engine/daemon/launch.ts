import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isErrorCode, SvcError } from '../base/errors.ts';
import { makePrivateFolder, openPrivate } from '../base/private-files.ts';
import { isInsideRun, isStillRunning } from '../runner/processes/own.ts';
import type { DaemonRecord } from '../workspace/daemon-record.ts';
import { claimDataFolder } from '../workspace/data-folder.ts';
import { resolveMachineHome } from '../workspace/machine-home.ts';
import { childEnded, startHost } from './host-start.ts';
import { takeStartTurn } from './start-turn.ts';
import { locateEngine } from './where.ts';

const SUPERVISOR = fileURLToPath(new URL('./supervisor.js', import.meta.url));

/** It loads next to nothing, and waits. */
const LEAN = ['--max-semi-space-size=1', '--max-old-space-size=32', '--v8-pool-size=1'];

const LONGEST_START_MS = 20_000;

/** What belongs to the caller's own session and must not become the engine's. */
const NOT_INHERITED =
  /^SVC_(SESSION|TASK|ROLE|AGENT|NAME|SESSION_NAME|RUN_ID|GIT_BASE|LEDGER_FORCE|ACTOR|SUPERVISOR)$/;

/** Whether this process has no business starting an engine: it would give it a run's environment. */
export const mustNotStart = isInsideRun;

/**
 * Whether the engine that a record tells of has a supervisor, which starts it again.
 * @param isFirst asked for the first time: the supervisor is told that a client waits
 */
export function isSupervised(record: DaemonRecord | null, { isFirst }: { isFirst: boolean }): boolean {
  const supervisor = record?.supervisor ?? null;
  if (supervisor === null || !isStillRunning(supervisor)) return false;
  if (isFirst) signalSupervisor(supervisor, 'SIGHUP');
  return true;
}

/** The supervisor of a workspace whose engine may have crashed; null for none. Throws as `locateEngine`. */
export async function findSupervisor(
  place: { root: string; file: string },
  env: NodeJS.ProcessEnv,
): Promise<{ pid: number } | null> {
  const supervisor = (await locateEngine(place, env)).record?.supervisor ?? null;
  return supervisor !== null && isStillRunning(supervisor) ? supervisor : null;
}

/** `SIGHUP`: a client waits for the engine; `SIGTERM`: it is not wanted any more. Fine for one that has just ended. */
export function signalSupervisor({ pid }: { pid: number }, signal: 'SIGHUP' | 'SIGTERM'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

interface StartOptions {
  /** Program and arguments that host the engine. */
  command: readonly string[];
  root: string;
  /** svc.yaml. */
  file: string;
  /** The data folder; what the host prints goes below it. */
  data: string;
  env: NodeJS.ProcessEnv;
}

/**
 * Starts an engine in the background, with a supervisor that keeps it running, and waits until it listens (`ready`). When
 * another client has just started one, or the host finds the workspace taken, it is `taken`: the first may still be
 * opening, or closing. For clients of the person's only: the engine has their environment from then on. Throws as
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
    return await launch(options, folder);
  } finally {
    endTurn();
  }
}

async function launch(
  { command, root, file, data, env }: StartOptions,
  folder: string,
): Promise<'ready' | 'taken'> {
  const output = openPrivate(join(folder, 'daemon.out'), 'add');
  const inherited = Object.entries(env).filter(([name]) => !NOT_INHERITED.test(name));
  const { child, said } = startHost({
    command: [process.execPath, ...LEAN, SUPERVISOR, data, ...command],
    cwd: root,
    // Absolute, since the host stands elsewhere.
    env: { ...Object.fromEntries(inherited), SVC_CONFIG: file, SVC_HOME: resolveMachineHome(env) },
    output,
    detached: true,
    patienceMs: LONGEST_START_MS,
  });
  closeSync(output);
  child.unref();
  const answer = await said;
  if ('ready' in answer) return 'ready';
  if (answer.code === 'engine_unreachable') throw unreachable(answer);
  // Its word came before its end: whoever is told that it failed must not find it still there.
  child.ref();
  await childEnded(child);
  if (answer.code === 'already_running') return 'taken';
  const { code, message, hint } = answer;
  throw new SvcError(isErrorCode(code) ? code : 'internal', message, hint === undefined ? {} : { hint });
}

const unreachable = ({ message, hint }: { message: string; hint?: string }): SvcError =>
  new SvcError('engine_unreachable', message, hint === undefined ? {} : { hint });
