import type { OperationCall } from '../../core/api/operation.ts';
import { renderWords } from '../../core/api/words.ts';
import { SvcError } from '../../core/base/errors.ts';
import { type SentenceWords, sentence } from '../../core/base/sentence.ts';
import { formatCount } from '../../core/base/text.ts';
import type { Storage } from '../../storage/index.ts';
import {
  type NextStep,
  outcomeOfSession,
  type Session,
  type Sessions,
} from '../../workers/sessions/index.ts';

/** The outcome of a run, for a caller that waited for it. */
export type TaskVerdict = ReturnType<typeof verdictOf>;

const formatCountIfRead = (count: number | null, what: string): string =>
  count === null ? `cannot read its ${what}s` : formatCount(count, what);

const STEPS: Readonly<Record<NextStep, SentenceWords>> = {
  read_log: sentence`{session.log} shows its output`,
  look_at_branch: sentence`check the branch and {verify.status}`,
  look_at_folder: "check the changes in the project's folder",
  find_work: sentence`check {worktree.status}: svc could not read the remaining work`,
  promote: sentence`{worktree.promote}`,
  retry: sentence`{task.run} runs it again`,
  decide: 'its new decision needs approval',
};

/** Formats the outcome of a run and the reader's next steps. */
export function sayEnded(sessionId: string, verdict: TaskVerdict): string {
  const { reason, commits, files, branch, verification, contradiction, next } = verdict;
  const made = `${formatCountIfRead(commits, 'commit')}, ${formatCountIfRead(files, 'file')}${branch === null ? '' : ` on ${branch}`}, evidence: ${verification}`;
  const steps = next.map((step) => renderWords(STEPS[step], 'tools')).join(', then ');
  return [
    reason === null
      ? `${sessionId} succeeded`
      : `${sessionId} failed: ${reason}${contradiction === null ? '' : ` (${contradiction})`}`,
    made,
    steps === '' ? 'Nothing is left to do' : `Next: ${steps}`,
    '',
  ]
    .join('. ')
    .trimEnd();
}

export const verdictOf = (session: Session, verification: string, mayRetry: boolean) => ({
  sealed: session.failure === null,
  ...findNextSteps(session, mayRetry),
  reason: session.failure?.text ?? null,
  exit_code: session.exitCode,
  branch: session.branch,
  commits: session.commits,
  files: session.files,
  insertions: session.insertions,
  deletions: session.deletions,
  verification,
});

const findNextSteps = (session: Session, mayRetry: boolean) => {
  const { contradiction, next } = outcomeOfSession(session, { mayRetry });
  return { contradiction, next };
};

/** Resolves with the session once it has ended. Aborting the wait leaves the worker running. */
export function waitForEnd(
  { storage, sessions }: { storage: Storage; sessions: Sessions },
  sessionId: string,
  { signal, progress }: OperationCall,
): Promise<Session> {
  progress(`${sessionId} is running; waiting for its end`);
  return new Promise((resolve, reject) => {
    const stopListening = storage.onCommit(checkEnd);
    signal.addEventListener('abort', giveUp, { once: true });
    function stopWaiting(): void {
      stopListening();
      signal.removeEventListener('abort', giveUp);
    }
    function checkEnd(): void {
      const session = sessions.get(sessionId);
      if (session.state !== 'ended') return;
      stopWaiting();
      resolve(session);
    }
    function giveUp(): void {
      stopWaiting();
      reject(new SvcError('cancelled', `no one waits for ${sessionId} any more; it keeps running`));
    }
    if (signal.aborted) giveUp();
    else checkEnd();
  });
}
