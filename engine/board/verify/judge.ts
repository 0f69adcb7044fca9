import type { Worktrees } from '../../workers/runner/worktrees/index.ts';
import type { Session, SessionPeers } from '../../workers/sessions/index.ts';
import type { Tasks } from '../tasks/index.ts';
import { hashRerun } from './rerun.ts';
import type { RerunsDeps } from './rerun-deps.ts';
import { type Evidence, NOBODY, type Verification } from './rows.ts';
import { addUnreported, type BranchHead, judgeEvidence, selectRerunCommands } from './state.ts';

/** The session that evidence belongs to. */
export interface VerificationSubject {
  sessionId: string;
  taskId: string | null;
  /** Null for the sessions of Chairs and plain ones. */
  session: Session | null;
}

interface JudgeDeps extends Pick<RerunsDeps, 'sessions' | 'checks'> {
  tasks: Pick<Tasks, 'get'>;
  peers: Pick<SessionPeers, 'find'>;
  worktrees: Pick<Worktrees, 'findHead' | 'findWorkerHead' | 'findRepository'>;
}

/** Judges evidence against the branch of its session. */
export function createEvidenceJudge(deps: JudgeDeps, findEvidence: (sessionId: string) => Evidence | null) {
  const { sessions, worktrees } = deps;

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

  const findHead = (session: Session | null): Promise<BranchHead> => readHead(session, worktrees.findHead);

  /** Finds the commit that a report of a session is about. */
  const findReportedHead = (session: Session | null): Promise<BranchHead> =>
    readHead(session, session?.state === 'ended' ? worktrees.findHead : worktrees.findWorkerHead);

  async function readHead(session: Session | null, read: Worktrees['findHead']): Promise<BranchHead> {
    if (session === null || session.repository === null) return undefined;
    const { repository, branch, headCommit, state } = session;
    // In place, the checkout is the user's and moves after the session.
    if (branch === null && state === 'ended') return headCommit;
    try {
      const head = await read(repository, branch);
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

  return { resolveSubject, findHead, findReportedHead, assembleVerification, judgeAtEnd, judgeNow };
}
