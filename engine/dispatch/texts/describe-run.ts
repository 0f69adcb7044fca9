import { writeSitePath } from '../../workers/sessions/index.ts';
import type { TextContributor } from './texts.ts';

/** Tells a worker who it is, where it works and what happens to its work. */
export const describeRun = (): TextContributor => ({
  name: 'run',
  text: 'brief',
  section: 'facts',
  write: ({ session, task, placement }) => [
    `- session: ${session.sessionId} (worker ${session.workerId}, agent ${session.agent})`,
    `- folder: ${writeSitePath(placement.cwd)}`,
    ...(placement.branch === null
      ? []
      : [`- branch: ${placement.branch}, from ${placement.base ?? placement.baseCommit}`]),
    `- time: at most ${session.timeoutSec} s`,
    ...(task.ledger === null ? [] : [`- ledger: ${task.ledger}`]),
    placement.worktree === null
      ? '- others may work in this folder too; nothing is committed for you'
      : '- commit your work on this branch; uncommitted changes are kept as a work-in-progress commit',
  ],
});
