import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { parseId } from '../../core/base/ids.ts';
import type { Storage } from '../../storage/index.ts';
import { createClaims } from './claims.ts';
import { type ConversationUsages, createConversationUsages } from './conversation-usages.ts';
import type { RunFacts, RunStart, SessionEnd } from './records.ts';
import type { Session, SessionPrivate, StopReason } from './rows.ts';
import { parseRunnerId, type RunProcess } from './site.ts';
import type { SessionBooks, SessionUsage } from './usage.ts';

/** The runs of a session from queued to ended. Methods that change them are called inside `storage.write`. */
export interface SessionRuns extends Pick<ConversationUsages, 'conversationUsage'> {
  private(sessionId: string): SessionPrivate;
  /**
   * queued → starting under a new mark; also repeats a start that is known to have failed. This ends a pause; its
   * reason is kept until the run starts, for the agent's prompt.
   */
  starting(sessionId: string, run: RunStart): void;
  /** Records the log offset of the next run's output, bytes. */
  outputFrom(sessionId: string, logFrom: number): void;
  /** starting → running. */
  running(sessionId: string, process: RunProcess): void;
  /** Adds a finished run's report, once; its usage only if the gateway has not counted the run. */
  heard(sessionId: string, facts: RunFacts): void;
  /** Reports whether the gateway counts the last run, so that the claims of its agent are not. */
  isCounted(sessionId: string): boolean;
  /** Returns the tokens that agents claim about runs of a task that the gateway has not counted. */
  claimedByTask(taskId: string): number;
  /** Returns the usage of such runs that ended on a UTC day, such as `2026-11-22`; null for none. */
  claimedOn(day: string): SessionUsage | null;
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
}

interface PrivateRow {
  run_id: string | null;
  pid: number | null;
  pid_start: string | null;
  log_from: number;
  bypasses: number;
  run_started_monotonic: number | null;
  idle_pauses: number;
}

const toPrivate = (row: PrivateRow | undefined): SessionPrivate => ({
  runId: row?.run_id ?? null,
  process: row?.pid == null || row.pid_start === null ? null : { pid: row.pid, pidStart: row.pid_start },
  logFrom: row?.log_from ?? 0,
  bypassesGateway: row?.bypasses === 1,
  runStartedMonotonic: row?.run_started_monotonic ?? null,
  idlePauses: row?.idle_pauses ?? 0,
});

export function createSessionRuns(
  storage: Pick<Storage, 'db'>,
  { clock, books, getSession }: { clock: Clock; books: SessionBooks; getSession(sessionId: string): Session },
): SessionRuns {
  const { db } = storage;
  const secrets = db.prepare<unknown[], PrivateRow>(
    `SELECT run_id, pid, pid_start, log_from, auth IS 'bypass' AS bypasses, run_started_monotonic, idle_pauses
     FROM session WHERE id = ?`,
  );
  const toStarting =
    db.prepare(`UPDATE session SET state = 'starting', run_id = ?, transport = ?, profile = ?,
    auth = CASE auth WHEN 'bypass' THEN auth ELSE ? END,
    runs = runs + (state = 'queued'), resume_at = NULL, pid = NULL, pid_start = NULL, runner = ?
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
  const usages = createConversationUsages(storage);
  const claims = createClaims(storage);
  const isCounted = (sessionId: string): boolean => books.hasCalled(parseId('s', sessionId));

  return {
    isCounted,
    claimedByTask: claims.claimedByTask,
    claimedOn: claims.claimedOn,
    conversationUsage: usages.conversationUsage,
    private(sessionId) {
      return toPrivate(secrets.get(parseId('s', sessionId)));
    },
    starting(sessionId, { runId, transport, auth, profile, runner }) {
      const id = parseId('s', sessionId);
      const machine = runner === null ? null : parseRunnerId(runner);
      if (toStarting.run(runId, transport, profile, auth, machine, id).changes === 0) {
        throw new SvcError(
          'conflict',
          `${sessionId} is ${getSession(sessionId).state} and cannot be started`,
        );
      }
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
      const claim = usage === null || isCounted(sessionId) ? null : usage;
      if (claim !== null) claims.addToDay(rfc3339(clock.now()).slice(0, 10), claim);
      const { input = null, cached = null, output = null, costUsd = null } = claim ?? {};
      const id = parseId('s', sessionId);
      setHeard.run({ agentSession, model, input, cached, output, costUsd, toolCalls, id });
    },
    forgetConversation: (sessionId) => void setNoConversation.run(parseId('s', sessionId)),
    forgetProfile(sessionId) {
      setNoProfile.run(parseId('s', sessionId));
    },
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
  };
}
