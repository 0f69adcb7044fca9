import { randomUUID } from 'node:crypto';
import type { Peers } from '../../bus/peers.ts';
import type { Session, Sessions } from '../../bus/sessions/index.ts';
import type { Clock } from '../../clock.ts';
import { SvcError } from '../../errors.ts';
import { parseId, workerSession } from '../../ids.ts';
import type { By } from '../../operation.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { CommandConfinement, SessionCommand } from '../../workers/confine/commands.ts';
import type { Processes } from '../../workers/processes/index.ts';
import type { Worktrees } from '../../workers/worktrees/index.ts';
import type { Tasks } from '../tasks/index.ts';
import { runAgain, type ToRunAgain, toRunAgain } from './rerun.ts';
import {
  type Evidence,
  type RerunResult,
  toEvidence,
  type Verification,
  type VerificationRow,
  type VerificationState,
} from './rows.ts';
import { type Head, judge, withUnreported } from './state.ts';

export type { Verification, VerificationState } from './rows.ts';

export interface VerifyDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  sessions: Sessions;
  tasks: Pick<Tasks, 'get'>;
  peers: Pick<Peers, 'find'>;
  worktrees: Pick<Worktrees, 'head' | 'uncommitted'>;
  processes: Pick<Processes, 'startOf' | 'stop' | 'sweep' | 'contain'>;
  /** What a program that checks a worker's claims may see. */
  workerEnvironment(extra: Record<string, string>): Record<string, string>;
  confine: CommandConfinement;
  /** Throws `consent_missing` while nobody has ever agreed to svc.yaml. */
  requireConsent(): void;
}

/** Whose evidence it is. */
export interface Subject {
  sessionId: string;
  taskId: string | null;
  /** Null for the sessions of Chairs and plain ones. */
  session: Session | null;
}

export type Claims = Pick<Evidence, 'sessionId' | 'taskId' | 'summary' | 'criteria' | 'tests' | 'symbols'> & {
  reportedBy: string;
};

export interface Reported {
  verification: Verification;
  uncommitted: number;
}

export interface RerunRequest {
  timeoutSec: number;
  signal: AbortSignal;
  progress(message: string): void;
  by: By;
}

/** Owns the evidence that sessions give of their work, and says what it is worth. */
export interface Verify {
  /** The session that a full id or a prefix names. Throws `not_found` or `conflict`. */
  subject(name: string): Subject;
  /** The evidence of a session, judged by where its branch ends now. Throws `not_found`. */
  of(sessionId: string): Promise<Verification>;
  /** As of the head that is on record; synchronous, for the transaction of the session's end. */
  stateOf(session: Session): VerificationState;
  /** Records what a session claims. `uncommitted` files will be committed after it. */
  report(claims: Claims, by: By, key: string | null): Promise<Reported>;
  /** Runs the reported tests again, in the worktree of a session that has ended. */
  rerun(name: string, request: RerunRequest): Promise<Verification>;
  /** Ends what an engine that was killed left running. */
  start(): void;
  close(): Promise<void>;
}

/** Reports of one session that are kept; the newest counts. */
const KEPT = 10;

