import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { SVC } from '../../../cli/self.ts';

/** `svc server serve` as a separate process. */
export interface ServerProgram {
  port: number;
  /** The setup code that it printed when it was new. */
  setupCode: string | null;
  child: ChildProcess;
  /** Sends SIGKILL; resolves once it is gone. */
  kill(): Promise<void>;
  /** Sends SIGTERM. */
  stop(): Promise<void>;
}

export async function startServerProgram(
  folder: string,
  {
    port: wanted = 0,
    publicUrl,
    env = {},
    args = [],
  }: { port?: number; publicUrl?: string; env?: NodeJS.ProcessEnv; args?: string[] } = {},
): Promise<ServerProgram> {
  const words = ['server', 'serve', '--data', folder, '--addr', `127.0.0.1:${wanted}`, ...args];
  if (publicUrl !== undefined) words.push('--public-url', publicUrl);
  const child = spawn(process.execPath, [SVC, ...words], {
    env: { PATH: process.env.PATH, HOME: folder, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await ended;
  };
  const said: string[] = [];
  let setupCode: string | null = null;
  for await (const line of createInterface({ input: child.stderr! })) {
    said.push(line);
    const { msg, port, setup_code } = JSON.parse(line) as { msg: string; port: number; setup_code?: string };
    setupCode = setup_code ?? setupCode;
    if (msg !== 'server open') continue;
    child.stderr?.resume();
    return { port, setupCode, child, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') };
  }
  throw new Error(`the server did not start: ${said.join('\n')}`);
}
