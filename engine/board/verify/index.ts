import type { CallAuthor } from '../../core/api/operation.ts';
import { asWorkerSession, parseId } from '../../core/base/ids.ts';
import type { Worktrees } from '../../workers/runner/worktrees/index.ts';
import type { Session, SessionPeers } from '../../workers/sessions/index.ts';
import type { Tasks } from '../tasks/index.ts';
import { hashRerun } from './rerun.ts';
import { createReruns, type RerunRequest, type RerunsDeps } from './reruns.ts';
import {
  type Evidence,
  NOBODY,
  toEvidence,
  type Verification,
  type VerificationRow,
  type VerificationState,
} from './rows.ts';
import {
  addUnreported,
  type BranchHead,
  judgeEvidence,
  selectRerunCommands,
  VERIFICATION_WORDS,
} from './state.ts';

export type { Verification, VerificationState } from './rows.ts';

export interface VerifyDeps extends RerunsDeps {
  tasks: Pick<Tasks, 'get'>;
  peers: Pick<SessionPeers, 'find'>;
  worktrees: Pick<Worktrees, 'findHead' | 'findRepository' | 'countUncommitted'>;
}

/** The session that evidence belongs to. */
export interface VerificationSubject {
  sessionId: string;
  taskId: string | null;
  /** Null for the sessions of Chairs and plain ones. */
  session: Session | null;
}

export type VerificationClaims = Pick<
  Evidence,
  'sessionId' | 'taskId' | 'summary' | 'criteria' | 'tests' | 'symbols'
> & {
  reportedBy: string;
};

export interface VerificationReport {
  verification: Verification;
  uncommitted: number;
}

/** Owns the evidence of sessions about their work, and judges it. */
export interface VerifyService {
  /** Finds the session of a full id or a prefix. Throws `not_found` or `conflict`. */
  subject(name: string): VerificationSubject;
  /** The evidence of a session, judged against its branch's current head. Throws `not_found`. */
  of(sessionId: string): Promise<Verification>;
  /** Judged against the recorded head; synchronous, for the transaction that ends the session. */
  stateOf(session: Session): VerificationState;
  /** Formats it as a line for the handoff: `reported (the worker's own word)`. */
  sentenceOf(session: Session): string;
  /**
   * Schedules a rerun of its tests and of the repository's checks, if the profile requires that. Call inside the
   * transaction that ends the session.
   */
  sessionEnded(session: Session): void;
  /** Records a session's claims by `write`. The `uncommitted` files will be committed after it. */
  report<T>(
    claims: VerificationClaims,
    by: CallAuthor,
    write: (work: () => VerificationReport) => Promise<T>,
  ): Promise<T>;
  /**
   * Reruns the tests that an ended session reported, in a clean checkout of its branch's head. Waits for its turn: there is
   * one rerun at a time.
   */
  rerun(name: string, request: RerunRequest): Promise<Verification>;
  /** Ends reruns that a killed engine left running, then continues with the due ones. */
  start(): void;
  close(): Promise<void>;
}

/** Number of reports kept for each session; the newest counts. */
const KEPT = 10;

