import type { Kysely } from 'kysely';
import type { LinkEvent } from '../../core/link-protocol/messages.ts';
import type { OutboundEvent } from '../../notify/sending/index.ts';
import type { LinkedWorkspace, Tables } from '../database/tables.ts';

/** What the events of a session say about it. */
const STATES = {
  dispatched: 'running',
  sealed: 'ready',
  failed: 'failed',
  worktree_promoted: 'merged',
} as const satisfies Partial<Record<OutboundEvent, string>>;

type RunEvent = keyof typeof STATES;

const isRunEvent = (name: string): name is RunEvent => Object.hasOwn(STATES, name);
const EVENTS_READ = [...Object.keys(STATES), 'pull_request'];

/** A session as its workspace reported it last. */
export interface ListedRun {
  workspace: Pick<LinkedWorkspace, 'id' | 'name'>;
  sessionId: string;
  state: (typeof STATES)[RunEvent];
  title: string | null;
  project: string | null;
  agent: string | null;
  /** Why it failed, in words of svc. */
  reason: string | null;
  pullRequest: LinkEvent['pull_request'] | null;
  /** When it came to this state, Unix ms. */
  at: number;
}

/** Lists the sessions of an account's linked workspaces. */
export interface RunLists {
  /** Lists running sessions and the last finished ones, the newest first, as far as events were kept. */
  list(account: string): Promise<{ running: ListedRun[]; finished: ListedRun[] }>;
}

/** Number of events that are read: a session has two to five. */
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

  return {
    async list(account) {
      const told = (await readNewest(account)).map(({ id, name, body }) => ({
        workspace: { id, name },
        event: JSON.parse(body) as LinkEvent,
      }));
      // Events that arrive together have the same arrival time, so the workspace's own time decides.
      told.sort((one, other) => other.event.at.localeCompare(one.event.at));
      const runs = new Map<string, Omit<ListedRun, 'pullRequest'>>();
      const pulls = new Map<string, LinkEvent['pull_request']>();
      for (const { workspace, event } of told) {
        const { session_id: sessionId, title, project, agent } = event;
        const key = `${workspace.id} ${sessionId}`;
        if (event.pull_request !== undefined && !pulls.has(key)) pulls.set(key, event.pull_request);
        if (sessionId === null || runs.has(key) || !isRunEvent(event.event)) continue;
        const state = STATES[event.event];
        const reason = state === 'failed' ? event.reason : null;
        runs.set(key, {
          workspace,
          sessionId,
          state,
          title,
          project,
          agent,
          reason,
          at: Date.parse(event.at),
        });
      }
      const all = [...runs].map(([key, run]) => ({ ...run, pullRequest: pulls.get(key) ?? null }));
      return {
        running: all.filter(({ state }) => state === 'running'),
        finished: all.filter(({ state }) => state !== 'running').slice(0, MOST_FINISHED),
      };
    },
  };
}
