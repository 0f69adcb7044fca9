import type { EngineClient } from '../../engine/index.ts';
import type { DataChange } from '../state/data.ts';
import type { DeliveryRow, EventRow, HeldRow, MessageRow, SessionRow } from '../state/model.ts';
import { WINDOWS } from '../state/windows.ts';

/** Small first, so that the first screen does not wait for ten thousand rows. */
const FIRST_PAGE = 200;
const PAGE = 1000;
const IDS_PER_CALL = 500;

/** What the first screen shows. */
export async function firstRows(client: EngineClient): Promise<DataChange> {
  const [status, tasks, decisions, sessions, asks, unread, held] = await Promise.all([
    client.call('engine.status'),
    client.call('task.list', { limit: FIRST_PAGE }),
    client.call('decision.list', { state: 'pending', limit: 10_000 }),
    client.call('session.list', { limit: 100 }),
    client.call('ask.list', { status: 'open', limit: 1000 }),
    client.call('message.counts'),
    heldOf(client),
  ]);
  return { status, tasks, decisions, sessions, asks, unread, held, complete: tasks.length < FIRST_PAGE };
}

/** They change without an event: how they go is asked for. */
export const deliveriesOf = (client: EngineClient): Promise<DeliveryRow[]> =>
  client.call('notify.deliveries', { limit: WINDOWS.deliveries.first });

const heldOf = (client: EngineClient): Promise<HeldRow[]> => client.call('agent.held');

/** What can come a moment later. */
export async function otherRows(client: EngineClient): Promise<DataChange> {
  const [events, deliveries, choices, sessions, asks, messages, unread, peers, locks] = await Promise.all([
    client.call('event.list', { limit: WINDOWS.events.first }),
    deliveriesOf(client),
    client.call('task.choices'),
    client.call('session.list', { limit: WINDOWS.sessions.first }),
    client.call('ask.list', { limit: WINDOWS.closedAsks.first }),
    client.call('message.list', { limit: WINDOWS.messages.first }),
    client.call('message.list', { unread: true, limit: WINDOWS.messages.first }),
    client.call('peer.list'),
    client.call('lock.list'),
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
export const messagesOf = (client: EngineClient, ids: readonly number[]): Promise<MessageRow[]> =>
  pages(ids, (part) => client.call('message.list', { ids: part, limit: IDS_PER_CALL }));

/** Asks and messages that events are about, and who is here and what is held when that has changed. */
async function busRowsOf(client: EngineClient, events: readonly EventRow[]): Promise<DataChange> {
  const numbers = (key: 'ask_id' | 'message_id'): number[] => {
    const all = events.map(({ data }) => data[key]);
    return [...new Set(all.filter((id): id is number => typeof id === 'number'))];
  };
  const tells = (kinds: RegExp): boolean => events.some(({ kind }) => kinds.test(kind));
  const [asks, messages, unread, peers, locks] = await Promise.all([
    pages(numbers('ask_id'), (part) => client.call('ask.list', { ids: part, limit: IDS_PER_CALL })),
    messagesOf(client, numbers('message_id')),
    tells(/^message_/) ? client.call('message.counts') : undefined,
    tells(/^(?:session_(?:joined|left|started)|dispatched|sealed|failed)$/)
      ? client.call('peer.list')
      : undefined,
    tells(/^lock_/) ? client.call('lock.list') : undefined,
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
export async function* olderTasks(client: EngineClient, before: string): AsyncGenerator<DataChange> {
  let oldest = before;
  for (;;) {
    const tasks = await client.call('task.list', { before: oldest, limit: PAGE });
    const complete = tasks.length < PAGE;
    yield { tasks, complete };
    if (complete) return;
    oldest = tasks.at(-1)?.task_id ?? oldest;
  }
}

/** The rows that events are about, and what changes with any of them. */
export async function rowsOf(client: EngineClient, events: readonly EventRow[]): Promise<DataChange> {
  const ids = (key: 'task_id' | 'decision_id' | 'session_id'): Set<string> =>
    new Set(events.flatMap((event) => event[key] ?? []));
  const [decisionIds, sessionIds] = [ids('decision_id'), ids('session_id')];
  const isConfig = events.some(({ kind }) => kind === 'config_reloaded' || kind === 'engine_started');
  // Every end of a run may close or open the way for its agent.
  const isEnd = events.some(({ kind }) => /^(?:sealed|failed|alert|circuit_reset)$/.test(kind));
  const decisionsOf = (wanted: readonly string[]) =>
    pages(wanted, (part) => client.call('decision.list', { ids: part, limit: IDS_PER_CALL }));
  const [status, tasks, decisions, sessions, choices, held, bus] = await Promise.all([
    client.call('engine.status'),
    pages([...ids('task_id')], (part) => client.call('task.list', { ids: part, limit: IDS_PER_CALL })),
    decisionsOf([...decisionIds]),
    sessionsOf(client, [...sessionIds]),
    isConfig ? client.call('task.choices') : undefined,
    isEnd ? heldOf(client) : undefined,
    busRowsOf(client, events),
  ]);
  // A run names its decision and its session in the task before an event does.
  const others = await Promise.all([
    decisionsOf(tasks.flatMap(({ decision_id: id }) => (id === null || decisionIds.has(id) ? [] : [id]))),
    sessionsOf(
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
export const sessionsOf = (client: EngineClient, ids: readonly string[]): Promise<SessionRow[]> =>
  pages(ids, (part) => client.call('session.list', { ids: part, limit: IDS_PER_CALL }));

/** Rows by their ids, as many in a call as the engine takes. */
async function pages<I, R>(ids: readonly I[], read: (part: I[]) => Promise<R[]>): Promise<R[]> {
  const rows: R[] = [];
  for (let at = 0; at < ids.length; at += IDS_PER_CALL) {
    const part = ids.slice(at, at + IDS_PER_CALL);
    rows.push(...(await read(part)));
  }
  return rows;
}
