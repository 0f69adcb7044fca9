import type { Kysely } from 'kysely';
import type { LinkEvent, LiveSession } from '../../core/link-protocol/messages.ts';
import type { OutboundEvent } from '../../notify/sending/index.ts';
import type { LinkedWorkspace, Tables } from '../database/tables.ts';

/** The end of a session by its events. */
const ENDS = {
  sealed: 'ready',
  failed: 'failed',
  worktree_promoted: 'merged',
} as const satisfies Partial<Record<OutboundEvent, string>>;

type EndEvent = keyof typeof ENDS;

const isEnd = (name: string): name is EndEvent => Object.hasOwn(ENDS, name);
const EVENTS_READ = [...Object.keys(ENDS), 'pull_request'];

/** A session as its workspace reported it last. */
export interface ListedRun {
  workspace: Pick<LinkedWorkspace, 'id' | 'name'>;
  sessionId: string;
  state: LiveSession['state'] | (typeof ENDS)[EndEvent];
  title: string | null;
  project: string | null;
  agent: string | null;
  /** Why it failed or is paused, in words of svc. */
  reason: string | null;
  pullRequest: LiveSession['pull_request'];
  /** When it was created, or came to its end, Unix ms. */
  at: number;
}

/** Lists the sessions of an account's linked workspaces. */
export interface RunLists {
  /** Lists sessions that have not ended, and the last finished ones as far as events were kept, the newest first. */
  list(account: string): Promise<{ running: ListedRun[]; finished: ListedRun[] }>;
}

/** Number of events that are read for the finished ones: a session has two to five. */
const MOST_EVENTS = 1000;
const MOST_FINISHED = 50;

export function createRunLists(db: Kysely<Tables>): RunLists {
  const readNewest = (account: string) =>
    db
      .selectFrom('workspace_events')
      .innerJoin('workspaces', 'workspaces.id', 'workspace_events.workspace_id')
      .select(['workspaces.id', 'workspaces.name', 'workspace_events.body'])
      .where('workspaces.account_id', '=', account)
      .where('workspaces.revoked_at', 'is', null)
      // A title cannot contain this: its quotes are escaped.
      .where(({ or, eb }) =>
        or(EVENTS_READ.map((name) => eb('workspace_events.body', 'like', `%"event":"${name}"%`))),
      )
      .orderBy('workspace_events.at', 'desc')
      .orderBy('workspace_events.id', 'desc')
      .limit(MOST_EVENTS)
      .execute();

  async function listRunning(account: string): Promise<ListedRun[]> {
    const rows = await db
      .selectFrom('workspace_sessions')
      .innerJoin('workspaces', 'workspaces.id', 'workspace_sessions.workspace_id')
      .select(['workspaces.id', 'workspaces.name', 'workspace_sessions.body'])
      .where('workspace_sessions.account_id', '=', account)
      .where('workspaces.revoked_at', 'is', null)
      .execute();
    return rows
      .flatMap(({ id, name, body }) =>
        (JSON.parse(body) as LiveSession[]).map(({ session_id, since, pull_request, ...rest }) => ({
          ...rest,
          workspace: { id, name },
          sessionId: session_id,
          pullRequest: pull_request,
          at: Date.parse(since),
        })),
      )
      .sort((one, other) => other.at - one.at);
  }

  return {
    async list(account) {
      const [running, newest] = await Promise.all([listRunning(account), readNewest(account)]);
      const told = newest.map(({ id, name, body }) => ({
        workspace: { id, name },
        event: JSON.parse(body) as LinkEvent,
      }));
      // Events that arrive together have the same arrival time, so the workspace's own time decides.
      told.sort((one, other) => other.event.at.localeCompare(one.event.at));
      const live = new Set(running.map(({ workspace, sessionId }) => `${workspace.id} ${sessionId}`));
      const ended = new Map<string, Omit<ListedRun, 'pullRequest'>>();
      const pulls = new Map<string, LiveSession['pull_request']>();
      for (const { workspace, event } of told) {
        const { session_id: sessionId, title, project, agent } = event;
        const key = `${workspace.id} ${sessionId}`;
        if (event.pull_request !== undefined && !pulls.has(key)) pulls.set(key, event.pull_request);
        if (sessionId === null || live.has(key) || ended.has(key) || !isEnd(event.event)) continue;
        const state = ENDS[event.event];
        const reason = state === 'failed' ? event.reason : null;
        const at = Date.parse(event.at);
        ended.set(key, { workspace, sessionId, state, title, project, agent, reason, at });
      }
      const finished = [...ended].slice(0, MOST_FINISHED);
      return {
        running,
        finished: finished.map(([key, run]) => ({ ...run, pullRequest: pulls.get(key) ?? null })),
      };
    },
  };
}
