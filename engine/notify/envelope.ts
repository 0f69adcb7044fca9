import type { Task } from '../board/tasks/index.ts';
import type { LoggedEvent } from '../storage/index.ts';
import type { OutboundEvent } from './events.ts';

/** What a target receives; an absent field is null. Nothing else leaves: no prompt, file content or diff. */
export interface Envelope {
  id: string;
  event: OutboundEvent;
  at: string;
  workspace: string;
  project: string | null;
  task_id: string | null;
  decision_id: string | null;
  session_id: string | null;
  agent: string | null;
  /** The task's, at the time of the event. */
  status: string | null;
  title: string | null;
  reason: string | null;
}

const readText = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

/** `task` is the event's, as it is inside the transaction of the event. */
export function buildEnvelope(
  event: LoggedEvent,
  task: Pick<Task, 'project' | 'agent' | 'status' | 'title' | 'sessionId'> | null,
  { id, workspace }: { id: string; workspace: string },
): Envelope {
  const { data } = event;
  return {
    id,
    event: event.kind as OutboundEvent,
    at: event.at,
    workspace,
    project: readText(data.project) ?? task?.project ?? null,
    task_id: event.taskId,
    decision_id: event.decisionId,
    session_id: event.sessionId ?? task?.sessionId ?? null,
    agent: readText(data.agent) ?? task?.agent ?? null,
    status: task?.status ?? null,
    title: readText(data.title) ?? task?.title ?? null,
    reason: findReason(data),
  };
}

/** A decision says `why` it is asked for, everything else has a reason. An ask has no field of its own to be named in. */
function findReason(data: Record<string, unknown>): string | null {
  const reason = readText(data.reason) ?? readText(data.why);
  if (typeof data.ask_id !== 'number') return reason;
  return reason === null ? `ask ${data.ask_id}` : `ask ${data.ask_id}: ${reason}`;
}
