import type { Task } from '../board/tasks/index.ts';
import type { LoggedEvent } from '../storage/index.ts';
import type { Envelope, OutboundEvent } from './events.ts';

const readText = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null;

/** Builds the body for an event. `task` is the event's task as read inside the event's transaction. */
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

/** Picks the reason: `why` for a decision, `reason` for everything else; an ask has no separate field in the envelope. */
function findReason(data: Record<string, unknown>): string | null {
  const reason = readText(data.reason) ?? readText(data.why);
  if (typeof data.ask_id !== 'number') return reason;
  return reason === null ? `ask ${data.ask_id}` : `ask ${data.ask_id}: ${reason}`;
}
