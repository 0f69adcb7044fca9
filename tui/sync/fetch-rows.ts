import type { Api, EngineClient } from '../../engine/index.ts';
import type { DataChange } from '../state/data.ts';
import type {
  EventRow,
  HeldRow,
  ListedAsk,
  ListedDelivery,
  ListedMessage,
  ListedUsageDay,
  RunnerRow,
  ShownSession,
  ShownTask,
} from '../state/rows.ts';
import { WINDOWS } from '../state/windows.ts';

/** A small first page, so that the first screen does not wait for ten thousand rows. */
const FIRST_PAGE = 200;
const PAGE = 1000;
const IDS_PER_CALL = 500;

async function fetchTasks(client: EngineClient, wanted: Api['task.list']['input']): Promise<ShownTask[]> {
  const { tasks } = await client.call('task.list', wanted);
  return tasks;
}

async function fetchAsks(client: EngineClient, wanted: Api['ask.list']['input']): Promise<ListedAsk[]> {
  const { asks } = await client.call('ask.list', wanted);
  return asks;
}

/** Fetches what the first screen shows. */
export async function fetchFirstRows(client: EngineClient): Promise<DataChange> {
  const [status, tasks, decisions, sessions, asks, unread, held] = await Promise.all([
    client.call('engine.status'),
    fetchTasks(client, { limit: FIRST_PAGE }),
    client.call('decision.list', { state: 'pending', limit: 10_000 }),
    client.call('session.list', { limit: 100 }),
    fetchAsks(client, { status: 'open', limit: 1000 }),
    client.call('msg.counts'),
    fetchHeldAgents(client),
  ]);
  return { status, tasks, decisions, sessions, asks, unread, held, complete: tasks.length < FIRST_PAGE };
}

/** Deliveries change without an event, so they are polled. */
export const fetchDeliveries = (client: EngineClient): Promise<ListedDelivery[]> =>
  client.call('notify.deliveries', { limit: WINDOWS.deliveries.first });

/** Model calls are not events, so their sums are polled. */
export const fetchUsage = (client: EngineClient): Promise<ListedUsageDay> => client.call('gateway.today', {});

const fetchHeldAgents = (client: EngineClient): Promise<HeldRow[]> => client.call('agent.held');

