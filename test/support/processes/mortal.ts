import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../wait.ts';
import type { TestWorkspace } from '../workspaces/workspace.ts';
import { isRunning } from './processes.ts';

/** A moment of a worker's start: just before or just after its process exists. */
export type Moment = 'before' | 'after';

/** Preloaded into a daemon: kills the process with SIGKILL, once, at the moment that the file names. */
const preload = (order: string): string => `
import childProcess from 'node:child_process';
import { readFileSync, unlinkSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const spawn = childProcess.spawn;
childProcess.spawn = (program, args, options) => {
  const die = (moment) => {
    let wanted;
    try {
      wanted = readFileSync(${JSON.stringify(order)}, 'utf8').split(' ');
    } catch {
      return;
    }
    if (wanted[0] !== moment || !args.some((each) => each.includes('/' + wanted[1] + '/'))) return;
    unlinkSync(${JSON.stringify(order)});
    // The supervisor dies first, because it would restart the daemon.
    if (process.env.SVC_SUPERVISOR) process.kill(process.ppid, 'SIGKILL');
    process.kill(process.pid, 'SIGKILL');
  };
  if (args[2] === 'svc-worker') die('before');
  const child = spawn(program, args, options);
  if (args[2] === 'svc-worker') die('after');
  return child;
};
syncBuiltinESMExports();
`;

/** Makes daemons of the workspace that start from now on kill themselves on request. */
export function makeMortal(ws: TestWorkspace): (
  moment: Moment,
  sessionId: string,
) => {
  /** Resolves once the daemon is dead. */
  isDead(): Promise<void>;
} {
  const file = join(ws.repository.folder, 'mortal.mjs');
  const order = join(ws.repository.folder, 'die');
  writeFileSync(file, preload(order));
  // A variable that workers do not inherit.
  ws.env.NODE_OPTIONS = `--import=${file}`;
  return (moment, sessionId) => {
    writeFileSync(order, `${moment} ${sessionId}`);
    return {
      async isDead() {
        await until(() => !existsSync(order), `the daemon to die ${moment} the start`);
        await until(() => !isRunning(ws.daemonPid() ?? 0), 'the daemon to be gone');
      },
    };
  };
}
