import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { connect as connectSocket, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { SvcError } from '../../core/base/errors.ts';
import { checkSocket } from '../../core/workspace/socket-path.ts';
import { joinStreams, pipeBoth } from '../wire/index.ts';
import { locateMachineFolders, type MachineFolders, makeMachineFolders } from './machine-folders.ts';

/** How long a runner may take to start, ms; the shell of the person is asked for its PATH first. */
const START_MS = 60_000;
const LOOK_MS = 100;
/** How long the socket of another one is waited for once ours has ended, ms. */
const ENDED_MS = 3000;
const MOST_OUTPUT = 8192;

function openSocket(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connectSocket(path);
    socket.once('connect', () => resolve(socket)).once('error', () => resolve(null));
  });
}

const outputFile = ({ data }: MachineFolders): string => join(data, 'runner.out');

/** Starts the runner as a process that outlives this one. The answer reports whether it has ended. */
function startRunner(
  fleet: string,
  folders: MachineFolders,
  svc: readonly string[],
  env: NodeJS.ProcessEnv,
): () => boolean {
  const output = openSync(outputFile(folders), 'w', 0o600);
  let hasEnded = false;
  try {
    const [program = '', ...args] = svc;
    const child = spawn(program, [...args, 'runner', 'serve', fleet], {
      cwd: folders.root,
      env,
      detached: true,
      stdio: ['ignore', output, output],
    });
    const end = (): void => {
      hasEnded = true;
    };
    child.on('error', end).on('exit', end);
    child.unref();
    return () => hasEnded;
  } finally {
    closeSync(output);
  }
}

/** Reads the error that a runner has printed at its end. */
function readError(folders: MachineFolders): string {
  const lines = readFileSync(outputFile(folders), 'utf8').slice(-MOST_OUTPUT).split('\n');
  const line = lines.findLast((each) => each.startsWith('error: ')) ?? '';
  return line.slice('error: '.length);
}

/** Opens the socket of the runner of this machine, and starts it if it does not run. Throws `runner_unreachable`, `storage_unsafe`. */
async function openRunner(
  fleet: string,
  { env, svc, signal }: { env: NodeJS.ProcessEnv; svc: readonly string[]; signal: AbortSignal },
): Promise<Socket> {
  const folders = locateMachineFolders(fleet, env);
  makeMachineFolders(folders, env);
  checkSocket(folders.socket, folders.data);
  let socket = await openSocket(folders.socket);
  const hasEnded = socket === null ? startRunner(fleet, folders, svc, env) : () => false;
  // One that another connection has started makes ours end, and opens the socket later.
  let left = START_MS;
  while (socket === null && left > 0) {
    await delay(LOOK_MS, undefined, { signal });
    socket = await openSocket(folders.socket);
    left -= LOOK_MS;
    if (hasEnded()) left = Math.min(left, ENDED_MS);
  }
  if (socket !== null) return socket;
  const why = hasEnded() ? readError(folders) : '';
  throw new SvcError('runner_unreachable', why || `the runner did not start within ${START_MS / 1000} s`, {
    hint: `${outputFile(folders)} shows why`,
  });
}

/** Starts the runner of a fleet that this machine has joined, unless it runs. Throws as `connectMachine`. */
export async function startMachine(
  fleet: string,
  options: { env: NodeJS.ProcessEnv; svc: readonly string[]; signal: AbortSignal },
): Promise<void> {
  (await openRunner(fleet, options)).destroy();
}

/**
 * Joins two streams to the runner of this machine, and starts it if it does not run. Resolves when the connection has
 * ended. Throws `runner_unreachable`, `storage_unsafe`.
 */
export async function connectMachine(
  fleet: string,
  {
    env,
    svc,
    input,
    output,
    signal,
  }: {
    env: NodeJS.ProcessEnv;
    svc: readonly string[];
    input: Readable;
    output: Writable;
    /** Ends the connection. */
    signal: AbortSignal;
  },
): Promise<void> {
  const socket = await openRunner(fleet, { env, svc, signal });
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const end = (): void => void socket.destroy();
  signal.addEventListener('abort', end, { once: true });
  if (signal.aborted) end();
  pipeBoth(joinStreams(input, output), socket);
  await ended;
  signal.removeEventListener('abort', end);
}
