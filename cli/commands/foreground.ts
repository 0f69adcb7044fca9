import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { constants } from 'node:os';
import { SvcError } from '../../engine/index.ts';

/** A port of the loopback interface on which nobody listens just now. */
export async function freePort(): Promise<number> {
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
}): Promise<number> {
  const [program = '', ...args] = start.argv;
  const child = spawn(program, args, { cwd: start.cwd, env: start.env, stdio: 'inherit' });
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
