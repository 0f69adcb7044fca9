import { randomUUID } from 'node:crypto';
import type { CallAuthor } from '../../core/api/operation.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { CommandsRun } from '../../workers/runner/checks/index.ts';
import type { Session } from '../../workers/sessions/index.ts';
import { checkMayRunAgain, compareWithReport, hashRerun, type ToRunAgain } from './rerun.ts';
import type { EvidenceReader, RerunRequest, RerunSession, RerunsDeps } from './rerun-deps.ts';
import type { RerunResult } from './rows.ts';

/** Creates the rerun of one session's evidence. @param closing aborted when the host ends */
export function createEvidenceRerun(deps: RerunsDeps, evidence: EvidenceReader, closing: AbortSignal) {
  const { storage, events, clock, sessions, workChecks } = deps;
  const { db } = storage;
  const runTests = createTestRunner(deps, closing);
  const marked = db.prepare<unknown[], { id: number; session_id: string; rerun_mark: string }>(
    'SELECT id, session_id, rerun_mark FROM verification WHERE rerun_mark IS NOT NULL',
  );
  const setMark = db.prepare('UPDATE verification SET rerun_mark = ? WHERE id = ?');
  const setRerun =
    db.prepare(`UPDATE verification SET rerun = ?, rerun_at = ?, rerun_by = ?, rerun_head = ?, rerun_on = ?,
    rerun_mark = NULL, rerun_due = NULL, rerun_problem = NULL WHERE id = ?`);

  const recordRerun = ({ sessionId, taskId }: Session, by: CallAuthor, data: Record<string, unknown>): void =>
    void events.append({ kind: 'verification_rerun', sessionId, taskId, ...by, data });

  const findWork = (session: Session): ToRunAgain =>
    checkMayRunAgain(session, evidence.newestOf(session.sessionId), deps.checks());

  async function runAll(what: ToRunAgain, request: RerunRequest): Promise<void> {
    const { session } = what;
    const head = await evidence.headOf(session);
    if (head == null)
      throw new SvcError('git_failed', `cannot read where the branch of ${session.sessionId} ends`, {
        hint: `git -C ${session.repository} log ${session.branch} shows why`,
      });
    if (request.hash !== undefined && request.hash !== hashRerun(what, head)) {
      throw new SvcError(
        'conflict',
        `the tests or the branch of ${session.sessionId} have changed since you looked at them`,
        {
          hint: sentence`{verify.status ${session.sessionId}} shows the commands that would run now`,
        },
      );
    }
    const mark = randomUUID();
    // Recorded before anything runs, so that after a crash the next engine knows what to end.
    const reported = await storage.write(() => {
      const found = what.evidence ?? evidence.reportNothing(session, head);
      setMark.run(mark, found.id);
      recordRerun(session, request.by, { state: 'running' });
      return found;
    });
    try {
      const { results, on } = await runTests(what, head, mark, request);
      await storage.write(() => {
        setRerun.run(JSON.stringify(results), clock.now(), request.by.actor, head, on, reported.id);
        const agrees = results.every((each) => each.agrees);
        recordRerun(session, request.by, {
          state: 'ended',
          agrees,
          tests: results.length,
          head,
          ...(on === null ? {} : { on }),
        });
      });
    } catch (error) {
      await storage.write(() => {
        setMark.run(null, reported.id);
        recordRerun(session, request.by, { state: 'given up', reason: asSvcError(error).message });
      });
      throw error;
    }
  }

  /** Ends the leftovers of a killed engine's reruns. */
  async function endLeftovers(): Promise<void> {
    for (const { id, session_id: sessionId, rerun_mark: mark } of marked.all()) {
      const session = sessions.get(sessionId);
      if (session.repository !== null)
        await workChecks.clear({ session, repository: session.repository }, mark);
      await storage.write(() => setMark.run(null, id));
    }
  }

  return { findWork, runAll, endLeftovers };
}

/** Creates the run of reported tests and checks in a clean checkout, here or on another machine. */
function createTestRunner(deps: RerunsDeps, closing: AbortSignal) {
  /** Runs commands where the project wants them, and then svc's own checks, which are always made here. */
  async function checkWork(session: RerunSession, head: string, run: CommandsRun) {
    const checker = deps.findChecker(session);
    const work = deps.describeWork(session, head);
    async function look(folder: string): Promise<RerunResult | null> {
      run.progress('checks for duplicated code and for text in another language');
      return deps.checkWork(session, head, folder);
    }
    if (checker === null) return { ...(await deps.workChecks.check(work, { ...run, look })), on: null };
    run.progress(`runs them on ${checker.name}`);
    const ends = await checker.check(work, run);
    const { found } = await deps.workChecks.check(
      { ...work, setup: null },
      { ...run, commands: [], progress: () => undefined, look },
    );
    return { ends, found, on: checker.name };
  }

  async function runTests(
    { session, tests, checks }: ToRunAgain,
    head: string,
    mark: string,
    { timeoutSec, signal, progress }: RerunRequest,
  ): Promise<{ results: RerunResult[]; on: string | null }> {
    const all = [
      ...tests,
      ...checks.map((command) => ({ command, result: 'passed' as const, isCheck: true })),
    ];
    const { ends, found, on } = await checkWork(session, head, {
      ...{ commands: all.map(({ command }) => command), mark, progress },
      ...{ timeoutMs: timeoutSec * 1000, signal: AbortSignal.any([signal, closing]) },
    });
    const results = all.map((test, at) => compareWithReport(test, ends[at]!));
    return { results: found === null ? results : [...results, found], on };
  }

  return runTests;
}
