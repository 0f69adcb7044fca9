import type { CallAuthor } from '../../core/api/operation.ts';
import { renderWords } from '../../core/api/words.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import { createSerialQueue } from '../../core/base/serial-queue.ts';
import { toPrintable } from '../../core/base/text.ts';
import type { Session } from '../../workers/sessions/index.ts';
import { createEvidenceRerun } from './evidence-rerun.ts';
import type { EvidenceReader, RerunRequest, RerunsDeps } from './rerun-deps.ts';
import type { Evidence, Verification } from './rows.ts';
import { hasRun, VERIFICATION_WORDS } from './state.ts';

/** Reruns reported tests, one session at a time, since a rerun loads the machine as much as a worker. */
export interface TestReruns {
  /**
   * Waits for its turn. Throws as `checkMayRunAgain`, `conflict` while it is already being rerun or if `hash` no
   * longer matches, and `cancelled`.
   */
  run(name: string, request: RerunRequest): Promise<Verification>;
  /**
   * Schedules a rerun for a session that ended well, as `rerunsFor` requires, and always in a race. Call inside the
   * transaction that ends it.
   */
  setDue(session: Session): void;
  /** Ends reruns that a killed engine left running, then continues with the due ones. */
  start(): void;
  close(): Promise<void>;
}

/** Time limit of each command in a rerun that svc starts itself. */
const DUE_TIMEOUT_SEC = 600;
const SVC: CallAuthor = { actor: 'svc', via: 'engine' };

export function createReruns(deps: RerunsDeps, evidence: EvidenceReader): TestReruns {
  const { storage, clock, sessions, log } = deps;
  const { db } = storage;
  const setProblem = db.prepare('UPDATE verification SET rerun_problem = ?, rerun_due = NULL WHERE id = ?');
  const setDue = db.prepare('UPDATE verification SET rerun_due = ?, rerun_problem = NULL WHERE id = ?');
  const nextDue = db.prepare<unknown[], { id: number; session_id: string }>(
    'SELECT id, session_id FROM verification WHERE rerun_due IS NOT NULL ORDER BY rerun_due, id LIMIT 1',
  );
  const closing = new AbortController();
  const { findWork, runAll, endLeftovers } = createEvidenceRerun(deps, evidence, closing.signal);
  /** Sessions whose tests are being rerun, or wait for a requested rerun. */
  const sessionsUnderRerun = new Set<string>();
  const enqueue = createSerialQueue();
  /** True if a rerun has become due; set inside a transaction, acted on after its commit. */
  let hasDue = false;
  let isWorking = false;

  /** Runs the next due rerun; false if there is none. One interrupted by the host's end stays due. */
  async function runNextDue(): Promise<boolean> {
    const due = closing.signal.aborted ? undefined : nextDue.get();
    if (due === undefined) return false;
    const session = sessions.get(due.session_id);
    const { sessionId } = session;
    sessionsUnderRerun.add(sessionId);
    try {
      deps.requireConsent();
      const what = findWork(session);
      const request = { timeoutSec: DUE_TIMEOUT_SEC, signal: closing.signal, progress: () => undefined };
      await runAll(what, { ...request, by: SVC });
    } catch (error) {
      if (closing.signal.aborted) return false;
      const { message } = asSvcError(error);
      log.warn({ session: sessionId, error: message }, 'the reported tests could not be rerun');
      await storage.write(() => setProblem.run(message, due.id));
    } finally {
      sessionsUnderRerun.delete(sessionId);
    }
    const verification = await evidence.judged(sessionId);
    await storage.write(() => deps.tell(session, formatRerunNotice(verification)));
    return true;
  }

  async function runAllDue(): Promise<void> {
    if (isWorking || !hasDue) return;
    isWorking = true;
    try {
      while (hasDue) {
        hasDue = false;
        // Requested reruns get a turn in between.
        while (await enqueue(runNextDue));
      }
    } catch (error) {
      log.warn({ error: asSvcError(error).message }, 'reruns stop until the next one is due');
    } finally {
      isWorking = false;
    }
  }

  storage.onCommit(() => void runAllDue());

  return {
    async run(name, request) {
      deps.requireConsent();
      const session = sessions.resolve(name);
      const { sessionId } = session;
      findWork(session);
      if (sessionsUnderRerun.has(sessionId)) {
        throw new SvcError('conflict', `the tests of ${sessionId} are already being rerun`, {
          hint: sentence`{verify.status ${sessionId}} will show the result`,
        });
      }
      sessionsUnderRerun.add(sessionId);
      try {
        // By the time of its turn, something else may have been reported.
        await enqueue(() => runAll(findWork(sessions.get(sessionId)), request));
      } finally {
        sessionsUnderRerun.delete(sessionId);
      }
      return evidence.judged(sessionId);
    },
    setDue(session) {
      const due = findDueEvidence(deps, evidence, session);
      if (due === null) return;
      setDue.run(clock.now(), due.id);
      hasDue = true;
    },
    start() {
      hasDue = true;
      enqueue(endLeftovers)
        .catch((error) =>
          log.warn({ error: asSvcError(error).message }, 'the folder of a rerun was not removed'),
        )
        .then(runAllDue);
    },
    async close() {
      closing.abort();
      await enqueue(() => undefined);
    },
  };
}

/** Returns the evidence of an ended session that svc reruns by itself; null for none. Writes an empty one if needed. */
function findDueEvidence(
  deps: Pick<RerunsDeps, 'rerunsFor' | 'checks'>,
  evidence: EvidenceReader,
  session: Session,
): Evidence | null {
  // Sessions of a race are chosen by what svc has verified itself.
  const wanted = session.race === null ? deps.rerunsFor() : 'tests';
  if (wanted === 'off' || session.failure !== null || session.branch === null) return null;
  const reported = evidence.newestOf(session.sessionId);
  const hasTests = wanted === 'tests' && reported !== null && reported.tests.some(hasRun);
  // Without changes, they would check the base.
  const hasChecks = deps.checks().length > 0 && session.commits !== 0;
  if (!hasTests && !hasChecks) return null;
  return reported ?? evidence.reportNothing(session, session.headCommit);
}

/** Formats the note for a Chair about the result of a rerun by svc. */
const formatRerunNotice = ({ sessionId, state, reasons }: Verification): string =>
  [
    `# ${sessionId} ${state}: ${VERIFICATION_WORDS[state]}`,
    '',
    ...reasons.map((each) => `- ${toPrintable(each)}`),
    ...(reasons.length === 0 ? [] : ['']),
    state === 'verified'
      ? renderWords(sentence`Next: {worktree.promote ${sessionId}}.`, 'anyone')
      : renderWords(sentence`Next: {verify.status ${sessionId}} shows the details.`, 'anyone'),
    '',
  ].join('\n');
