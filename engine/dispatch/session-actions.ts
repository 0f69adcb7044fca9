import { type DiffComments, titleFollowUp } from '../board/comments/index.ts';
import type { Decisions } from '../board/decisions/index.ts';
import { type DispatchOptions, pickRepeatable, pickRequested } from '../board/index.ts';
import type { NewTask, Tasks } from '../board/tasks/index.ts';
import { checkNotReplaced, type SubmitResult, type Workflow } from '../board/workflow/index.ts';
import type { CallAuthor } from '../core/api/operation.ts';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { sentence } from '../core/base/sentence.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { GatewayRoute } from '../workers/agents/presets/index.ts';
import type { Runner } from '../workers/runner/runs/index.ts';
import {
  type FollowUps,
  findPlacement,
  type Session,
  type Sessions,
  type SessionVisitor,
  type SessionVisitors,
} from '../workers/sessions/index.ts';
import type { Dispatcher, RunKeys } from './index.ts';

/** The location and conversation for a person who enters a session. */
export interface SessionEntrance {
  sessionId: string;
  taskId: string;
  agent: string;
  /** The worktree's folder, or the project's own. */
  cwd: string;
  branch: string | null;
  /** The agent's own session to resume; null if it never reported one. */
  agentSession: string | null;
  /** True if it is paused, and resumes by itself only when the person has left. */
  isPaused: boolean;
  /** The route of its model calls, like its runs', with a key that is valid until the person leaves. */
  gateway: GatewayRoute | null;
  /** The folder of the agent's own files in its runs, in addition to the person's configuration; absolute. */
  agentFolder: string;
}

/** The input of a follow-up. */
export interface FollowUp extends Pick<NewTask, 'source' | 'sourceRef'> {
  prompt: string;
  /** Null for the first line of the prompt. */
  title: string | null;
  /** The comments on its diff that the prompt includes. */
  comments: readonly number[];
}

/** Actions of a person on a worker's session. */
export interface SessionActions {
  /** Inside `storage.write`: stops it; its work stays on its branch. Throws `conflict` if it has ended. */
  kill(sessionId: string, by: CallAuthor): Session;
  /** Inside `storage.write`: makes a running one read its messages now. Throws `conflict` for one that cannot. */
  interrupt(sessionId: string, by: CallAuthor): Session;
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
  /**
   * Lets a person in, as process `pid`, as long as it lives. Throws `conflict` while its agent runs, and
   * `gateway_unreachable` if its runs went through the gateway and `hasOwnLogin` is not set.
   */
  attach(
    sessionId: string,
    pid: number,
    how?: { hasOwnLogin?: boolean | undefined },
  ): Promise<SessionEntrance>;
  leave(sessionId: string): Promise<void>;
  /** Closes visits whose process has ended without leaving. Never rejects. */
  reap(): Promise<void>;
}

