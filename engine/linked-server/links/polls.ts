import type { Clock } from '../../core/base/clock.ts';

/** While two engines alternate, and so long after, no command is given out. */
const CONTESTED_MS = 60_000;
const MOST_POLLS = 1000;
/** Between two polls a workspace counts as connected for so long. */
const PAUSE_MS = 10_000;

/** What ends a pause: there may be news, or the time is up; all others end the poll for good. `gone`: nobody waits for it. */
export type PollEnd = 'news' | 'time' | 'gone' | 'displaced' | 'revoked' | 'closing';

interface Line {
  /** The engine that polled last. */
  instance: string;
  /** By the monotonic clock, as the next. */
  contestedUntil: number;
  /** When its last poll ended; null for none. */
  endedAt: number | null;
  /** Ends the open poll. */
  end: ((why: PollEnd) => void) | null;
}

/** A poll that is open. */
export interface OpenPoll {
  isContested(): boolean;
  /** Resolves with what ends a pause of at most so long, ms. */
  wait(ms: number): Promise<PollEnd>;
  close(): void;
}

/** The long polls of workspaces, one for each: a second engine with the same token displaces the first. */
export interface Polls {
  /** Null when too many are open. */
  open(workspace: string, instance: string, signal: AbortSignal): OpenPoll | null;
  isConnected(workspace: string): boolean;
  /** There is something for the workspace. */
  tell(workspace: string): void;
  /** Ends its poll: the token was revoked. */
  revoke(workspace: string): void;
  /** Ends all of them. */
  close(): void;
}

export function createPolls(clock: Clock): Polls {
  const lines = new Map<string, Line>();
  let open = 0;
  let isClosing = false;

  return {
    open(workspace, instance, signal) {
      if (open >= MOST_POLLS) return null;
      open += 1;
      const line = lines.get(workspace) ?? { instance, contestedUntil: 0, endedAt: null, end: null };
      lines.set(workspace, line);
      // One that has gone is not in the way: an engine that was started again is no second one.
      if (line.instance !== instance && line.end !== null)
        line.contestedUntil = clock.monotonic() + CONTESTED_MS;
      line.end?.(line.instance === instance ? 'gone' : 'displaced');
      line.instance = instance;
      let ended: PollEnd | null = isClosing ? 'closing' : null;
      let wake: (() => void) | null = null;
      const end = (why: PollEnd): void => {
        // News may be missed by nobody; what ends the poll for good is never overwritten by it.
        if (ended === null || ended === 'news') ended = why;
        wake?.();
      };
      line.end = end;
      const leave = (): void => end('gone');
      signal.addEventListener('abort', leave);
      return {
        isContested: () => line.contestedUntil > clock.monotonic(),
        async wait(ms) {
          if (ended === null) {
            const { promise, resolve } = Promise.withResolvers<void>();
            wake = resolve;
            const timer = setTimeout(resolve, ms);
            await promise;
            clearTimeout(timer);
            wake = null;
          }
          const why = ended ?? 'time';
          if (ended === 'news') ended = null;
          return why;
        },
        close() {
          open -= 1;
          signal.removeEventListener('abort', leave);
          if (line.end !== end) return;
          line.end = null;
          line.endedAt = clock.monotonic();
        },
      };
    },
    isConnected(workspace) {
      const line = lines.get(workspace);
      if (line === undefined) return false;
      return line.end !== null || (line.endedAt !== null && clock.monotonic() - line.endedAt < PAUSE_MS);
    },
    tell: (workspace) => lines.get(workspace)?.end?.('news'),
    revoke: (workspace) => lines.get(workspace)?.end?.('revoked'),
    close() {
      isClosing = true;
      for (const { end } of lines.values()) end?.('closing');
    },
  };
}
