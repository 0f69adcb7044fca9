import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import type { Writable } from 'node:stream';
import { SvcError } from '../../engine/index.ts';

/** A port of the loopback interface on which nobody listens just now. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A shell's way to say that a program was ended by a signal. */
const BY_SIGNAL = 128;

/**
 * Runs a program on this program's own terminal or pipes, and passes its exit code on. Signals reach it too; those that
 * a terminal sends go to both anyway, and twice would mean something else to an agent. Throws `spawn_failed`.
 */
export async function runInForeground(start: {
  argv: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  isTerminal: boolean;
  /** What it reads from its file 3. */
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
  // One that has ended at once says so itself.
  third?.on('error', () => undefined).end(filter);
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  const ignore = (): void => undefined;
  const fromTerminal = start.isTerminal ? ignore : forward;
  const listeners = {
    SIGTERM: forward,
    SIGHUP: forward,
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
    throw new SvcError('spawn_failed', `${program} could not be started: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    for (const [signal, listener] of Object.entries(listeners)) process.removeListener(signal, listener);
  }
}
