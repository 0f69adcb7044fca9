import { hash } from 'node:crypto';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { CommandEnd } from '../../workers/runner/checks/index.ts';
import { formatSitePath, type Session } from '../../workers/sessions/index.ts';
import type { RerunSession } from './rerun-deps.ts';
import type { Evidence, RerunResult, TestResult } from './rows.ts';
import { type BranchHead, selectRerunCommands } from './state.ts';

/** A session whose evidence is rerun, with its tests. */
export interface ToRunAgain {
  session: RerunSession;
  /** Null if nothing was reported. */
  evidence: Evidence | null;
  tests: TestResult[];
  /** The repository's own checks, which run in addition. */
  checks: string[];
}

/** Throws `conflict` while the session runs, `not_found` if there is nothing to run or no branch to run it on. */
export function checkMayRunAgain(
  session: Session,
  evidence: Evidence | null,
  ownChecks: readonly string[],
): ToRunAgain {
  const { sessionId, state, taskId, cwd, runner, branch, repository } = session;
  if (state !== 'ended') {
    throw new SvcError('conflict', `${sessionId} is still ${state}; its branch may move while tests run`, {
      hint: sentence`wait for its end; {task.show ${taskId}} shows it`,
    });
  }
  const { tests, checks } = selectRerunCommands(evidence?.tests ?? [], ownChecks);
  if (tests.length === 0 && checks.length === 0) {
    throw new SvcError('not_found', `${sessionId} reported no test that ran`, {
      hint: sentence`{verify.status ${sessionId}} shows what it reported; guard.checks names the repository's own checks`,
    });
  }
  if (branch === null || repository === null) {
    throw new SvcError(
      'not_found',
      `${sessionId} has no separate branch, so no commit contains only its work`,
      {
        hint: `it worked in ${formatSitePath(cwd, runner) ?? "the project's folder"}: run them there by hand`,
      },
    );
  }
  return { session: { ...session, repository }, evidence, tests, checks };
}

/** Hashes the input of a rerun: the commands as reported, and the commit. */
export const hashRerun = (
  { tests, checks }: Pick<ToRunAgain, 'tests' | 'checks'>,
  head: BranchHead,
): string =>
  hash(
    'sha256',
    JSON.stringify([head ?? null, tests.map(({ command, result }) => [command, result]), checks]),
  );

/** Compares how a command has ended with its report. */
export const compareWithReport = (
  { command, result, isCheck }: Pick<TestResult, 'command' | 'result'> & { isCheck?: boolean },
  { exitCode, output }: CommandEnd,
): RerunResult => ({
  command,
  exitCode,
  agrees: (exitCode === 0) === (result === 'passed'),
  output,
  ...(isCheck ? { isCheck } : {}),
});
