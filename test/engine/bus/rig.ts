import type { Caller } from '../../../engine/core/api/operation.ts';
import type { NewSeat } from '../../../engine/workers/sessions/seats/index.ts';
import type { EngineHere } from '../../support/workspaces/engine.ts';

interface Recipient {
  to_session?: string | undefined;
  to_worker?: string | undefined;
  to_agent?: string | undefined;
}

export interface Sent {
  messages: ({ id: number } & Recipient)[];
  known: boolean;
  delivery: string;
}

export interface Shown extends Recipient {
  id: number;
  kind: string;
  from_session: string | null;
  from_agent: string | null;
  name?: string;
  body: string;
  parent_id: number | null;
  payload_path: string | null;
  acked_at: string | null;
}

export interface Inbox {
  session: string | null;
  messages: Shown[];
  unread: number;
  read: number;
}

export const worker = (sessionId: string, env: Caller['env'] = {}): Partial<Caller> => ({
  seat: 'worker',
  via: 'tool',
  sessionId,
  env,
});

/** Registers a Chair or a plain session; returns it as a caller. */
export async function join(here: EngineHere, seat: Partial<Omit<NewSeat, 'process'>> = {}) {
  const opened = await here.engine.attend({
    kind: seat.name === undefined ? 'chair' : 'plain',
    name: null,
    project: null,
    agent: null,
    title: null,
    notifyBase: null,
    pid: null,
    ...seat,
  });
  const caller: Partial<Caller> = {
    seat: opened.kind,
    via: 'tool',
    sessionId: opened.sessionId,
    project: opened.project,
  };
  return { id: opened.sessionId, caller };
}

/** Gives a task to an agent; without a free worker its session stays queued, and is live. */
export async function dispatched(here: EngineHere, wish: { name?: string; project?: string } = {}) {
  const { name, ...task } = wish;
  const { task_id } = await here.call('task.add', {
    title: 'work',
    agent: 'scripted',
    ...task,
  });
  const run = await here.call('task.run', {
    id: task_id,
    ...(name === undefined ? {} : { name }),
  });
  return run.session.session_id;
}
