import type { EngineClient } from '../../engine/index.ts';
import type { DataChange } from '../state/data.ts';
import type {
  AskRow,
  Choices,
  DecisionRow,
  DeliveryRow,
  EventRow,
  HeldRow,
  LockRow,
  MessageRow,
  PeerRow,
  SessionRow,
  Status,
  TaskRow,
  Unread,
} from '../state/model.ts';
import { WINDOWS } from '../state/windows.ts';

/** Small first, so that the first screen does not wait for ten thousand rows. */
const FIRST_PAGE = 200;
const PAGE = 1000;
const IDS_PER_CALL = 500;

/** What the first screen shows. */
export async function fetchFirstRows(client: EngineClient): Promise<DataChange> {
  const [status, tasks, decisions, sessions, asks, unread, held] = await Promise.all([
    client.call<Status>('engine.status'),
    client.call<TaskRow[]>('task.list', { limit: FIRST_PAGE }),
    client.call<DecisionRow[]>('decision.list', { state: 'pending', limit: 10_000 }),
    client.call<SessionRow[]>('session.list', { limit: 100 }),
    client.call<AskRow[]>('ask.list', { status: 'open', limit: 1000 }),
    client.call<Unread>('message.counts'),
    fetchHeldAgents(client),
  ]);
  return { status, tasks, decisions, sessions, asks, unread, held, complete: tasks.length < FIRST_PAGE };
}

/** They change without an event: how they go is asked for. */
export const fetchDeliveries = (client: EngineClient): Promise<DeliveryRow[]> =>
  client.call<DeliveryRow[]>('notify.deliveries', { limit: WINDOWS.deliveries.first });

const fetchHeldAgents = (client: EngineClient): Promise<HeldRow[]> => client.call<HeldRow[]>('agent.held');

/** What can come a moment later. */
export async function fetchLaterRows(client: EngineClient): Promise<DataChange> {
  const [events, deliveries, choices, sessions, asks, messages, unread, peers, locks] = await Promise.all([
    client.call<EventRow[]>('event.list', { limit: WINDOWS.events.first }),
    fetchDeliveries(client),
    client.call<Choices>('task.choices'),
    client.call<SessionRow[]>('session.list', { limit: WINDOWS.sessions.first }),
    client.call<AskRow[]>('ask.list', { limit: WINDOWS.closedAsks.first }),
    client.call<MessageRow[]>('message.list', { limit: WINDOWS.messages.first }),
    client.call<MessageRow[]>('message.list', { unread: true, limit: WINDOWS.messages.first }),
    client.call<PeerRow[]>('peer.list'),
    client.call<LockRow[]>('lock.list'),
  ]);
  return {
    events,
    deliveries,
    choices,
    sessions,
    asks,
    messages: [...messages, ...unread],
    peers,
    locks,
  };
}

/** As they are now; how the notice of a message goes is told by no event. */
export const fetchMessages = (client: EngineClient, ids: readonly number[]): Promise<MessageRow[]> =>
  fetchRowsByIds<MessageRow>(client, 'message.list', ids);

/** Asks and messages that events are about, and who is here and what is held when that has changed. */
async function fetchBusRows(client: EngineClient, events: readonly EventRow[]): Promise<DataChange> {
  const collectNumbers = (key: 'ask_id' | 'message_id'): number[] => {
    const all = events.map(({ data }) => data[key]);
    return [...new Set(all.filter((id): id is number => typeof id === 'number'))];
  };
  const hasEventOfKind = (kinds: RegExp): boolean => events.some(({ kind }) => kinds.test(kind));
  const [asks, messages, unread, peers, locks] = await Promise.all([
    fetchRowsByIds<AskRow>(client, 'ask.list', collectNumbers('ask_id')),
    fetchMessages(client, collectNumbers('message_id')),
    hasEventOfKind(/^message_/) ? client.call<Unread>('message.counts') : undefined,
    hasEventOfKind(/^(?:session_(?:joined|left|started)|dispatched|sealed|failed)$/)
      ? client.call<PeerRow[]>('peer.list')
      : undefined,
    hasEventOfKind(/^lock_/) ? client.call<LockRow[]>('lock.list') : undefined,
  ]);
  return {
    asks,
    messages,
    ...(unread === undefined ? {} : { unread }),
    ...(peers === undefined ? {} : { peers }),
    ...(locks === undefined ? {} : { locks }),
  };
}

/** The older tasks in pages, newest first. */
export async function* fetchOlderTasks(client: EngineClient, before: string): AsyncGenerator<DataChange> {
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
export async function fetchChangedRows(
  client: EngineClient,
  events: readonly EventRow[],
): Promise<DataChange> {
  const collectIds = (key: 'task_id' | 'decision_id' | 'session_id'): Set<string> =>
    new Set(events.flatMap((event) => event[key] ?? []));
  const [decisionIds, sessionIds] = [collectIds('decision_id'), collectIds('session_id')];
  const isConfig = events.some(({ kind }) => kind === 'config_reloaded' || kind === 'engine_started');
  // Every end of a run may close or open the way for its agent.
  const isEnd = events.some(({ kind }) => /^(?:sealed|failed|alert|circuit_reset)$/.test(kind));
  const fetchDecisions = (wanted: readonly string[]) =>
    fetchRowsByIds<DecisionRow>(client, 'decision.list', wanted);
  const [status, tasks, decisions, sessions, choices, held, bus] = await Promise.all([
    client.call<Status>('engine.status'),
    fetchRowsByIds<TaskRow>(client, 'task.list', [...collectIds('task_id')]),
    fetchDecisions([...decisionIds]),
    fetchSessions(client, [...sessionIds]),
    isConfig ? client.call<Choices>('task.choices') : undefined,
    isEnd ? fetchHeldAgents(client) : undefined,
    fetchBusRows(client, events),
  ]);
  // A run names its decision and its session in the task before an event does.
  const others = await Promise.all([
    fetchDecisions(tasks.flatMap(({ decision_id: id }) => (id === null || decisionIds.has(id) ? [] : [id]))),
    fetchSessions(
      client,
      tasks.flatMap(({ session_id: id }) => (id === null || sessionIds.has(id) ? [] : [id])),
    ),
  ]);
  return {
    ...bus,
    events,
    status,
    tasks,
    decisions: [...decisions, ...others[0]],
    sessions: [...sessions, ...others[1]],
    ...(choices === undefined ? {} : { choices }),
    ...(held === undefined ? {} : { held }),
  };
}

/** Sessions by their ids, as they are now. */
export const fetchSessions = (client: EngineClient, ids: readonly string[]): Promise<SessionRow[]> =>
  fetchRowsByIds<SessionRow>(client, 'session.list', ids);

async function fetchRowsByIds<R>(
  client: EngineClient,
  operation: string,
  collectIds: readonly (string | number)[],
): Promise<R[]> {
  const rows: R[] = [];
  for (let at = 0; at < collectIds.length; at += IDS_PER_CALL) {
    const part = collectIds.slice(at, at + IDS_PER_CALL);
    rows.push(...(await client.call<R[]>(operation, { ids: part, limit: IDS_PER_CALL })));
  }
  return rows;
}
