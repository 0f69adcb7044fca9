import { randomUUID } from 'node:crypto';
import type { CallAuthor } from '../../core/api/operation.ts';
import { renderWords } from '../../core/api/words.ts';
import type { Clock } from '../../core/base/clock.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import { createSerialQueue } from '../../core/base/serial-queue.ts';
import { toPrintable } from '../../core/base/text.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { CommandConfinement, SessionCommand } from '../../workers/runner/confine/index.ts';
import type { CleanCheckouts } from '../../workers/runner/index.ts';
import type { RunProcesses } from '../../workers/runner/processes/index.ts';
import type { Session, Sessions } from '../../workers/sessions/index.ts';
import { checkMayRunAgain, hashRerun, runAgain, type ToRunAgain } from './rerun.ts';
import type { Evidence, RerunResult, Verification } from './rows.ts';
import { type BranchHead, hasRun, VERIFICATION_WORDS } from './state.ts';

export interface RerunsDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  sessions: Sessions;
  checkouts: CleanCheckouts;
  processes: Pick<RunProcesses, 'readStartTime' | 'stop' | 'sweep' | 'contain'>;
  /** The environment of a program that checks a worker's claims. */
  workerEnvironment(extra: Record<string, string>): Record<string, string>;
  confine: CommandConfinement;
  /** svc's own checks in a clean checkout of the work; null for none. */
  checkWork(session: Session, head: string, checkout: string): Promise<RerunResult | null>;
  /** Throws `consent_missing` until someone has agreed to svc.yaml. */
  requireConsent(): void;
  /** `guard.checks`: commands of the repository that run in addition to the reported ones, and have to pass. */
  checks(): readonly string[];
  /** The parts that svc reruns by itself for a session that ended well: reported tests as well, only checks, or nothing. */
  rerunsFor(): 'tests' | 'checks' | 'off';
  /** Sends the result of a rerun to the recipients of the session's handoff. Called inside `storage.write`. */
  tell(session: Session, text: string): void;
  log: { warn(facts: object, text: string): void };
}

/** The parts of the evidence that reruns need. */
export interface EvidenceReader {
  newestOf(sessionId: string): Evidence | null;
  /** Writes an empty report for a session that reported nothing. Call inside `storage.write`. */
  reportNothing(session: Session, head: BranchHead): Evidence;
  headOf(session: Session): Promise<BranchHead>;
  judged(sessionId: string): Promise<Verification>;
}

export interface RerunRequest {
  timeoutSec: number;
  signal: AbortSignal;
  progress(message: string): void;
  by: CallAuthor;
  /** The `rerunHash` that was seen; undefined runs the current commands. */
  hash?: string | undefined;
}

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
  const { storage, events, clock, sessions, checkouts, processes, log } = deps;
  const { db } = storage;
  const setMark = db.prepare('UPDATE verification SET rerun_mark = ? WHERE id = ?');
  const setRerun = db.prepare(`UPDATE verification SET rerun = ?, rerun_at = ?, rerun_by = ?, rerun_head = ?,
    rerun_mark = NULL, rerun_due = NULL, rerun_problem = NULL WHERE id = ?`);
  const setProblem = db.prepare('UPDATE verification SET rerun_problem = ?, rerun_due = NULL WHERE id = ?');
  const setDue = db.prepare('UPDATE verification SET rerun_due = ?, rerun_problem = NULL WHERE id = ?');
  const nextDue = db.prepare<unknown[], { id: number; session_id: string }>(
    'SELECT id, session_id FROM verification WHERE rerun_due IS NOT NULL ORDER BY rerun_due, id LIMIT 1',
  );
  const marked = db.prepare<unknown[], { id: number; session_id: string; rerun_mark: string }>(
    'SELECT id, session_id, rerun_mark FROM verification WHERE rerun_mark IS NOT NULL',
  );
  const closing = new AbortController();
  /** Sessions whose tests are being rerun, or wait for a requested rerun. */
  const sessionsUnderRerun = new Set<string>();
  const enqueue = createSerialQueue();
  /** True if a rerun has become due; set inside a transaction, acted on after its commit. */
  let hasDue = false;
  let isWorking = false;

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
      const results = await runTests(what, head, mark, request);
      await storage.write(() => {
        setRerun.run(JSON.stringify(results), clock.now(), request.by.actor, head, reported.id);
        const agrees = results.every((each) => each.agrees);
        recordRerun(session, request.by, { state: 'ended', agrees, tests: results.length, head });
      });
    } catch (error) {
      await storage.write(() => {
        setMark.run(null, reported.id);
        recordRerun(session, request.by, { state: 'given up', reason: asSvcError(error).message });
      });
      throw error;
    }
  }

  async function runTests(
    { session, tests, checks }: ToRunAgain,
    head: string,
    mark: string,
    { timeoutSec, signal: asked, progress }: RerunRequest,
  ): Promise<RerunResult[]> {
    const signal = AbortSignal.any([asked, closing.signal]);
    const limits = { mark, timeoutMs: timeoutSec * 1000, signal };
    const results: RerunResult[] = [];
    try {
      progress(`checks out ${head.slice(0, 10)} and makes it ready`);
      const { folder, cwd } = await checkouts.makeCheckout(session, head, limits);
      const running = {
        processes,
        environment: deps.workerEnvironment,
        confine: (command: SessionCommand) => deps.confine({ ...session, worktree: folder }, command),
        isConfined: session.profile === 'strict',
      };
      const all = [
        ...tests,
        ...checks.map((command) => ({ command, result: 'passed' as const, isCheck: true })),
      ];
      for (const [at, test] of all.entries()) {
        progress(`runs ${at + 1} of ${all.length}: ${test.command}`);
        const ran = await runAgain(test, { cwd, ...limits }, running);
        results.push('isCheck' in test ? { ...ran, isCheck: true } : ran);
      }
      progress('checks for duplicated code and for text in another language');
      const found = await deps.checkWork(session, head, folder);
      return found === null ? results : [...results, found];
    } finally {
      await checkouts.removeCheckouts(session);
    }
  }

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

  /** Ends the leftovers of a killed engine's reruns. */
  async function endLeftovers(): Promise<void> {
    for (const { id, session_id: sessionId, rerun_mark: mark } of marked.all()) {
      await processes.sweep(mark);
      await checkouts.removeCheckouts(sessions.get(sessionId));
      await storage.write(() => setMark.run(null, id));
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
      // Sessions of a race are chosen by what svc has verified itself.
      const wanted = session.race === null ? deps.rerunsFor() : 'tests';
      if (wanted === 'off' || session.failure !== null || session.branch === null) return;
      const reported = evidence.newestOf(session.sessionId);
      const hasTests = wanted === 'tests' && reported !== null && reported.tests.some(hasRun);
      // Without changes, they would check the base.
      const hasChecks = deps.checks().length > 0 && session.commits !== 0;
      if (!hasTests && !hasChecks) return;
      const { id } = reported ?? evidence.reportNothing(session, session.headCommit);
      setDue.run(clock.now(), id);
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
