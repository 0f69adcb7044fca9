import { SvcError } from '../../errors.ts';
import { createProcesses } from './index.ts';

/**
 * Refuses what is the Chair's alone to a process that belongs to a run, or takes part as a session, where no engine runs
 * that could decide about its seat. Throws `chair_only`.
 * @param what is being done, as a clause's subject: `svc trust`
 */
export function refuseInsideRun(what: string, env: NodeJS.ProcessEnv): void {
  const processes = createProcesses();
  let why: string;
  try {
    const { runs, doubt } = processes.standingAbove(process.pid);
    const isMarked = runs.length > 0 || Boolean(env.SVC_RUN_ID || env.SVC_SESSION);
    if (!isMarked && doubt === null) return;
    why = isMarked ? 'this process belongs to a session' : (doubt ?? '');
  } finally {
    processes.close();
  }
  throw new SvcError('chair_only', `${what} is for the Chair seat: ${why}`, {
    hint: 'ask the person or agent in the Chair seat to do it',
  });
}
