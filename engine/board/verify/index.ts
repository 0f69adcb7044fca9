import type { CallAuthor } from '../../core/api/operation.ts';
import { asWorkerSession } from '../../core/base/ids.ts';
import type { Worktrees } from '../../workers/runner/worktrees/index.ts';
import { canCommit, findLocalPath, type Session, type SessionPeers } from '../../workers/sessions/index.ts';
import type { Tasks } from '../tasks/index.ts';
import { createEvidenceStore, type VerificationClaims } from './evidence-store.ts';
import { createEvidenceJudge, type VerificationSubject } from './judge.ts';
import type { RerunRequest, RerunsDeps } from './rerun-deps.ts';
import { createReruns } from './reruns.ts';
import type { Verification, VerificationState } from './rows.ts';
import { VERIFICATION_WORDS } from './state.ts';

export type { VerificationSubject } from './judge.ts';
export type { Verification, VerificationState } from './rows.ts';

export interface VerifyDeps extends RerunsDeps {
  tasks: Pick<Tasks, 'get'>;
  peers: Pick<SessionPeers, 'find'>;
  worktrees: Pick<Worktrees, 'findHead' | 'findWorkerHead' | 'findRepository' | 'countUncommitted'>;
}

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

export function createVerify(deps: VerifyDeps): VerifyService {
  const { events, worktrees } = deps;
  const { findEvidence, insertClaims, moveClaims, reportNothing } = createEvidenceStore(deps);
  const { resolveSubject, findHead, findReportedHead, assembleVerification, judgeAtEnd, judgeNow } =
    createEvidenceJudge(deps, findEvidence);

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
    sessionEnded(session) {
      if (!canCommit(session)) moveClaims(session.sessionId, session.headCommit);
      reruns.setDue(session);
    },
    async report<T>(
      claims: VerificationClaims,
      by: CallAuthor,
      write: (work: () => VerificationReport) => Promise<T>,
    ): Promise<T> {
      const whose = resolveSubject(claims.sessionId);
      const head = await findReportedHead(whose.session);
      const { session } = whose;
      const { state } = session ?? {};
      const worktree = findLocalPath(session?.worktree ?? null);
      const uncommitted =
        worktree === null || state === 'ended' || (session !== null && !canCommit(session))
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
