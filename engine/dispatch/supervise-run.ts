import { randomUUID } from 'node:crypto';
import { asSvcError } from '../core/base/errors.ts';
import { findOutputFormat, NO_FACTS, type StreamFacts } from '../workers/agents/index.ts';
import type { CollectOrder, RunName } from '../workers/runner/runs/index.ts';
import { findPlacement, type RunProcess } from '../workers/sessions/index.ts';
import { beginRun, findConversation } from './begin.ts';
import type { DispatchDeps } from './context.ts';
import type { RunEndings } from './endings.ts';
import { enforceLimits, findRunStart } from './limits.ts';
import type { RunLosses } from './lose-run.ts';
import type { PersistRun } from './persist.ts';
import { decideVerdict, NEVER, type RunEnd } from './verdict.ts';

/** Starts the runs of sessions, and follows them to their end. */
export function createRunSupervision(
  deps: DispatchDeps,
  {
    persist,
    endings,
    losses,
    looks,
    noteFacts,
    closing,
  }: {
    persist: PersistRun;
    endings: RunEndings;
    losses: Pick<RunLosses, 'leaveMachine'>;
    /** Checks the limits of running sessions, after a stop was requested. */
    looks: Set<() => void>;
    noteFacts(sessionId: string, facts: StreamFacts): void;
    closing: AbortSignal;
  },
) {
  const { sessions, tasks, events, runner, clock } = deps;

  function buildCollectOrder(run: RunName): CollectOrder {
    const session = sessions.get(run.sessionId);
    return {
      run,
      format: findOutputFormat(deps, session),
      outputFrom: sessions.private(run.sessionId).logFrom,
      placement: findPlacement(session),
      profile: session.profile,
      worker: session.workerId,
      // Before its first run: an earlier run's start is just as valid.
      since: Date.parse(session.createdAt),
      resumed: findConversation(deps, session),
    };
  }

  /** Follows a running process to the end of the session, or to its next pause. */
  async function followRun(run: RunName): Promise<void> {
    const { sessionId } = run;
    let facts = NO_FACTS;
    let lastOutputAt = clock.monotonic();
    const { value: exit, wasStopped } = await enforceLimits(deps, {
      run,
      startedAt: findRunStart(deps, sessionId),
      activity: { hasTold: () => facts.end !== null, lastOutputAt: () => lastOutputAt },
      looks,
      over: runner.watch(buildCollectOrder(run), (report) => {
        facts = report.facts;
        lastOutputAt = clock.monotonic() - report.quietMs;
        noteFacts(sessionId, facts);
      }),
    });
    if (exit !== null) await finishRun(run, { ...exit, wasStopped });
  }

  async function finishRun(run: RunName, end: RunEnd): Promise<void> {
    const result = await runner.collect(buildCollectOrder(run));
    await endings.endRun(run.sessionId, end, result);
    await runner.discard(run);
  }

  /** @param machine the id of the machine that it starts on; null for this one */
  async function beginSession(sessionId: string, machine = sessions.findRunner(sessionId)): Promise<void> {
    // Before anything is recorded: it stays unchanged until it is adopted.
    deps.requireConsent();
    const { cwd, runner: former } = sessions.get(sessionId);
    if (cwd !== null && former !== machine) await losses.leaveMachine(sessionId);
    const run = { sessionId, runId: randomUUID() };
    let process: RunProcess;
    try {
      process = await beginRun({ deps, persist, looks, run, machine, closing });
    } catch (error) {
      // Its machine was given up in the meantime, and the session with it.
      const isReleased = machine !== null && asSvcError(error).code === 'engine_closing';
      if (closing.aborted || isReleased) return;
      const { stopReason } = sessions.get(sessionId);
      if (stopReason === null) await endings.failToStart(sessionId, error);
      else await endStopped(sessionId);
      return runner.discard({ ...run, isUnplaced: sessions.get(sessionId).cwd === null });
    }
    await recordProcess(sessionId, process);
    await followRun(run);
  }

  const endStopped = (sessionId: string): Promise<void> =>
    endings.endSession(sessionId, decideVerdict(sessions.get(sessionId), NEVER));

  async function recordProcess(sessionId: string, process: RunProcess): Promise<void> {
    await persist(`the process of ${sessionId}`, () => {
      const session = sessions.get(sessionId);
      if (session.state !== 'starting') return;
      sessions.running(sessionId, process);
      tasks.start(session.taskId, sessionId);
      deps.races.started(session);
      events.append({
        kind: 'session_started',
        taskId: session.taskId,
        decisionId: session.decisionId,
        sessionId,
        via: 'engine',
        data: { title: session.title, agent: session.agent, branch: session.branch },
      });
    });
  }

  return { beginSession, followRun, finishRun, recordProcess, endStopped };
}
