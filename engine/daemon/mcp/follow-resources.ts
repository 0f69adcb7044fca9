import { randomUUID } from 'node:crypto';
import type { WireValue } from '../../core/api/operation.ts';
import { createSerialQueue } from '../../core/base/serial-queue.ts';
import type { LoggedEvent } from '../../storage/index.ts';
import type { EngineLink } from './link.ts';
import { isChangedBy, readerOf } from './resources.ts';

/** The resources that one client follows. */
export interface FollowedResources {
  /**
   * Resolves once no change of it is missed any more.
   * @param resumes true if the client has followed it over an earlier connection
   */
  add(uri: string, resumes: boolean): Promise<void>;
  remove(uri: string): void;
  close(): void;
}

/** The state of an inbox: equal states mean no change. */
interface InboxState {
  unread: number;
  read: number;
}

interface FollowedResource {
  following: ReturnType<EngineLink['onEvent']>;
  /** Of an inbox, at its last check; null while it is unknown. */
  state: InboxState | null;
}

/** Calls `notifyUpdated` with the address of a followed resource after each of its changes. */
export function followResources(link: EngineLink, notifyUpdated: (uri: string) => void): FollowedResources {
  const followed = new Map<string, FollowedResource>();
  const gone = new AbortController();
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

  async function checkResource(uri: string): Promise<void> {
    waiting.delete(uri);
    if (!followed.has(uri)) return;
    const now = await inboxState(uri).catch(() => null);
    const resource = followed.get(uri);
    if (now === null || resource === undefined) return;
    const { state: before } = resource;
    if (now.unread === before?.unread && now.read === before?.read) return;
    resource.state = now;
    notifyUpdated(uri);
  }

  function receiveEvent(uri: string, event: WireValue<LoggedEvent>): void {
    const isChanged = isChangedBy(event, uri);
    if (isChanged === true) notifyUpdated(uri);
    if (isChanged !== 'perhaps' || waiting.has(uri)) return;
    waiting.add(uri);
    void enqueue(() => checkResource(uri));
  }

  function remove(uri: string): void {
    followed.get(uri)?.following.stop();
    followed.delete(uri);
  }

  return {
    async add(uri, resumes) {
      if (followed.has(uri)) return;
      const following = link.onEvent((event) => receiveEvent(uri, event), resumes);
      const resource: FollowedResource = { following, state: null };
      followed.set(uri, resource);
      try {
        await following.begun;
        // Its last known state has been lost with the earlier connection.
        if (resumes) return;
        // After checks in progress: later ones are compared with this one.
        const state = await enqueue(() => inboxState(uri));
        resource.state ??= state;
      } catch (error) {
        remove(uri);
        throw error;
      }
    },
    remove,
    close() {
      gone.abort();
      for (const uri of [...followed.keys()]) remove(uri);
    },
  };
}
