import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { asWorkerSession, findByPrefix, formatId, formatIdArray, parseId } from '../../core/base/ids.ts';
import type { Storage } from '../../storage/index.ts';
import { type ConversationUsages, createConversationUsages } from './conversation-usages.ts';
import type { NewSession, RunFacts, RunStart, SessionEnd, SessionFilter } from './records.ts';
import {
  type Session,
  type SessionPrivate,
  type SessionRow,
  type SessionState,
  type StopReason,
  toSession,
} from './rows.ts';
import type { RunProcess, SessionPlacement } from './site.ts';
import { createTurns, type SessionTurns } from './turns.ts';

/** The register of worker sessions. Methods that change it are called inside `storage.write`. */
export interface Sessions extends SessionTurns, Pick<ConversationUsages, 'conversationUsage'> {
  get(sessionId: string): Session;
  resolve(prefix: string): Session;
  /** Reports whether the id belongs to a worker session. */
  isKnown(sessionId: string): boolean;
  /**
   * Newest first, without `ids` live ones and those of one state in the order of their turn; at most `limit` (100, or
   * as many as there are `ids`). Unknown `ids` are left out.
   */
  list(filter: SessionFilter): Session[];
  /** Lists sessions that have not ended, oldest first. */
  listLive(): Session[];
  ofTask(taskId: string): Session[];
  /** Lists the sessions of a race, in the order of its agents. */
  ofRace(race: number): Session[];
  /** Lists ended ones that are due to be discarded, since another session of their race was promoted. */
  listDiscardDue(): Session[];
  setDiscardDue(sessionId: string, isDue: boolean): void;
  isDiscardDue(sessionId: string): boolean;
  /** Finds the newest session that has the branch. */
  byBranch(branch: string): Session | null;
  /** Finds the live session that continues an ended one; null for none. */
  findSuccessor(sessionId: string): Session | null;
  private(sessionId: string): SessionPrivate;
  byRunId(runId: string): Session | null;
  /** Finds a worker's newest session, by its given name or `w-3`; null for an unknown worker. */
  newestOfWorker(workerId: string): Session | null;
  create(session: NewSession): Session;
  /**
   * queued → starting under a new mark; also repeats a start that is known to have failed. This ends a pause; its
   * reason is kept until the run starts, for the agent's prompt.
   */
  starting(sessionId: string, run: RunStart): void;
  place(sessionId: string, placement: SessionPlacement): void;
  /** Records the log offset of the next run's output, bytes. */
  outputFrom(sessionId: string, logFrom: number): void;
  /** starting → running. */
  running(sessionId: string, process: RunProcess): void;
  /** Adds a finished run's report, once. */
  heard(sessionId: string, facts: RunFacts): void;
  /** Forgets the agent's own session, so it is not resumed. */
  forgetConversation(sessionId: string): void;
  /** Lets its next run use another profile. */
  forgetProfile(sessionId: string): void;
  /** Records the worker's report on its task, replacing an earlier one. False once the session has ended. */
  recordOwnWord(sessionId: string, word: 'done' | 'failed'): boolean;
  /** Records why it is being stopped. The first reason stays: false if there is one, or if it has ended. */
  stopping(sessionId: string, reason: StopReason, actor: string): boolean;
  /** → ended, once: false if it had ended. */
  end(sessionId: string, end: SessionEnd): boolean;
  /** Lists ended sessions whose worktree is still on record. */
  endedWithWorktree(): Session[];
  worktreeGone(sessionId: string): void;
  /** Its worktree exists again. */
  worktreeBack(sessionId: string, path: string): void;
  /** Another session has its worktree and branch from now on. */
  handedOn(sessionId: string): void;
  promoted(sessionId: string, by: string): void;
  /** Its base no longer contains its work. */
  promotionUndone(sessionId: string): void;
  /**
   * Lists ended sessions with commits, or with unreadable work, that were not promoted; without a worktree, only
   * those whose branch may still exist.
   */
  unpromoted(): Session[];
  branchBecame(sessionId: string, state: Session['branchState']): void;
  /** Counts by state: `queued` wait for a free slot, `paused` for a time. */
  counts(): { queued: number; paused: number; running: number };
  /** Counts all sessions ever created, or the live ones. */
  count(only: { live?: boolean | undefined }): number;
}

const SELECT = 'SELECT s.*, w.name AS worker_name FROM session s JOIN worker w ON w.id = s.worker_id';

