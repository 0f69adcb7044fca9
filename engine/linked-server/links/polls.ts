import type { Clock } from '../../core/base/clock.ts';

/** While two engines alternate, and this long afterwards, no command is given out. */
const CONTESTED_MS = 60_000;
const MOST_POLLS = 1000;
/** How long a workspace counts as connected between two polls. */
const PAUSE_MS = 10_000;

/**
 * The end of a pause: there may be news, or the time is over; all other values end the poll permanently. `gone`: the
 * client has left.
 */
export type PollEnd = 'news' | 'time' | 'gone' | 'displaced' | 'revoked' | 'closing';

interface Line {
  /** The engine that polled last. */
  instance: string;
  /** By the monotonic clock, like the next one. */
  contestedUntil: number;
  /** When its last poll ended; null for none. */
  endedAt: number | null;
  /** Ends the open poll. */
  end: ((why: PollEnd) => void) | null;
}

/** A poll that is open. */
export interface OpenPoll {
  isContested(): boolean;
  /** Resolves with the reason that ends a pause, after at most a time in ms. */
  wait(ms: number): Promise<PollEnd>;
  close(): void;
}

/** The long polls of workspaces, one for each: a second engine with the same token displaces the first. */
export interface LinkPolls {
  /** Null if too many are open. */
  open(workspace: string, instance: string, signal: AbortSignal): OpenPoll | null;
  isConnected(workspace: string): boolean;
  /** Called when there is something for the workspace. */
  tell(workspace: string): void;
  /** Ends its poll: the token was revoked. */
  revoke(workspace: string): void;
  /** Ends all polls. */
  close(): void;
}

export function createPolls(clock: Clock): LinkPolls {
  const lines = new Map<string, Line>();
  let open = 0;
  let isClosing = false;

  return {
    open(workspace, instance, signal) {
      if (open >= MOST_POLLS) return null;
      open += 1;
      const line = lines.get(workspace) ?? { instance, contestedUntil: 0, endedAt: null, end: null };
      lines.set(workspace, line);
      // An ended poll does not count: a restarted engine is not a second one.
      if (line.instance !== instance && line.end !== null)
        line.contestedUntil = clock.monotonic() + CONTESTED_MS;
      line.end?.(line.instance === instance ? 'gone' : 'displaced');
      line.instance = instance;
      let ended: PollEnd | null = isClosing ? 'closing' : null;
      let wake: (() => void) | null = null;
      const endPoll = (why: PollEnd): void => {
        // News must not be missed; they never overwrite a permanent end.
        if (ended === null || ended === 'news') ended = why;
        wake?.();
      };
      line.end = endPoll;
      const leavePoll = (): void => endPoll('gone');
      signal.addEventListener('abort', leavePoll);
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
          signal.removeEventListener('abort', leavePoll);
          if (line.end !== endPoll) return;
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
