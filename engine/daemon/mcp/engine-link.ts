import type { Caller } from '../../core/api/operation.ts';
import type { Engine } from '../compose/compose.ts';
import type { EventFeed } from './event-feed.ts';
import type { EngineLink, LinkCallOptions } from './link.ts';

/** A place in the event log, as text that only engines read. */
export type EventPoint = string;

export interface ResumePoint {
  /** The place up to which the last connection of this client was notified; null for a new client. */
  from: EventPoint | null;
  /** Receives each further place, and null once nothing is followed any more. */
  onPoint(point: EventPoint | null): void;
}

const NO_RESUMPTION: ResumePoint = { from: null, onPoint: () => undefined };

/** Creates the link of a client to the engine of this process. */
export function linkToEngine(
  { engine, feed }: { engine: Engine; feed: EventFeed },
  caller: Caller,
  { from, onPoint }: ResumePoint = NO_RESUMPTION,
): EngineLink {
  const { events, operations } = engine;
  const toOptions = ({ key, signal, onProgress }: LinkCallOptions) => ({ key, signal, progress: onProgress });
  const missedFrom = readPoint(from, events.logId);
  let followers = 0;
  let told = -1;
  function tellPoint(seq: number): void {
    if (seq <= told) return;
    told = seq;
    onPoint(`${seq}@${events.logId}`);
  }

  return {
    call: <T>(operation: string, input: object, options: LinkCallOptions) =>
      operations.call(operation, input, caller, toOptions(options)) as Promise<T>,
    callTool: (name, input, options) => engine.callTool(name, input, caller, toOptions(options)),
    onEvent(listener, resumes) {
      const last = events.lastSeq();
      const first = resumes && missedFrom !== null ? Math.min(missedFrom, last) : last;
      let stop = (): void => undefined;
      let isStopped = false;
      followers += 1;
      // Later, because the caller first stores what this returns.
      const begun = Promise.resolve().then(() => {
        if (isStopped) return;
        stop = feed.follow(first, listener, tellPoint);
      });
      return {
        begun,
        stop() {
          if (isStopped) return;
          isStopped = true;
          stop();
          followers -= 1;
          if (followers > 0) return;
          told = -1;
          onPoint(null);
        },
      };
    },
    sessionId: async () => caller.sessionId,
  };
}

/** Returns the number of an event; null for a place in another log. */
function readPoint(point: EventPoint | null, logId: string): number | null {
  const [, seq, log] = /^(\d{1,15})@(.*)$/.exec(point ?? '') ?? [];
  return seq === undefined || log !== logId ? null : Number(seq);
}
