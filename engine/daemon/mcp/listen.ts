import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  SUBSCRIPTION_ID_META_KEY,
} from '@modelcontextprotocol/server';
import { isJsonObject } from '../../core/base/json-object.ts';
import { followResources } from './follow-resources.ts';
import { followTools } from './follow-tools.ts';
import type { EngineLink } from './link.ts';
import { readResource } from './server.ts';
import { declaresTasks, TASKS_EXTENSION, type WaitingCalls, type WaitState } from './waiting-calls.ts';

/** The changes that a client wants to hear of (MCP 2026-07-28, Subscriptions). */
export interface ListenFilter {
  /** Handles of waiting calls (SEP-2663, Task Status Notifications). */
  taskIds?: string[];
  toolsListChanged?: true;
  resourceSubscriptions?: string[];
}

/** The number of resources that one subscription may name. */
const MOST_RESOURCES = 256;

/** A notification of a subscription, as it is sent. */
export interface ListenNotification {
  jsonrpc: '2.0';
  method: string;
  params: Record<string, unknown>;
}

export interface Listening {
  /** The first message of the subscription: what it includes. */
  acknowledgement: ListenNotification;
  /** Starts the notifications, once the acknowledgement is sent. */
  begin(): void;
  close(): void;
}

/**
 * Opens a subscription for the request `id`, which `resumes` if an earlier connection had it. Leaves out resources that
 * the client may not read. Rejects with the protocol's error if the engine cannot answer.
 */
export async function openListening(
  { id, params, resumes }: { id: string | number; params: unknown; resumes: boolean },
  { link, calls }: { link: EngineLink; calls?: WaitingCalls | undefined },
  { signal, notify }: { signal: AbortSignal; notify(notification: ListenNotification, about: string): void },
): Promise<Listening> {
  const filter = readListenFilter(params);
  const stamp = (method: string, params: object): ListenNotification => ({
    jsonrpc: '2.0',
    method,
    params: { ...params, _meta: { [SUBSCRIPTION_ID_META_KEY]: id } },
  });
  const sendUpdated = (uri: string): void => notify(stamp('notifications/resources/updated', { uri }), uri);
  /** Until the acknowledgement is sent. */
  let held: Set<string> | null = new Set();
  const followed = followResources(link, (uri) => {
    if (held === null) sendUpdated(uri);
    else held.add(uri);
  });
  const honored: ListenFilter = filter.toolsListChanged === true ? { toolsListChanged: true } : {};
  let tools: ReturnType<typeof followTools> | null = null;
  const states: WaitState[] = [];
  const sendState = (state: WaitState): void =>
    notify(stamp('notifications/tasks', state), `task ${state.taskId}`);
  const followedCalls: { stop(): void }[] = [];
  try {
    const uris: string[] = [];
    for (const uri of new Set(filter.resourceSubscriptions?.slice(0, MOST_RESOURCES))) {
      if (!(await isReadable(link, uri, signal))) continue;
      await followed.add(uri, resumes);
      uris.push(uri);
    }
    const taskIds = filter.taskIds?.slice(0, MOST_RESOURCES).filter((taskId) => {
      const following = calls?.follow(taskId, (state) => {
        if (held === null) sendState(state);
        else states.push(state);
      });
      if (following !== undefined) followedCalls.push(following);
      return following?.isKnown === true;
    });
    if (taskIds !== undefined && taskIds.length > 0) honored.taskIds = taskIds;
    if (uris.length > 0) honored.resourceSubscriptions = uris;
  } catch (error) {
    for (const following of followedCalls) following.stop();
    followed.close();
    throw error;
  }
  return {
    acknowledgement: stamp('notifications/subscriptions/acknowledged', { notifications: honored }),
    begin() {
      const early = held ?? [];
      held = null;
      for (const uri of early) sendUpdated(uri);
      for (const state of states) sendState(state);
      if (honored.toolsListChanged === true)
        tools = followTools(link, resumes, () =>
          notify(stamp('notifications/tools/list_changed', {}), 'tools'),
        );
    },
    close() {
      tools?.close();
      for (const following of followedCalls) following.stop();
      followed.close();
    },
  };
}

/** Reads the filter of a listen request that the SDK has checked. Throws if the client must declare an extension first. */
function readListenFilter(params: unknown): ListenFilter {
  const asked = isJsonObject(params) && isJsonObject(params.notifications) ? params.notifications : {};
  const { toolsListChanged, resourceSubscriptions, taskIds } = asked;
  if (Array.isArray(taskIds) && !declaresTasks(isJsonObject(params) ? params._meta : null))
    throw new MissingRequiredClientCapabilityError({
      requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } },
    });
  return {
    ...(Array.isArray(taskIds) ? { taskIds: taskIds.filter((id) => typeof id === 'string') } : {}),
    ...(toolsListChanged === true ? { toolsListChanged } : {}),
    ...(Array.isArray(resourceSubscriptions)
      ? { resourceSubscriptions: resourceSubscriptions.filter((uri) => typeof uri === 'string') }
      : {}),
  };
}

async function isReadable(link: EngineLink, uri: string, signal: AbortSignal): Promise<boolean> {
  try {
    await readResource(link, uri, signal);
    return true;
  } catch (error) {
    const code = error instanceof ProtocolError ? (error.data as { code?: unknown } | undefined)?.code : null;
    if (code === 'not_found' || code === 'holder_mismatch' || code === 'fields_invalid') return false;
    throw error;
  }
}
