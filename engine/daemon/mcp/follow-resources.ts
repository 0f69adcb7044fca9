import { randomUUID } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { WireValue } from '../../core/api/operation.ts';
import { createSerialQueue } from '../../core/base/serial-queue.ts';
import type { LoggedEvent } from '../../storage/index.ts';
import type { EngineLink } from './link.ts';
import { isChangedBy, readerOf } from './resources.ts';

/** The resources that one client follows. */
export interface FollowedResources {
  /** Resolves once no change of it is missed any more. */
  add(uri: string): Promise<void>;
  remove(uri: string): void;
  close(): void;
}

/** The state of an inbox: equal states mean no change. */
interface InboxState {
  unread: number;
  read: number;
}

/** Notifies the client of `server` when one of its followed resources has changed. */
export function followResources(server: Server, link: EngineLink): FollowedResources {
  /** Inboxes with their state at the last check. */
  const followed = new Map<string, InboxState | null>();
  const gone = new AbortController();
  let following: ReturnType<EngineLink['onEvent']> | null = null;
  /** Checks inboxes, one after the other; checks that have not started include everything before they do. */
  const enqueue = createSerialQueue();
  const waiting = new Set<string>();

  async function inboxState(uri: string): Promise<InboxState | null> {
    const { operation, input } = readerOf(uri);
    if (operation !== 'msg.inbox') return null;
    const options = { key: randomUUID(), signal: gone.signal, onProgress: () => undefined };
    const { unread, read } = await link.call(operation, { ...input, limit: 1 }, options);
    return { unread, read };
  }

  const notifyUpdated = (uri: string): void =>
    void server.sendResourceUpdated({ uri }).catch(() => undefined);

  async function checkResource(uri: string): Promise<void> {
    waiting.delete(uri);
    if (!followed.has(uri)) return;
    const now = await inboxState(uri).catch(() => null);
    const before = followed.get(uri);
    if (now === null || before === undefined) return;
    if (now.unread === before?.unread && now.read === before?.read) return;
    followed.set(uri, now);
    notifyUpdated(uri);
  }

  function receiveEvent(event: WireValue<LoggedEvent>): void {
    for (const uri of followed.keys()) {
      const isChanged = isChangedBy(event, uri);
      if (isChanged === true) notifyUpdated(uri);
      if (isChanged !== 'perhaps' || waiting.has(uri)) continue;
      waiting.add(uri);
      void enqueue(() => checkResource(uri));
    }
  }

  function stopWhenUnused(): void {
    if (followed.size > 0) return;
    following?.stop();
    following = null;
  }

  return {
    async add(uri) {
      if (!followed.has(uri)) followed.set(uri, null);
      try {
        following ??= link.onEvent(receiveEvent);
        await following.begun;
        // After checks in progress: later ones are compared with this one.
        const state = await enqueue(() => inboxState(uri));
        if (followed.get(uri) === null) followed.set(uri, state);
      } catch (error) {
        followed.delete(uri);
        stopWhenUnused();
        throw error;
      }
    },
    remove(uri) {
      followed.delete(uri);
      stopWhenUnused();
    },
    close() {
      gone.abort();
      followed.clear();
      stopWhenUnused();
    },
  };
}
