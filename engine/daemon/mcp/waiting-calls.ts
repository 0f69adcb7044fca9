import { type CallToolResult, CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import type { Caller } from '../../core/api/operation.ts';
import { nameCaller } from '../../core/api/repeat.ts';
import { isJsonObject } from '../../core/base/json-object.ts';
import { RESULT_KEPT_MS, type WaitHandle } from '../../storage/index.ts';
import type { Engine } from '../compose/compose.ts';
import { callTool, isInterrupted, type ToolCall } from './call-tool.ts';
import type { EngineLink } from './link.ts';

/** The extension through which a client gets a handle for a call that waits (SEP-2663). */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Reports whether a request's `_meta` declares the extension. */
export function declaresTasks(meta: unknown): boolean {
  const capabilities = isJsonObject(meta) ? meta[CLIENT_CAPABILITIES_META_KEY] : undefined;
  const extensions = isJsonObject(capabilities) ? capabilities.extensions : undefined;
  return isJsonObject(extensions) && TASKS_EXTENSION in extensions;
}

/** How often a client should ask, ms; a notification comes earlier. */
const POLL_EVERY_MS = 2000;
/** Calls of one caller that may wait with a handle at once; further ones wait in their response stream. */
const MOST_WAITING = 256;

/** The state of a waiting call, as the extension calls it: a task (SEP-2663, DetailedTask). */
export interface WaitState {
  taskId: string;
  status: WaitHandle['state'];
  statusMessage: string;
  createdAt: string;
  lastUpdatedAt: string;
  ttlMs: number | null;
  pollIntervalMs: number;
  result?: unknown;
}

/** The waiting calls of one caller. No other caller learns that they exist. */
export interface WaitingCalls {
  /** Gives a call that has begun to wait a handle; null if the caller has too many. */
  detach(call: ToolCall & { key: string; message: string }, running: RunningCall): Promise<WaitState | null>;
  /** Returns null for an unknown handle. Continues a call that an earlier engine has left. */
  get(id: string): Promise<WaitState | null>;
  /** Ends the wait, and withdraws the question of an ask. Returns false for an unknown handle. */
  cancel(id: string): Promise<boolean>;
  /** Calls `listener` with the final state, once, if the handle is known and still waits. */
  follow(id: string, listener: (state: WaitState) => void): { isKnown: boolean; stop(): void };
}

export interface RunningCall {
  result: Promise<CallToolResult>;
  stop: AbortController;
}

/** Creates the waiting calls of all callers of an engine. */
export function createWaitingCalls({ handles, withdrawAsk }: Pick<Engine, 'handles' | 'withdrawAsk'>) {
  const running = new Map<string, RunningCall>();
  const listeners = new Map<string, Set<(state: WaitState) => void>>();

  async function endCall(handle: WaitHandle, end: Parameters<typeof handles.end>[1]): Promise<void> {
    running.delete(handle.id);
    const ended = toState(await handles.end(handle, end));
    const waiting = listeners.get(handle.id) ?? [];
    listeners.delete(handle.id);
    for (const listener of waiting) listener(ended);
  }

  function keepRunning(handle: WaitHandle, call: RunningCall): void {
    running.set(handle.id, call);
    call.result
      .then(async (result) => {
        if (isInterrupted(result)) return;
        const message = result.isError === true ? 'refused' : 'answered';
        await endCall(handle, { state: 'completed', message, result });
      })
      .catch(async ({ code = -32603, message }: Error & { code?: number }) => {
        await endCall(handle, { state: 'failed', message, result: { code, message } });
      })
      // A full disk: the call stays, and the next request continues it.
      .catch(() => running.delete(handle.id));
  }

  function continueCall(handle: WaitHandle, link: EngineLink): void {
    if (handle.state !== 'working' || running.has(handle.id)) return;
    const stop = new AbortController();
    const { tool: name, input, key } = handle;
    const options = { key, signal: stop.signal, onProgress: () => undefined };
    keepRunning(handle, { result: callTool(link, { name, input }, options), stop });
  }

  /** Binds them to one caller. */
  function bindTo(caller: Caller, link: EngineLink): WaitingCalls {
    const owner = nameCaller(caller);
    return {
      async detach({ name: tool, input, key, message }, call) {
        if (handles.countWorking(owner) >= MOST_WAITING) return null;
        const handle = await handles.create({ owner, tool, input, key, message });
        if (handle.state === 'working' && !running.has(handle.id)) keepRunning(handle, call);
        return toState(handle);
      },
      async get(id) {
        const handle = handles.find(id, owner);
        if (handle === null) return null;
        continueCall(handle, link);
        return toState(handle);
      },
      async cancel(id) {
        const handle = handles.find(id, owner);
        if (handle === null) return false;
        if (handle.state !== 'working') return true;
        const call = running.get(id);
        await endCall(handle, { state: 'cancelled', message: 'cancelled by its client', result: null });
        call?.stop.abort();
        if (handle.tool === 'ask') await withdrawAsk(caller, handle.key);
        return true;
      },
      follow(id, listener) {
        const handle = handles.find(id, owner);
        if (handle === null) return { isKnown: false, stop: () => undefined };
        if (handle.state !== 'working') {
          listener(toState(handle));
          return { isKnown: true, stop: () => undefined };
        }
        continueCall(handle, link);
        const waiting = listeners.get(id) ?? new Set();
        listeners.set(id, waiting);
        waiting.add(listener);
        return { isKnown: true, stop: () => void waiting.delete(listener) };
      },
    };
  }
  return { bindTo };
}

function toState({ id, state, message, result, createdAt, updatedAt }: WaitHandle): WaitState {
  return {
    taskId: id,
    status: state,
    statusMessage: message,
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs: state === 'working' ? null : updatedAt - createdAt + RESULT_KEPT_MS,
    pollIntervalMs: POLL_EVERY_MS,
    ...(state === 'completed' ? { result } : {}),
    ...(state === 'failed' ? { error: result } : {}),
  };
}
