import { type DiffComments, titleFollowUp } from '../board/comments/index.ts';
import type { Decisions } from '../board/decisions/index.ts';
import { type DispatchOptions, pickRepeatable, pickRequested } from '../board/index.ts';
import type { NewTask, Tasks } from '../board/tasks/index.ts';
import { checkNotReplaced, type SubmitResult, type Workflow } from '../board/workflow/index.ts';
import type { CallAuthor } from '../core/api/operation.ts';
import { SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import type { FollowUps, Session, Sessions, SessionVisitors } from '../workers/sessions/index.ts';
import type { Dispatcher } from './index.ts';
import { checkUnvisited, discardedError, isPaused } from './session-checks.ts';

/** The input of a follow-up. */
export interface FollowUp
  extends Pick<NewTask, 'source' | 'sourceRef' | 'sourceUrl' | 'authorRole' | 'origin'> {
  /** Why it waits for approval; left out if it starts now. */
  held?: string;
  prompt: string;
  /** Null for the first line of the prompt. */
  title: string | null;
  /** The comments on its diff that the prompt includes. */
  comments: readonly number[];
}

/** Gives the worktree and conversation of a session more to do. */
export interface SessionContinuation {
  /**
   * Resumes a paused one now; a failed one continues in a new session, in the same worktree and conversation. Throws
   * `conflict` for any other, and for one of an open race.
   */
  resume(
    sessionId: string,
    options: DispatchOptions,
    by: CallAuthor,
    write: <T>(work: () => T) => Promise<T>,
  ): Promise<Session>;
  /**
   * Inside `storage.write`: gives an ended session more work, as a separate task in the same worktree and
   * conversation. Throws `conflict` if its worktree is gone or in use, or a comment is gone.
   */
  followUp(sessionId: string, task: FollowUp, options: DispatchOptions, by: CallAuthor): SubmitResult;
}

export interface ContinuationDeps {
  sessions: Sessions;
  tasks: Pick<Tasks, 'create' | 'get'>;
  decisions: Pick<Decisions, 'boundTo'>;
  workflow: Workflow;
  dispatcher: Pick<Dispatcher, 'resume'>;
  visitors: Pick<SessionVisitors, 'findVisitorConflict'>;
  followUps: Pick<FollowUps, 'require'>;
  comments: Pick<DiffComments, 'takeComments'>;
  /** Throws `consent_missing` while no one has ever agreed to svc.yaml. */
  requireConsent(): void;
  /** True if `guard.profile` is strict. */
  isStrict(): boolean;
}

export function createContinuation(deps: ContinuationDeps): SessionContinuation {
  const { sessions, decisions, workflow, dispatcher, visitors, isStrict } = deps;

  /** Throws if the configuration requires confined runs. */
  function checkMayLeave({ sessionId }: Session): void {
    if (!isStrict()) return;
    throw new SvcError('conflict', `guard.profile is strict, so ${sessionId} must stay in the sandbox`, {
      hint: 'resume it without --outside; another profile applies only to later starts',
    });
  }

  /** Inside `storage.write`. `started` is null for a paused one, which resumes as it is. */
  function resumeNow(
    sessionId: string,
    options: DispatchOptions,
    by: CallAuthor,
  ): { going: Session; started: SubmitResult | null } {
    const session = sessions.get(sessionId);
    checkUnvisited(visitors, sessionId);
    if (options.outside) checkMayLeave(session);
    if (options.outside && isPaused(session)) {
      sessions.forgetProfile(sessionId);
      sessions.forgetConversation(sessionId);
      workflow.approveOutside(session);
    }
    if (session.state === 'queued' && dispatcher.resume(sessionId, by))
      return { going: sessions.get(sessionId), started: null };
    checkContinuable(deps, session);
    workflow.retry(session.taskId, by);
    const started = workflow.run(
      session.taskId,
      {
        ...repeatOptions(session, decisions.boundTo(session.decisionId).options),
        ...options,
        continues: sessionId,
      },
      by,
    );
    return { going: started.session ?? session, started };
  }

  return {
    async resume(sessionId, options, by, write) {
      const { going, started } = await write(() => resumeNow(sessionId, options, by));
      if (started !== null) checkNotReplaced(started);
      return going;
    },

    followUp(sessionId, { prompt, title, comments, held, ...from }, options, by) {
      deps.requireConsent();
      const session = deps.followUps.require(sessionId);
      if (options.outside) checkMayLeave(session);
      const former = deps.tasks.get(session.taskId);
      deps.comments.takeComments(sessionId, comments, by);
      const { taskId } = deps.tasks.create({
        title: title ?? titleFollowUp(prompt, former.title),
        body: prompt,
        agent: session.agent,
        project: session.project,
        priority: former.priority,
        ...from,
        // The conversation with text from an untrusted author is still there.
        stranger: former.stranger,
        actor: by.actor,
      });
      const repeated = repeatOptions(session, decisions.boundTo(session.decisionId).options);
      const wanted = { ...repeated, ...pickRequested(options), continues: sessionId };
      return held === undefined ? workflow.run(taskId, wanted, by) : workflow.hold(taskId, wanted, held, by);
    },
  };
}

/** Throws while its race is open, whose task belongs to none of its sessions. */
function checkRacesNoMore(tasks: Pick<Tasks, 'get'>, { sessionId, taskId, race }: Session): void {
  if (race === null || tasks.get(taskId).race !== race) return;
  throw new SvcError('conflict', `${sessionId} is part of a race for ${taskId}, and cannot be run again`, {
    hint: sentence`{worker.follow_up ${sessionId} "…"} gives it more work, still in the race; {task.compare ${taskId}} shows all its sessions`,
  });
}

/** Throws unless a new session may continue an ended one. */
function checkContinuable(
  { sessions, tasks }: Pick<ContinuationDeps, 'sessions' | 'tasks'>,
  session: Session,
): void {
  const { sessionId } = session;
  if (session.state !== 'ended')
    throw new SvcError('conflict', `${sessionId} is ${session.state} and cannot be resumed`, {
      hint: sentence`{session.log ${sessionId} follow=true}`,
    });
  checkRacesNoMore(tasks, session);
  // Competitors do not continue each other.
  const newest = sessions
    .ofTask(session.taskId)
    .findLast((each) => each.sessionId === sessionId || each.race === null || each.race !== session.race);
  if (newest?.sessionId !== sessionId)
    throw new SvcError('conflict', `${session.taskId} has continued since then, as ${newest?.sessionId}`, {
      hint: sentence`{worker.resume ${newest?.sessionId}}`,
    });
  if (session.failure === null)
    throw new SvcError('conflict', `${sessionId} has finished its work`, {
      hint: sentence`{worker.follow_up ${sessionId}} gives it more work`,
    });
  if (session.branchState === 'discarded') throw discardedError(sessionId);
  if (session.worktree === null && !session.inplace)
    throw new SvcError('conflict', `the worktree of ${sessionId} no longer exists`, {
      hint: sentence`{task.run ${session.taskId}} starts again`,
    });
  if (session.failure.code === 'inputs_changed')
    throw new SvcError('conflict', `${sessionId} resumes once its new decision is approved`, {
      hint: sentence`{task.show ${session.taskId}} names it`,
    });
}

/** The options of the previous run, even if its decision is from before options were stored. */
const repeatOptions = (
  { inplace, keepWorktree, workerId, timeoutSec, tokenBudget }: Session,
  asked: DispatchOptions,
): DispatchOptions => ({
  ...pickRepeatable(asked),
  inplace,
  keepWorktree,
  // An unnamed worker is identified by its number.
  ...(/^w-\d+$/.test(workerId) ? {} : { name: workerId }),
  timeoutSec,
  ...(tokenBudget === null ? {} : { tokenBudget }),
});