export function createSessionActions(deps: {
  storage: Storage;
  events: Pick<EventLog, 'append'>;
  sessions: Sessions;
  tasks: Pick<Tasks, 'create' | 'get'>;
  decisions: Pick<Decisions, 'boundTo'>;
  workflow: Workflow;
  dispatcher: Pick<Dispatcher, 'stop' | 'resume' | 'look'>;
  visitors: SessionVisitors;
  followUps: Pick<FollowUps, 'require'>;
  comments: Pick<DiffComments, 'takeComments'>;
  runner: Pick<Runner, 'keep'>;
  keys: Pick<RunKeys, 'findRoute' | 'issueKey' | 'revokeKey'>;
  /** Absolute; the agent's folder of a session. */
  agentFolder(sessionId: string): string;
  /** Throws `consent_missing` while no one has ever agreed to svc.yaml. */
  requireConsent(): void;
  /** True if `guard.profile` is strict. */
  isStrict(): boolean;
  log: Pick<Log, 'error'>;
}): SessionActions {
  const { storage, sessions, decisions, workflow, dispatcher, visitors, keys, isStrict, log } = deps;

  /** Throws while someone is in it: two agents in one worktree would undo each other's work. */
  function checkEmpty({ sessionId }: Session): void {
    const conflict = visitors.findVisitorConflict(sessionId);
    if (conflict !== null) throw conflict;
  }

  /** Throws if the configuration requires confined runs. */
  function checkMayLeave({ sessionId }: Session): void {
    if (!isStrict()) return;
    throw new SvcError('conflict', `guard.profile is strict, so ${sessionId} must stay in the sandbox`, {
      hint: 'resume it without --outside; another profile applies only to later starts',
    });
  }

  /** Throws while its race is open, whose task belongs to none of its sessions. */
  function checkRacesNoMore({ sessionId, taskId, race }: Session): void {
    if (race === null || deps.tasks.get(taskId).race !== race) return;
    throw new SvcError('conflict', `${sessionId} is part of a race for ${taskId}, and cannot be run again`, {
      hint: sentence`{worker.follow_up ${sessionId} "…"} gives it more work, still in the race; {task.compare ${taskId}} shows all its sessions`,
    });
  }

  /** Finds a session that a person may enter. Throws `conflict` for any other. */
  function requireEnterable(sessionId: string): Session & { cwd: string; isPaused: boolean } {
    const session = sessions.get(sessionId);
    const mayGoOn = isPaused(session);
    if (session.state !== 'ended' && !mayGoOn)
      throw new SvcError('conflict', `${sessionId} is ${session.state}: its agent is at work`, {
        hint: sentence`{session.log ${sessionId} follow=true} shows its output; you can enter once it has ended or paused`,
      });
    checkEmpty(session);
    const next = sessions.findSuccessor(sessionId);
    if (next !== null)
      throw new SvcError('conflict', `${next.sessionId} continues ${sessionId}, in its worktree`, {
        hint: sentence`{session.log ${next.sessionId} follow=true} shows its output`,
      });
    if (session.branchState === 'discarded') throw discardedError(sessionId);
    const cwd = session.worktree === null && !session.inplace ? null : session.cwd;
    if (cwd === null)
      throw new SvcError('conflict', `the worktree of ${sessionId} no longer exists`, {
        hint: sentence`{worktree.status} lists the existing ones`,
      });
    return { ...session, cwd, isPaused: mayGoOn };
  }

  async function requireRoute(sessionId: string): Promise<Pick<GatewayRoute, 'url' | 'models'>> {
    try {
      return await keys.findRoute();
    } catch (thrown) {
      if (!(thrown instanceof SvcError)) throw thrown;
      const hint = sentence`{worker.attach ${sessionId} account=true} opens it with your own login`;
      throw new SvcError(thrown.code, thrown.message, { cause: thrown, hint });
    }
  }

  /** With `visitor` only if that process is still in it. */
  async function leaveSession(sessionId: string, visitor?: SessionVisitor): Promise<void> {
    const isIn = (): boolean => visitor === undefined || visitors.isRecorded(visitor);
    if (!isIn()) return;
    const session = sessions.get(sessionId);
    // It may have been resumed after the person's process ended: then everything belongs to the run.
    if (session.state === 'ended' || isPaused(session)) await settleVisit(session);
    await storage.write(() => {
      if (!isIn()) return;
      visitors.leave(sessionId);
      const now = sessions.get(sessionId);
      if (now.state === 'ended' || isPaused(now)) keys.revokeKey(sessionId);
    });
    dispatcher.look();
  }

  /** The agent of a confined worker was in it, as in a run. */
  async function settleVisit(session: Session): Promise<void> {
    const { sessionId, profile } = session;
    await deps.runner.keep({
      sessionId,
      profile,
      placement: findPlacement(session),
      isAlone: !sessions.listLive().some(({ inplace }) => inplace),
      message: null,
    });
  }

  return {
    kill(sessionId, by) {
      if (sessions.get(sessionId).state === 'ended')
        throw new SvcError('conflict', `${sessionId} has already ended`);
      dispatcher.stop(sessionId, 'cancelled', by);
      return sessions.get(sessionId);
    },

    interrupt(sessionId, { actor, via }) {
      const session = sessions.get(sessionId);
      const { state, taskId, transport } = session;
      if (state === 'ended')
        throw new SvcError('conflict', `${sessionId} has finished and reads no messages`, {
          hint: sentence`{worker.follow_up ${sessionId} "…"} gives it more work`,
        });
      if (state !== 'running')
        throw new SvcError('conflict', `${sessionId} is ${state}: it reads its messages once it runs`);
      if (transport !== 'acp')
        throw new SvcError(
          'conflict',
          `${sessionId} does not use the agent client protocol, so it cannot be interrupted`,
          {
            hint: sentence`{worker.kill ${sessionId}} stops it, and {worker.follow_up ${sessionId} "…"} gives it more work`,
          },
        );
      deps.events.append({ kind: 'session_interrupted', sessionId, taskId, actor, via });
      return session;
    },

    async resume(sessionId, options, by, write) {
      const { going, started } = await write((): { going: Session; started: SubmitResult | null } => {
        const session = sessions.get(sessionId);
        checkEmpty(session);
        if (options.outside) checkMayLeave(session);
        if (options.outside && isPaused(session)) {
          sessions.forgetProfile(sessionId);
          sessions.forgetConversation(sessionId);
          workflow.approveOutside(session);
        }
        if (session.state === 'queued' && dispatcher.resume(sessionId, by))
          return { going: sessions.get(sessionId), started: null };
        if (session.state !== 'ended')
          throw new SvcError('conflict', `${sessionId} is ${session.state} and cannot be resumed`, {
            hint: sentence`{session.log ${sessionId} follow=true}`,
          });
        checkRacesNoMore(session);
        // Competitors do not continue each other.
        const newest = sessions
          .ofTask(session.taskId)
          .findLast(
            (each) => each.sessionId === sessionId || each.race === null || each.race !== session.race,
          );
        if (newest?.sessionId !== sessionId)
          throw new SvcError(
            'conflict',
            `${session.taskId} has continued since then, as ${newest?.sessionId}`,
            {
              hint: sentence`{worker.resume ${newest?.sessionId}}`,
            },
          );
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
      });
      if (started !== null) checkNotReplaced(started);
      return going;
    },

    followUp(sessionId, { prompt, title, source, sourceRef, comments }, options, by) {
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
        source,
        sourceRef,
        // The conversation with text from an untrusted author is still there.
        stranger: former.stranger,
        actor: by.actor,
      });
      const repeated = repeatOptions(session, decisions.boundTo(session.decisionId).options);
      return workflow.run(taskId, { ...repeated, ...pickRequested(options), continues: sessionId }, by);
    },

    async attach(sessionId, pid, { hasOwnLogin = false } = {}) {
      deps.requireConsent();
      const { auth } = requireEnterable(sessionId);
      const route = auth === 'gateway' && !hasOwnLogin ? await requireRoute(sessionId) : null;
      return storage.write(() => {
        const { taskId, agent, branch, agentSession, tokenBudget, cwd, isPaused } =
          requireEnterable(sessionId);
        visitors.enter(sessionId, pid);
        const gateway =
          route === null
            ? null
            : { ...route, key: keys.issueKey({ sessionId, taskId, budgetTokens: tokenBudget }) };
        const agentFolder = deps.agentFolder(sessionId);
        return { sessionId, taskId, agent, cwd, branch, agentSession, isPaused, gateway, agentFolder };
      });
    },

    leave: (sessionId) => leaveSession(sessionId),

    async reap() {
      for (const visitor of visitors.listGone())
        await leaveSession(visitor.sessionId, visitor).catch((error) =>
          log.error(
            { session: visitor.sessionId, error: asSvcError(error).message },
            'the end of a person’s visit was not recorded',
          ),
        );
    },
  };
}

const discardedError = (sessionId: string): SvcError =>
  new SvcError('conflict', `${sessionId} was discarded`, {
    hint: sentence`{worktree.restore ${sessionId} worktree=true} restores its branch and worktree`,
  });

const isPaused = ({ state, resumeAt }: Session): boolean => state === 'queued' && resumeAt !== null;

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