export function createVerify(deps: VerifyDeps): VerifyService {
  const { storage, events, clock, sessions, worktrees } = deps;
  const { db } = storage;
  const newest = db.prepare<unknown[], VerificationRow>(
    'SELECT * FROM verification WHERE session_id = ? ORDER BY id DESC LIMIT 1',
  );
  const insert = db.prepare(`INSERT INTO verification
    (session_id, task_id, head_commit, summary, criteria, tests, symbols, reported_at, reported_by)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const forget = db.prepare(`DELETE FROM verification WHERE session_id = @session AND id NOT IN
    (SELECT id FROM verification WHERE session_id = @session ORDER BY id DESC LIMIT ${KEPT})`);
  const clearDue = db.prepare('UPDATE verification SET rerun_due = NULL WHERE session_id = ?');

  function findEvidence(sessionId: string): Evidence | null {
    const row = newest.get(sessionId);
    return row === undefined ? null : toEvidence(row);
  }

  function resolveSubject(name: string): VerificationSubject {
    const peer = deps.peers.find(name);
    if (peer !== null && peer.seat !== 'worker') {
      return {
        sessionId: peer.sessionId,
        taskId: findEvidence(peer.sessionId)?.taskId ?? null,
        session: null,
      };
    }
    const session = sessions.resolve(name);
    return { sessionId: session.sessionId, taskId: session.taskId, session };
  }

  async function findHead(session: Session | null): Promise<BranchHead> {
    if (session === null || session.repository === null) return undefined;
    const { repository, branch, headCommit, state } = session;
    // In place, the checkout is the user's and moves after the session.
    if (branch === null && state === 'ended') return headCommit;
    try {
      const head = await worktrees.findHead(repository, branch);
      if (head !== null) return head;
      // A merged and removed branch ended with the session; an unreadable one may be anywhere.
      await worktrees.findRepository(repository);
      return headCommit;
    } catch {
      return null;
    }
  }

  function hashOfRerun(session: Session | null, evidence: Evidence | null, head: BranchHead): string | null {
    const commands = selectRerunCommands(evidence?.tests ?? [], deps.checks());
    const isNothing = session === null || commands.tests.length + commands.checks.length === 0;
    return isNothing ? null : hashRerun(commands, head);
  }

  function assembleVerification(
    { sessionId, taskId, session }: VerificationSubject,
    head: BranchHead,
  ): Verification {
    const evidence = findEvidence(sessionId);
    const task = evidence?.taskId ?? taskId;
    const acceptance = task === null ? [] : deps.tasks.get(task).acceptanceCriteria;
    const criteria = addUnreported(acceptance, evidence?.criteria ?? []);
    const isOfNobody = evidence?.reportedBy === NOBODY;
    return {
      sessionId,
      taskId: task,
      ...judgeEvidence(evidence, criteria, head),
      summary: evidence?.summary ?? null,
      criteria,
      tests: evidence?.tests ?? [],
      symbols: evidence?.symbols ?? [],
      headCommit: evidence?.headCommit ?? null,
      reportedAt: isOfNobody ? null : (evidence?.reportedAt ?? null),
      reportedBy: isOfNobody ? null : (evidence?.reportedBy ?? null),
      rerun: evidence?.rerun ?? null,
      rerunState: evidence?.rerunState ?? null,
      rerunProblem: evidence?.rerunProblem ?? null,
      checks: deps.checks(),
      rerunHash: hashOfRerun(session, evidence, head),
    };
  }

  /** Judged against the recorded head. */
  const judgeAtEnd = (session: Session): Verification => {
    const { sessionId, taskId, repository, headCommit } = session;
    return assembleVerification({ sessionId, taskId, session }, repository === null ? undefined : headCommit);
  };

  async function judgeNow(name: string): Promise<Verification> {
    const whose = resolveSubject(name);
    // Without a report, nothing can be older than the branch; without checks, nothing would run there.
    const isNothing = findEvidence(whose.sessionId) === null && deps.checks().length === 0;
    const head = isNothing ? undefined : await findHead(whose.session);
    return assembleVerification(whose, head);
  }

  const parseTaskNumber = (taskId: string | null): number | null =>
    taskId === null ? null : parseId('t', taskId);

  function insertClaims(claims: VerificationClaims, head: BranchHead): void {
    const { sessionId, taskId, summary, criteria, tests, symbols, reportedBy } = claims;
    insert.run(
      sessionId,
      parseTaskNumber(taskId),
      head ?? null,
      summary,
      JSON.stringify(criteria),
      JSON.stringify(tests),
      JSON.stringify(symbols),
      clock.now(),
      reportedBy,
    );
    forget.run({ session: sessionId });
    // A superseded report needs no rerun.
    clearDue.run(sessionId);
  }

  function reportNothing({ sessionId, taskId }: Session, head: BranchHead): Evidence {
    const nothing = { summary: null, criteria: [], tests: [], symbols: [], reportedBy: NOBODY };
    insertClaims({ sessionId, taskId, ...nothing }, head);
    return findEvidence(sessionId)!;
  }

  const reruns = createReruns(deps, {
    newestOf: findEvidence,
    reportNothing,
    headOf: findHead,
    judged: judgeNow,
  });

  return {
    subject: resolveSubject,
    of: judgeNow,
    stateOf: (session) => judgeAtEnd(session).state,
    sentenceOf(session) {
      const { state, rerunState } = judgeAtEnd(session);
      if (state === 'none' && rerunState === null) return state;
      const next = rerunState === null ? '' : '; svc now reruns the tests and reports the result';
      return `${state} (${VERIFICATION_WORDS[state]}${next})`;
    },
    sessionEnded: reruns.setDue,
    async report<T>(
      claims: VerificationClaims,
      by: CallAuthor,
      write: (work: () => VerificationReport) => Promise<T>,
    ): Promise<T> {
      const whose = resolveSubject(claims.sessionId);
      const head = await findHead(whose.session);
      const { worktree = null, state } = whose.session ?? {};
      const uncommitted =
        worktree === null || state === 'ended'
          ? 0
          : await worktrees.countUncommitted(worktree).catch(() => 0);
      return write(() => {
        insertClaims(claims, head);
        const judged = assembleVerification(whose, head);
        const { criteria, tests, taskId } = judged;
        events.append({
          kind: 'verification_reported',
          sessionId: asWorkerSession(claims.sessionId),
          taskId,
          ...by,
          data: {
            session: claims.sessionId,
            state: judged.state,
            met: criteria.filter(({ status }) => status === 'met').length,
            criteria: criteria.length,
            failed: tests.filter(({ result }) => result === 'failed').length,
            tests: tests.length,
          },
        });
        return { verification: judged, uncommitted };
      });
    },
    rerun: reruns.run,
    start: reruns.start,
    close: reruns.close,
  };
}