export function createSessions({ storage, clock }: { storage: Storage; clock: Clock }): Sessions {
  const { db } = storage;
  const byId = db.prepare<unknown[], SessionRow>(`${SELECT} WHERE s.id = +?`);
  const byPrefix = db.prepare<unknown[], SessionRow>(`${SELECT} WHERE CAST(s.id AS TEXT) LIKE +? LIMIT 2`);
  const byRun = db.prepare<unknown[], SessionRow>(`${SELECT} WHERE s.run_id = +?`);
  const newestOf = db.prepare<unknown[], SessionRow>(
    `${SELECT} WHERE w.name = +? OR (w.name IS NULL AND w.id = +?) ORDER BY s.id DESC LIMIT 1`,
  );
  const newest = db.prepare<unknown[], SessionRow>(`${SELECT} WHERE s.id < +? ORDER BY s.id DESC LIMIT +?`);
  const ofState = db.prepare<unknown[], SessionRow>(`${SELECT} WHERE s.state = +? ORDER BY s.id LIMIT +?`);
  const live = db.prepare<unknown[], SessionRow>(
    `${SELECT} WHERE s.state <> 'ended' AND +s.id > ? ORDER BY s.id LIMIT +?`,
  );
  const among = db.prepare<unknown[], SessionRow>(
    `${SELECT} WHERE s.id IN (SELECT value FROM json_each(?)) AND s.state = coalesce(?, s.state)
     AND (? = 0 OR s.state <> 'ended') ORDER BY s.id DESC LIMIT +?`,
  );
  const ofTaskId = db.prepare<unknown[], SessionRow>(`${SELECT} WHERE s.task_id = +? ORDER BY s.id`);
  const inRace = db.prepare<unknown[], SessionRow>(`${SELECT} WHERE s.race = ? ORDER BY s.id`);
  const discardDue = db.prepare<unknown[], SessionRow>(
    `${SELECT} WHERE s.discard_due = 1 AND s.state = 'ended' ORDER BY s.id`,
  );
  const setDue = db.prepare('UPDATE session SET discard_due = ? WHERE id = ?');
  const findDue = db.prepare<unknown[], { discard_due: number }>(
    'SELECT discard_due FROM session WHERE id = ?',
  );
  const branched = db.prepare<unknown[], SessionRow>(
    `${SELECT} WHERE s.branch = +? ORDER BY s.id DESC LIMIT 1`,
  );
  const succeeding = db.prepare<unknown[], SessionRow>(
    `${SELECT} WHERE s.state <> 'ended' AND s.continues = +? LIMIT 1`,
  );
  const keeping = db.prepare<unknown[], SessionRow>(
    `${SELECT} WHERE s.state = 'ended' AND s.worktree IS NOT NULL ORDER BY s.id`,
  );
  const secrets = db.prepare<
    unknown[],
    {
      run_id: string | null;
      pid: number | null;
      pid_start: string | null;
      log_from: number;
      bypasses: number;
      run_started_monotonic: number | null;
      idle_pauses: number;
    }
  >(`SELECT run_id, pid, pid_start, log_from, auth IS 'bypass' AS bypasses, run_started_monotonic, idle_pauses
     FROM session WHERE id = ?`);
  const usages = createConversationUsages(storage);
  const workerNamed = db.prepare<unknown[], { id: number }>('SELECT id FROM worker WHERE name = ?');
  const addWorker = db.prepare('INSERT INTO worker (name) VALUES (?)');
  const insert = db.prepare(`INSERT INTO session
    (task_id, decision_id, worker_id, title, agent, project, state, inplace, keep_worktree, base_wanted,
     timeout_sec, idle_timeout_sec, parent, created_at, priority, continues, token_budget, auth, race)
    VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const toStarting =
    db.prepare(`UPDATE session SET state = 'starting', run_id = ?, transport = ?, profile = ?,
    auth = CASE auth WHEN 'bypass' THEN auth ELSE ? END,
    runs = runs + (state = 'queued'), resume_at = NULL, pid = NULL, pid_start = NULL
    WHERE id = ? AND state IN ('queued', 'starting')`);
  const setHeard = db.prepare(`UPDATE session SET agent_session = coalesce(@agentSession, agent_session),
    model = coalesce(@model, model),
    tokens_in = CASE WHEN @input IS NULL THEN tokens_in ELSE coalesce(tokens_in, 0) + @input END,
    tokens_cached = CASE WHEN @input IS NULL THEN tokens_cached ELSE coalesce(tokens_cached, 0) + @cached END,
    tokens_out = CASE WHEN @input IS NULL THEN tokens_out ELSE coalesce(tokens_out, 0) + @output END,
    cost_usd = CASE WHEN @costUsd IS NULL THEN cost_usd ELSE coalesce(cost_usd, 0) + @costUsd END,
    tool_calls = coalesce(tool_calls, 0) + @toolCalls WHERE id = @id`);
  const setNoProfile = db.prepare('UPDATE session SET profile = NULL WHERE id = ?');
  const setNoConversation = db.prepare('UPDATE session SET agent_session = NULL WHERE id = ?');
  const setPlace = db.prepare(
    'UPDATE session SET repository = ?, worktree = ?, cwd = ?, branch = ?, base = ?, base_commit = ? WHERE id = ?',
  );
  const setLogFrom = db.prepare('UPDATE session SET log_from = ? WHERE id = ?');
  const toRunning = db.prepare(
    `UPDATE session SET state = 'running', pid = @pid, pid_start = @pidStart,
     containment = coalesce(@containment, containment), started_at = coalesce(started_at, @now),
     run_started_at = @now, run_started_monotonic = @monotonic, pause_code = NULL, pause_text = NULL WHERE id = @id AND state = 'starting'`,
  );
  const setOwnWord = db.prepare(`UPDATE session SET own_word = ? WHERE id = ? AND state <> 'ended'`);
  const setStopping = db.prepare(
    `UPDATE session SET stop_reason = ?, stop_actor = ? WHERE id = ? AND state <> 'ended' AND stop_reason IS NULL`,
  );
  const toEnded =
    db.prepare(`UPDATE session SET state = 'ended', ended_at = ?, exit_code = ?, exit_signal = ?,
    failure_code = ?, failure_text = ?, head_commit = ?, commits = ?, files = ?, insertions = ?, deletions = ?,
    resume_at = NULL, pause_code = NULL, pause_text = NULL WHERE id = ? AND state <> 'ended'`);
  const setWorktree = db.prepare('UPDATE session SET worktree = ? WHERE id = ?');
  const setHandedOn = db.prepare(
    `UPDATE session SET worktree = NULL, branch_state = 'continued' WHERE id = ?`,
  );
  const unpromoted = db.prepare<unknown[], SessionRow>(
    `${SELECT} WHERE s.state = 'ended' AND coalesce(s.commits, s.cwd IS NOT NULL) > 0 AND s.promoted_at IS NULL AND s.branch IS NOT NULL
     AND (s.branch_state IS NULL OR s.worktree IS NOT NULL)`,
  );
  const setBranchState = db.prepare('UPDATE session SET branch_state = ? WHERE id = ?');
  const setPromoted = db.prepare('UPDATE session SET promoted_at = ?, promoted_by = ? WHERE id = ?');
  const all = db.prepare<unknown[], { n: number }>('SELECT count(*) AS n FROM session');
  const count = db.prepare<unknown[], { state: SessionState; is_paused: number; n: number }>(
    `SELECT state, resume_at IS NOT NULL AS is_paused, count(*) AS n FROM session WHERE state <> 'ended' GROUP BY 1, 2`,
  );

  function getSession(sessionId: string): Session {
    const row = byId.get(parseId('s', sessionId));
    if (!row) throw new SvcError('not_found', `no session ${sessionId}`);
    return toSession(row);
  }

  function workerFor(name: string | null): number {
    const known = name === null ? undefined : workerNamed.get(name);
    return known?.id ?? Number(addWorker.run(name).lastInsertRowid);
  }

  function countByState(): { queued: number; paused: number; running: number } {
    const found = { queued: 0, paused: 0, running: 0 };
    for (const { state, is_paused, n } of count.all()) {
      if (state === 'queued') found[is_paused === 1 ? 'paused' : 'queued'] += n;
      else found.running += n;
    }
    return found;
  }

  return {
    ...createTurns(storage),
    conversationUsage: usages.conversationUsage,
    get: getSession,
    resolve: (prefix) =>
      toSession(
        findByPrefix('s', prefix, { exact: (id) => byId.get(id), like: (pattern) => byPrefix.all(pattern) }),
      ),
    isKnown: (sessionId) =>
      asWorkerSession(sessionId) !== null && byId.get(parseId('s', sessionId)) !== undefined,
    list({ state, live: onlyLive = false, ids, cursor, limit = ids?.length ?? 100 }) {
      if (ids !== undefined) {
        return among.all(formatIdArray('s', ids), state ?? null, onlyLive ? 1 : 0, limit).map(toSession);
      }
      if (state !== undefined) return ofState.all(state, limit).map(toSession);
      const from = cursor === undefined ? null : parseId('s', cursor);
      return (onlyLive ? live.all(from ?? 0, limit) : newest.all(from ?? Number.MAX_SAFE_INTEGER, limit)).map(
        toSession,
      );
    },
    // In SQLite a negative LIMIT means no limit.
    listLive: () => live.all(0, -1).map(toSession),
    ofTask: (taskId) => ofTaskId.all(parseId('t', taskId)).map(toSession),
    ofRace: (race) => inRace.all(race).map(toSession),
    listDiscardDue: () => discardDue.all().map(toSession),
    setDiscardDue: (sessionId, isDue) => void setDue.run(isDue ? 1 : 0, parseId('s', sessionId)),
    isDiscardDue: (sessionId) => findDue.get(parseId('s', sessionId))?.discard_due === 1,
    byBranch(branch) {
      const row = branched.get(branch);
      return row ? toSession(row) : null;
    },
    findSuccessor(sessionId) {
      const row = succeeding.get(parseId('s', sessionId));
      return row ? toSession(row) : null;
    },
    private(sessionId) {
      const row = secrets.get(parseId('s', sessionId));
      return {
        runId: row?.run_id ?? null,
        process:
          row?.pid == null || row.pid_start === null ? null : { pid: row.pid, pidStart: row.pid_start },
        logFrom: row?.log_from ?? 0,
        bypassesGateway: row?.bypasses === 1,
        runStartedMonotonic: row?.run_started_monotonic ?? null,
        idlePauses: row?.idle_pauses ?? 0,
      };
    },
    byRunId(runId) {
      const row = byRun.get(runId);
      return row ? toSession(row) : null;
    },
    newestOfWorker(workerId) {
      const counted = /^w-([1-9]\d{0,14})$/.exec(workerId);
      const row = newestOf.get(workerId, counted ? Number(counted[1]) : 0);
      return row ? toSession(row) : null;
    },
    create(session) {
      const { lastInsertRowid } = insert.run(
        parseId('t', session.taskId),
        parseId('d', session.decisionId),
        workerFor(session.name),
        session.title,
        session.agent,
        session.project,
        session.inplace ? 1 : 0,
        session.keepWorktree ? 1 : 0,
        session.base,
        session.timeoutSec,
        session.idleTimeoutSec,
        session.parent,
        clock.now(),
        session.priority,
        session.continues === null ? null : parseId('s', session.continues),
        session.tokenBudget,
        session.gatewayBypass ? 'bypass' : null,
        session.race,
      );
      return getSession(formatId('s', Number(lastInsertRowid)));
    },
    starting(sessionId, { runId, transport, auth, profile }) {
      const id = parseId('s', sessionId);
      if (toStarting.run(runId, transport, profile, auth, id).changes === 0) {
        throw new SvcError(
          'conflict',
          `${sessionId} is ${getSession(sessionId).state} and cannot be started`,
        );
      }
    },
    place(sessionId, { repository, worktree, cwd, branch, base, baseCommit }) {
      setPlace.run(repository, worktree, cwd, branch, base, baseCommit, parseId('s', sessionId));
    },
    outputFrom(sessionId, logFrom) {
      setLogFrom.run(logFrom, parseId('s', sessionId));
    },
    running(sessionId, { pid, pidStart, containment }) {
      const [now, monotonic] = [clock.now(), clock.monotonic()];
      toRunning.run({ pid, pidStart, containment, now, monotonic, id: parseId('s', sessionId) });
    },
    heard(sessionId, { agentSession, model, usage, conversation, toolCalls }) {
      if (agentSession !== null)
        usages.add(getSession(sessionId).taskId, agentSession, { usage, conversation });
      const { input = null, cached = null, output = null, costUsd = null } = usage ?? {};
      const id = parseId('s', sessionId);
      setHeard.run({ agentSession, model, input, cached, output, costUsd, toolCalls, id });
    },
    forgetProfile(sessionId) {
      setNoProfile.run(parseId('s', sessionId));
    },
    forgetConversation: (sessionId) => void setNoConversation.run(parseId('s', sessionId)),
    recordOwnWord: (sessionId, word) => setOwnWord.run(word, parseId('s', sessionId)).changes === 1,
    stopping: (sessionId, reason, actor) =>
      setStopping.run(reason, actor, parseId('s', sessionId)).changes === 1,
    end(sessionId, end) {
      const { changes } = toEnded.run(
        clock.now(),
        end.exitCode,
        end.exitSignal,
        end.failure?.code ?? null,
        end.failure?.text ?? null,
        end.headCommit ?? null,
        end.commits ?? null,
        end.files ?? null,
        end.insertions ?? null,
        end.deletions ?? null,
        parseId('s', sessionId),
      );
      return changes === 1;
    },
    endedWithWorktree: () => keeping.all().map(toSession),
    worktreeGone(sessionId) {
      setWorktree.run(null, parseId('s', sessionId));
    },
    worktreeBack(sessionId, path) {
      setWorktree.run(path, parseId('s', sessionId));
    },
    handedOn(sessionId) {
      setHandedOn.run(parseId('s', sessionId));
    },
    promoted(sessionId, by) {
      setPromoted.run(clock.now(), by, parseId('s', sessionId));
    },
    promotionUndone(sessionId) {
      setPromoted.run(null, null, parseId('s', sessionId));
    },
    unpromoted: () => unpromoted.all().map(toSession),
    branchBecame(sessionId, state) {
      setBranchState.run(state, parseId('s', sessionId));
    },
    counts: countByState,
    count({ live: onlyLive = false }) {
      const { queued, paused, running } = countByState();
      return onlyLive ? queued + paused + running : (all.get()?.n ?? 0);
    },
  };
}
