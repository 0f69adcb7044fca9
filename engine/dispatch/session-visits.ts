import { asSvcError, SvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { sentence } from '../core/base/sentence.ts';
import type { Storage } from '../storage/index.ts';
import type { GatewayRoute } from '../workers/agents/presets/index.ts';
import type { Runner } from '../workers/runner/runs/index.ts';
import {
  findPlacement,
  remoteSessionError,
  type Session,
  type Sessions,
  type SessionVisitor,
  type SessionVisitors,
  writeSitePath,
} from '../workers/sessions/index.ts';
import { describeKeyHolder } from './budget.ts';
import type { Dispatcher, RunKeys } from './index.ts';
import { checkUnvisited, discardedError, isPaused } from './session-checks.ts';

/** The location and conversation for a person who enters a session. */
export interface SessionEntrance {
  sessionId: string;
  taskId: string;
  agent: string;
  /** The worktree's folder, or the project's own; on the machine of the session. */
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

/** Visits of people in the worktrees of sessions. */
export interface SessionVisits {
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

export interface VisitsDeps {
  storage: Storage;
  sessions: Sessions;
  dispatcher: Pick<Dispatcher, 'look'>;
  visitors: SessionVisitors;
  runner: Pick<Runner, 'keep'>;
  keys: Pick<RunKeys, 'findRoute' | 'issueKey' | 'revokeKey'>;
  /** Absolute; the agent's folder of a session. */
  agentFolder(sessionId: string): string;
  /** Throws `consent_missing` while no one has ever agreed to svc.yaml. */
  requireConsent(): void;
  log: Pick<Log, 'error'>;
}

export function createVisits(deps: VisitsDeps): SessionVisits {
  const { storage, sessions, dispatcher, visitors, keys, log } = deps;

  /** Finds a session that a person may enter. Throws `conflict` for any other. */
  function requireEnterable(sessionId: string): Omit<Session, 'cwd'> & { cwd: string; isPaused: boolean } {
    const session = sessions.get(sessionId);
    const mayGoOn = isPaused(session);
    if (session.state !== 'ended' && !mayGoOn)
      throw new SvcError('conflict', `${sessionId} is ${session.state}: its agent is at work`, {
        hint: sentence`{session.log ${sessionId} follow=true} shows its output; you can enter once it has ended or paused`,
      });
    checkUnvisited(visitors, sessionId);
    const next = sessions.findSuccessor(sessionId);
    if (next !== null)
      throw new SvcError('conflict', `${next.sessionId} continues ${sessionId}, in its worktree`, {
        hint: sentence`{session.log ${next.sessionId} follow=true} shows its output`,
      });
    if (session.branchState === 'discarded') throw discardedError(sessionId);
    const cwd = session.worktree === null && !session.inplace ? null : writeSitePath(session.cwd);
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
    const { sessionId, profile, runs } = session;
    await deps.runner.keep({
      sessionId,
      number: runs,
      profile,
      placement: findPlacement(session),
      isAlone: !sessions.listLive().some(({ inplace }) => inplace),
      message: null,
    });
  }

  return {
    async attach(sessionId, pid, { hasOwnLogin = false } = {}) {
      deps.requireConsent();
      const { auth, runner } = requireEnterable(sessionId);
      // The gateway leads only to runs there.
      if (runner !== null && auth === 'gateway' && !hasOwnLogin)
        throw remoteSessionError({ sessionId, runner });
      const route = auth === 'gateway' && !hasOwnLogin ? await requireRoute(sessionId) : null;
      return storage.write(() => {
        const session = requireEnterable(sessionId);
        const { taskId, agent, branch, agentSession, cwd, isPaused } = session;
        visitors.enter(sessionId, pid);
        const gateway =
          route === null ? null : { ...route, key: keys.issueKey(describeKeyHolder(sessions, session)) };
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
