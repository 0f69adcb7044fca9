import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { asSvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { makePrivateFolder } from '../core/base/private-files.ts';
import { appendLogCopy, findTailOffset } from '../workers/runner/processes/index.ts';
import { createLogBlockReader } from './log-blocks.ts';
import type { MachineConnection } from './machine-connection.ts';
import { isLinkLost } from './wire/index.ts';

/** How long the end of a run waits for a connected machine that sends nothing more of its log. */
const REST_MS = 30_000;
const LOOK_MS = 1000;
/** The pause before a log whose stream has ended is read again, ms. */
const AGAIN_MS = 500;

/** Copies the logs of sessions on another machine into the folders of the engine's, at the same offsets. */
export interface LogMirror {
  /** Starts to copy the log of a session, and continues over lost connections. */
  follow(sessionId: string): void;
  /** Returns the end of the copy of a session's log, bytes. */
  findEnd(sessionId: string): number;
  /**
   * Waits until the copy has reached an offset, and ends it: over slow and lost connections, and for a limited time if a
   * machine that is connected has no more.
   */
  finish(sessionId: string, end: number): Promise<void>;
  close(): void;
}

interface Copy {
  closing: AbortController;
  /** True if the machine can send more now. */
  isOpen: boolean;
  /** Called after each part, and when the connection was lost. */
  onNews: () => void;
}

export function createLogMirror(
  connection: Pick<MachineConnection, 'openStream'>,
  { agentsDir, log }: { agentsDir: string; log: Log },
): LogMirror {
  const copies = new Map<string, Copy>();
  const fileOf = (sessionId: string): string => join(agentsDir, sessionId, 'log');

  async function copyLog(sessionId: string, copy: Copy): Promise<void> {
    const { signal } = copy.closing;
    const file = fileOf(sessionId);
    makePrivateFolder(agentsDir, join(agentsDir, sessionId));
    while (!signal.aborted) {
      const from = findTailOffset(file, 0);
      const stream = await connection.openStream('log', { sessionId, from }, 'logs', signal);
      copy.isOpen = true;
      stream.end();
      const read = createLogBlockReader((block) => {
        appendLogCopy(file, block);
        copy.onNews();
      });
      const stop = (): void => void stream.destroy();
      signal.addEventListener('abort', stop, { once: true });
      try {
        for await (const chunk of stream) read(chunk as Buffer);
      } catch (error) {
        if (isLinkLost(error)) copy.onNews();
        if (!signal.aborted)
          log.warn({ sessionId, error: asSvcError(error).message }, 'the log is read again');
      } finally {
        copy.isOpen = false;
        signal.removeEventListener('abort', stop);
        stream.destroy();
      }
      // A machine that always sends something impossible would keep the engine busy.
      await delay(AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  return {
    follow(sessionId) {
      if (copies.has(sessionId)) return;
      const copy: Copy = { closing: new AbortController(), isOpen: false, onNews: () => undefined };
      copies.set(sessionId, copy);
      copyLog(sessionId, copy).catch((error: unknown) => {
        if (!copy.closing.signal.aborted)
          log.warn({ sessionId, error: asSvcError(error).message }, 'the log is not copied any more');
        copies.delete(sessionId);
        copy.closing.abort();
      });
    },
    findEnd: (sessionId) => findTailOffset(fileOf(sessionId), 0),
    async finish(sessionId, end) {
      const copy = copies.get(sessionId);
      if (copy === undefined) return;
      const hasAll = (): boolean => findTailOffset(fileOf(sessionId), 0) >= end;
      const { promise, resolve } = Promise.withResolvers<void>();
      let idleMs = 0;
      copy.onNews = () => {
        idleMs = 0;
        if (hasAll()) resolve();
      };
      copy.onNews();
      copy.closing.signal.addEventListener('abort', () => resolve(), { once: true });
      // A machine may have announced more than it has.
      const timer = setInterval(() => {
        if (copy.isOpen) idleMs += LOOK_MS;
        if (idleMs >= REST_MS) resolve();
      }, LOOK_MS);
      await promise;
      clearInterval(timer);
      copies.delete(sessionId);
      copy.closing.abort();
    },
    close() {
      for (const { closing } of copies.values()) closing.abort();
      copies.clear();
    },
  };
}
