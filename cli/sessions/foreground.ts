import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import { SvcError } from '../../engine/core/base/errors.ts';

/** Finds a free loopback port. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Added to a signal's number for the exit code, as shells do. */
const BY_SIGNAL = 128;

/**
 * Runs a program on this program's own terminal or pipes and returns its exit code. Forwards signals, except those
 * that a terminal sends to both anyway: receiving one twice would mean something else to an agent. Throws
 * `spawn_failed`.
 */
export async function runInForeground(start: {
  argv: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  isTerminal: boolean;
  /** The stream that it reads from file descriptor 3. */
  filter?: Buffer | null;
}): Promise<number> {
  const [program = '', ...args] = start.argv;
  const { cwd, env, filter = null } = start;
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ['inherit', 'inherit', 'inherit', ...(filter === null ? [] : (['pipe'] as const))],
  });
  const third = child.stdio[3] as Writable | null | undefined;
  // A program that has already ended reports that itself.
  third?.on('error', () => undefined).end(filter);
  const forwardSignal = (signal: NodeJS.Signals): void => void child.kill(signal);
  const ignoreSignal = (): void => undefined;
  const fromTerminal = start.isTerminal ? ignoreSignal : forwardSignal;
  const listeners = {
    SIGTERM: forwardSignal,
    SIGHUP: forwardSignal,
    SIGINT: fromTerminal,
    SIGQUIT: fromTerminal,
  } as const;
  for (const [signal, listener] of Object.entries(listeners)) process.on(signal, listener);
  try {
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      child.once('error', reject).once('exit', (...ended) => resolve(ended));
    });
    return code ?? BY_SIGNAL + constants.signals[signal!];
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code === 'ENOENT' ? 'program not found' : message;
    throw new SvcError('spawn_failed', `${program} could not be started: ${why}`, { cause: error });
  } finally {
    for (const [signal, listener] of Object.entries(listeners)) process.removeListener(signal, listener);
  }
}
