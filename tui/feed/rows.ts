import type { EngineClient } from '../../engine/index.ts';
import type { DataChange } from '../state/data.ts';
import type {
  Choices,
  DecisionRow,
  DeliveryRow,
  EventRow,
  SessionRow,
  Status,
  TaskRow,
} from '../state/model.ts';

/** Small first, so that the first screen does not wait for ten thousand rows. */
const FIRST_PAGE = 200;
const PAGE = 1000;
const SESSIONS = 1000;
const IDS_PER_CALL = 500;

/** What the first screen shows. */
export async function firstRows(client: EngineClient): Promise<DataChange> {
  const [status, tasks, decisions, sessions] = await Promise.all([
    client.call<Status>('engine.status'),
    client.call<TaskRow[]>('task.list', { limit: FIRST_PAGE }),
    client.call<DecisionRow[]>('decision.list', { state: 'pending', limit: 10_000 }),
    client.call<SessionRow[]>('session.list', { limit: 100 }),
  ]);
  return { status, tasks, decisions, sessions, complete: tasks.length < FIRST_PAGE };
}

/** What can come a moment later. */
export async function otherRows(client: EngineClient): Promise<DataChange> {
  const [events, deliveries, choices, sessions] = await Promise.all([
    client.call<EventRow[]>('event.list', { limit: 200 }),
    client.call<DeliveryRow[]>('notify.deliveries', { limit: 500 }),
    client.call<Choices>('task.choices'),
    client.call<SessionRow[]>('session.list', { limit: SESSIONS }),
  ]);
  return { events, deliveries, choices, sessions };
}

/** The older tasks in pages, newest first. */
export async function* olderTasks(client: EngineClient, before: string): AsyncGenerator<DataChange> {
  let oldest = before;
  for (;;) {
    const tasks = await client.call<TaskRow[]>('task.list', { before: oldest, limit: PAGE });
    const complete = tasks.length < PAGE;
    yield { tasks, complete };
    if (complete) return;
    oldest = tasks.at(-1)?.task_id ?? oldest;
  }
}

/** The rows that events are about, and what changes with any of them. */
export async function rowsOf(client: EngineClient, events: readonly EventRow[]): Promise<DataChange> {
  const ids = (key: 'task_id' | 'decision_id' | 'session_id'): string[] => [
    ...new Set(events.flatMap((event) => event[key] ?? [])),
  ];
  const tasks = await pages<TaskRow>(client, 'task.list', ids('task_id'));
  // A run names its decision and its session in the task before an event does.
  const sessionIds = [...new Set([...ids('session_id'), ...tasks.flatMap((task) => task.session_id ?? [])])];
  const decisionIds = [
    ...new Set([...ids('decision_id'), ...tasks.flatMap((task) => task.decision_id ?? [])]),
  ];
  const isConfig = events.some(
    (event) => event.kind === 'config_reloaded' || event.kind === 'engine_started',
  );
  const [decisions, sessions, status, deliveries, choices] = await Promise.all([
    pages<DecisionRow>(client, 'decision.list', decisionIds),
    pages<SessionRow>(client, 'session.list', sessionIds),
    client.call<Status>('engine.status'),
    client.call<DeliveryRow[]>('notify.deliveries', { limit: 500 }),
    isConfig ? client.call<Choices>('task.choices') : undefined,
  ]);
  return {
    events,
    tasks,
    decisions,
    sessions,
    status,
    deliveries,
    ...(choices === undefined ? {} : { choices }),
  };
}

async function pages<R>(client: EngineClient, operation: string, ids: readonly string[]): Promise<R[]> {
  const rows: R[] = [];
  for (let at = 0; at < ids.length; at += IDS_PER_CALL) {
    const part = ids.slice(at, at + IDS_PER_CALL);
    rows.push(...(await client.call<R[]>(operation, { ids: part, limit: IDS_PER_CALL })));
  }
  return rows;
}
