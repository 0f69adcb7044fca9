import { SvcError } from '../../errors.ts';
import { createProcesses } from './index.ts';

/**
 * Refuses what is the Chair's alone to a process that belongs to a run, or takes part as a session, where no engine runs
 * that could decide about its seat. Throws `chair_only`.
 * @param what is being done, as a clause's subject: `svc trust`
 */
export function refuseInsideRun(what: string, env: NodeJS.ProcessEnv): void {
  const processes = createProcesses();
  try {
    const marks = [...processes.marksAbove(process.pid), ...(env.SVC_RUN_ID ? [env.SVC_RUN_ID] : [])];
    if (marks.length === 0 && !env.SVC_SESSION) return;
  } finally {
    processes.close();
  }
  throw new SvcError('chair_only', `${what} is for the Chair seat; this process belongs to a session`, {
    hint: 'ask the person or agent in the Chair seat to do it',
  });
}
