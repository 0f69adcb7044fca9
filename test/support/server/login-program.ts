import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { SVC } from '../../../cli/self.ts';

/** `svc login` as a separate process. */
export interface LoginProgram {
  child: ChildProcess;
  /** The code that it shows. Rejects with its output if it exits without one. */
  code: Promise<string>;
  /** Its exit code. */
  ended: Promise<number | null>;
}

/** @param env environment of the machine that logs in, with its `SVC_HOME` */
export function startLoginProgram(serverUrl: string, env: NodeJS.ProcessEnv): LoginProgram {
  const child = spawn(process.execPath, [SVC, 'login', serverUrl, '--no-browser'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const code = new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (data: Buffer) => {
      said += data;
      const found = /\b[B-Z]{4}-[B-Z]{4}\b/.exec(said);
      if (found) resolve(found[0]);
    });
    child.once('exit', () => reject(new Error(said)));
  });
  return { child, code, ended: once(child, 'exit').then(([exitCode]) => exitCode as number | null) };
}
