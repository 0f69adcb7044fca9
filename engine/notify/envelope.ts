import type { Task } from '../board/tasks/index.ts';
import type { LoggedEvent } from '../storage/index.ts';
import type { EventEnvelope, OutboundEvent } from './events.ts';

const readStringField = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

/** Builds the body for an event. `task` is the event's task as read inside the event's transaction. */
export function buildEnvelope(
  event: LoggedEvent,
  task: Pick<Task, 'project' | 'agent' | 'status' | 'title' | 'sessionId'> | null,
  { id, workspace }: { id: string; workspace: string },
): EventEnvelope {
  const { data } = event;
  return {
    id,
    event: event.kind as OutboundEvent,
    at: event.at,
    workspace,
    project: readStringField(data.project) ?? task?.project ?? null,
    task_id: event.taskId,
    decision_id: event.decisionId,
    session_id: event.sessionId ?? task?.sessionId ?? null,
    agent: readStringField(data.agent) ?? task?.agent ?? null,
    status: task?.status ?? null,
    title: readStringField(data.title) ?? task?.title ?? null,
    reason: findReason(data),
  };
}

/** Picks the reason: `why` for a decision, `reason` for everything else; an ask has no separate field in the envelope. */
function findReason(data: Record<string, unknown>): string | null {
  const reason = readStringField(data.reason) ?? readStringField(data.why);
  if (typeof data.ask_id !== 'number') return reason;
  return reason === null ? `ask ${data.ask_id}` : `ask ${data.ask_id}: ${reason}`;
}