/** Fetches what can arrive a moment after the first screen. */
export async function fetchLaterRows(client: EngineClient): Promise<DataChange> {
  const [events, deliveries, choices, sessions, asks, messages, unread, peers, locks, usage] =
    await Promise.all([
      client.call('event.list', { limit: WINDOWS.events.first }),
      fetchDeliveries(client),
      client.call('task.choices'),
      client.call('session.list', { limit: WINDOWS.sessions.first }),
      fetchAsks(client, { status: 'all', limit: WINDOWS.closedAsks.first }),
      client.call('msg.list', { limit: WINDOWS.messages.first }),
      client.call('msg.list', { unread: true, limit: WINDOWS.messages.first }),
      fetchPeers(client),
      fetchLocks(client),
      fetchUsage(client),
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
    usage,
  };
}

const fetchPeers = async (client: EngineClient) => (await client.call('msg.peers', {})).peers;
const fetchLocks = async (client: EngineClient) => (await client.call('lock.status', {})).locks;

/** Fetches the other machines. The engine tries to reach the silent ones again. */
export const fetchRunners = (client: EngineClient): Promise<RunnerRow[]> => client.call('runner.list', {});

/** Events that change the list of machines. A workspace without other machines hardly has any. */
const RUNNER_EVENTS = /^(?:runner_(?:added|joined|drained|revoked|removed)|run_lost|project_(?:un)?shared)$/;

/** Fetches messages by id. No event reports the result of a notice, so pending ones are polled. */
export const fetchMessages = (client: EngineClient, ids: readonly number[]): Promise<ListedMessage[]> =>
  fetchRowsByIds(ids, (part) => client.call('msg.list', { ids: part, limit: IDS_PER_CALL }));

/** Fetches asks and messages that events refer to, and peers and locks if events changed them. */
async function fetchBusRows(client: EngineClient, events: readonly EventRow[]): Promise<DataChange> {
  const collectNumbers = (key: 'ask_id' | 'message_id'): number[] => {
    const all = events.map(({ data }) => data[key]);
    return [...new Set(all.filter((id): id is number => typeof id === 'number'))];
  };
  const hasEventOfKind = (kinds: RegExp): boolean => events.some(({ kind }) => kinds.test(kind));
  const [asks, messages, unread, peers, locks] = await Promise.all([
    fetchRowsByIds(collectNumbers('ask_id'), (part) => fetchAsks(client, { ids: part, limit: IDS_PER_CALL })),
    fetchMessages(client, collectNumbers('message_id')),
    hasEventOfKind(/^message_/) ? client.call('msg.counts') : undefined,
    hasEventOfKind(/^(?:session_(?:joined|left|started)|dispatched|sealed|failed)$/)
      ? fetchPeers(client)
      : undefined,
    hasEventOfKind(/^lock_/) ? fetchLocks(client) : undefined,
  ]);
  return {
    asks,
    messages,
    ...(unread === undefined ? {} : { unread }),
    ...(peers === undefined ? {} : { peers }),
    ...(locks === undefined ? {} : { locks }),
  };
}

/** Fetches older tasks page by page, newest first. */
export async function* fetchOlderTasks(client: EngineClient, before: string): AsyncGenerator<DataChange> {
  let oldest = before;
  for (;;) {
    const tasks = await fetchTasks(client, { cursor: oldest, limit: PAGE });
    const complete = tasks.length < PAGE;
    yield { tasks, complete };
    if (complete) return;
    oldest = tasks.at(-1)?.task_id ?? oldest;
  }
}

/** Fetches the rows that events refer to, and everything that any event may change. */
export async function fetchChangedRows(
  client: EngineClient,
  events: readonly EventRow[],
  listFollowing: (taskIds: ReadonlySet<string>) => readonly string[] = () => [],
): Promise<DataChange> {
  const collectIds = (key: 'task_id' | 'decision_id' | 'session_id'): Set<string> =>
    new Set(events.flatMap((event) => event[key] ?? []));
  const taskIds = collectIds('task_id');
  const [decisionIds, sessionIds] = [collectIds('decision_id'), collectIds('session_id')];
  const isConfig = events.some(({ kind }) => kind === 'config_reloaded' || kind === 'engine_started');
  const isFleet = events.some(({ kind }) => RUNNER_EVENTS.test(kind));
  // The end of a run may open or close the circuit of its agent.
  const isEnd = events.some(({ kind }) => /^(?:sealed|failed|alert|circuit_reset)$/.test(kind));
  const fetchDecisions = (wanted: readonly string[]) =>
    fetchRowsByIds(wanted, (part) => client.call('decision.list', { ids: part, limit: IDS_PER_CALL }));
  const [status, tasks, decisions, sessions, choices, held, runners, bus] = await Promise.all([
    client.call('engine.status'),
    fetchRowsByIds([...taskIds, ...listFollowing(taskIds)], (part) =>
      fetchTasks(client, { ids: part, limit: IDS_PER_CALL }),
    ),
    fetchDecisions([...decisionIds]),
    fetchSessions(client, [...sessionIds]),
    isConfig ? client.call('task.choices') : undefined,
    isEnd ? fetchHeldAgents(client) : undefined,
    isFleet ? fetchRunners(client) : undefined,
    fetchBusRows(client, events),
  ]);
  // A task may already name a decision and a session that no event has named yet.
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
    ...(runners === undefined ? {} : { runners }),
  };
}

/** Fetches sessions by id. */
export const fetchSessions = (client: EngineClient, ids: readonly string[]): Promise<ShownSession[]> =>
  fetchRowsByIds(ids, (part) => client.call('session.list', { ids: part, limit: IDS_PER_CALL }));

/** Fetches rows by id, in as few calls as the engine allows. */
async function fetchRowsByIds<I, R>(ids: readonly I[], read: (part: I[]) => Promise<R[]>): Promise<R[]> {
  const rows: R[] = [];
  for (let at = 0; at < ids.length; at += IDS_PER_CALL) {
    const part = ids.slice(at, at + IDS_PER_CALL);
    rows.push(...(await read(part)));
  }
  return rows;
}