export function createVerify(deps: VerifyDeps): Verify {
  const { storage, events, clock, sessions, worktrees, processes } = deps;
  const { db } = storage;
  const newest = db.prepare<unknown[], VerificationRow>(
    'SELECT * FROM verification WHERE session_id = ? ORDER BY id DESC LIMIT 1',
  );
  const insert = db.prepare(`INSERT INTO verification
    (session_id, task_id, head_commit, summary, criteria, tests, symbols, reported_at, reported_by)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const forget = db.prepare(`DELETE FROM verification WHERE session_id = @session AND id NOT IN
    (SELECT id FROM verification WHERE session_id = @session ORDER BY id DESC LIMIT ${KEPT})`);
  const setMark = db.prepare('UPDATE verification SET rerun_mark = ? WHERE id = ?');
  const setRerun = db.prepare(
    'UPDATE verification SET rerun = ?, rerun_at = ?, rerun_by = ?, rerun_mark = NULL WHERE id = ?',
  );
  const marked = db.prepare<unknown[], { id: number; rerun_mark: string }>(
    'SELECT id, rerun_mark FROM verification WHERE rerun_mark IS NOT NULL',
  );
  const closing = new AbortController();
  const under = new Map<string, Promise<unknown>>();

  function evidenceOf(sessionId: string): Evidence | null {
    const row = newest.get(sessionId);
    return row === undefined ? null : toEvidence(row);
  }

  function subject(name: string): Subject {
    const peer = deps.peers.find(name);
    if (peer !== null && peer.seat !== 'worker') {
      return { sessionId: peer.sessionId, taskId: evidenceOf(peer.sessionId)?.taskId ?? null, session: null };
    }
    const session = sessions.resolve(name);
    return { sessionId: session.sessionId, taskId: session.taskId, session };
  }

  async function headOf(session: Session | null): Promise<Head> {
    if (session === null || session.repository === null) return undefined;
    const { repository, branch, headCommit, state } = session;
    // In place the checkout is the user's and goes on after the session.
    if (branch === null && state === 'ended') return headCommit;
    const head = await worktrees.head(repository, branch).catch(() => null);
    // A branch that was merged and removed has ended where the session did.
    return head ?? headCommit;
  }

  function assembled({ sessionId, taskId }: Subject, head: Head): Verification {
    const evidence = evidenceOf(sessionId);
    const task = evidence?.taskId ?? taskId;
    const acceptance = task === null ? [] : deps.tasks.get(task).acceptanceCriteria;
    const criteria = withUnreported(acceptance, evidence?.criteria ?? []);
    return {
      sessionId,
      taskId: task,
      ...judge(evidence, criteria, head),
      summary: evidence?.summary ?? null,
      criteria,
      tests: evidence?.tests ?? [],
      symbols: evidence?.symbols ?? [],
      headCommit: evidence?.headCommit ?? null,
      reportedAt: evidence?.reportedAt ?? null,
      reportedBy: evidence?.reportedBy ?? null,
      rerun: evidence?.rerun ?? null,
    };
  }

  async function of(name: string): Promise<Verification> {
    const whose = subject(name);
    // Where nothing was reported there is nothing that could be older than the branch.
    const head = evidenceOf(whose.sessionId) === null ? undefined : await headOf(whose.session);
    return assembled(whose, head);
  }

  const taskNumber = (taskId: string | null): number | null =>
    taskId === null ? null : parseId('t', taskId);

  function insertClaims(claims: Claims, head: Head): void {
    const { sessionId, taskId, summary, criteria, tests, symbols, reportedBy } = claims;
    insert.run(
      sessionId,
      taskNumber(taskId),
      head ?? null,
      summary,
      JSON.stringify(criteria),
      JSON.stringify(tests),
      JSON.stringify(symbols),
      clock.now(),
      reportedBy,
    );
    forget.run({ session: sessionId });
  }

  async function runAll(what: ToRunAgain, request: RerunRequest): Promise<void> {
    const { session, evidence, tests, folder } = what;
    const mark = randomUUID();
    // On record before anything runs: an engine that is killed meanwhile leaves word of what to end.
    await storage.write(() => setMark.run(mark, evidence.id));
    const signal = AbortSignal.any([request.signal, closing.signal]);
    const run = { cwd: folder, mark, timeoutMs: request.timeoutSec * 1000, signal };
    const running = {
      processes,
      environment: deps.workerEnvironment,
      confine: (command: SessionCommand) => deps.confine(session, command),
      isConfined: session.profile === 'strict',
    };
    const results: RerunResult[] = [];
    try {
      for (const [at, test] of tests.entries()) {
        request.progress(`runs ${at + 1} of ${tests.length}: ${test.command}`);
        results.push(await runAgain(test, run, running));
      }
    } catch (error) {
      await storage.write(() => setMark.run(null, evidence.id));
      throw error;
    }
    await storage.write(() => recordRerun(what, results, request.by));
  }

  function recordRerun({ session, evidence }: ToRunAgain, results: RerunResult[], by: By): void {
    setRerun.run(JSON.stringify(results), clock.now(), by.actor, evidence.id);
    const { sessionId, taskId } = session;
    const agrees = results.every((each) => each.agrees);
    const data = { agrees, tests: results.length };
    events.append({ kind: 'verification_rerun', sessionId, taskId, ...by, data });
  }

  return {
    subject,
    of,
    stateOf: (session) => {
      const { sessionId, taskId, repository, headCommit } = session;
      return assembled({ sessionId, taskId, session }, repository === null ? undefined : headCommit).state;
    },
    async report(claims, by, key) {
      const before = storage.answerOf<Reported>('verify_report', key);
      if (before !== undefined) return before;
      const whose = subject(claims.sessionId);
      const head = await headOf(whose.session);
      const { worktree = null, state } = whose.session ?? {};
      const uncommitted =
        worktree === null || state === 'ended' ? 0 : await worktrees.uncommitted(worktree).catch(() => 0);
      return storage.once('verify_report', key, () => {
        insertClaims(claims, head);
        const judged = assembled(whose, head);
        const { criteria, tests, taskId } = judged;
        events.append({
          kind: 'verification_reported',
          sessionId: workerSession(claims.sessionId),
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
    async rerun(name, request) {
      deps.requireConsent();
      const session = sessions.resolve(name);
      const { sessionId } = session;
      const what = toRunAgain(session, evidenceOf(sessionId));
      if (under.has(sessionId)) {
        throw new SvcError('conflict', `the tests of ${sessionId} are being run again already`, {
          hint: `svc verify show ${sessionId} has the result when they are done`,
        });
      }
      const run = runAll(what, request);
      under.set(sessionId, run);
      try {
        await run;
      } finally {
        under.delete(sessionId);
      }
      return of(sessionId);
    },
    start() {
      for (const { id, rerun_mark: mark } of marked.all()) {
        const swept = processes.sweep(mark).then(() => storage.write(() => setMark.run(null, id)));
        under.set(mark, swept);
        swept.catch(() => undefined).finally(() => under.delete(mark));
      }
    },
    async close() {
      closing.abort();
      await Promise.allSettled(under.values());
    },
  };
}
