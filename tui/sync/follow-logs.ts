import type { EngineClient } from '../../engine/index.ts';
import { listWantedDetails } from '../state/details.ts';
import { LOG_LINES } from '../state/log.ts';
import type { State } from '../state/model.ts';

const BATCH_MS = 100;

interface LogPart {
  text: string;
  ended: boolean;
}

/**
 * Follows the last shown log, with at most ten updates a second. It stays subscribed while another pane has the
 * focus, so that a paused log keeps its position.
 */
export function followLogs(options: {
  client(): EngineClient;
  getState(): State;
  onLines(session: string, lines: readonly string[], ended: boolean, reset: boolean): void;
}): { onStateChange(): void; restart(): void; close(): void } {
  let session: string | null = null;
  let subscription: Promise<number | null> = Promise.resolve(null);
  let text = '';
  let ended = false;
  let timer: NodeJS.Timeout | null = null;
  let last = 0;

  function flushLog(): void {
    timer = null;
    last = performance.now();
    const lines = text.split('\n');
    text = '';
    if (session !== null) options.onLines(session, lines, ended, false);
  }

  function takeLogPart(of: string, part: LogPart): void {
    if (of !== session) return;
    text += part.text;
    ended = part.ended;
    timer ??= setTimeout(flushLog, Math.max(0, BATCH_MS - (performance.now() - last)));
  }

  function unfollowLog(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    text = '';
    ended = false;
    const left = subscription;
    subscription = Promise.resolve(null);
    // If the engine is gone, so is the subscription.
    void left
      .then(async (id) => {
        if (id !== null) await options.client().unsubscribe(id);
      })
      .catch(() => undefined);
  }

  function subscribeToLog(next: string): void {
    options.onLines(next, [''], false, true);
    subscription = options
      .client()
      .subscribe<{ subscription: number }>(
        'log.follow',
        { session: next, lines: LOG_LINES },
        ({ method, params }) => {
          if (method === 'log') takeLogPart(next, params as unknown as LogPart);
        },
      )
      .then((answer) => answer.subscription)
      .catch(() => null);
  }

  return {
    onStateChange() {
      const state = options.getState();
      if (state.link.phase !== 'live') return;
      const { log } = listWantedDetails(state);
      if (log === session || log === null) return;
      unfollowLog();
      session = log;
      subscribeToLog(log);
    },
    /** Subscribes again after the connection was lost, starting with the last lines. */
    restart() {
      subscription = Promise.resolve(null);
      session = null;
    },
    close() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}
