import type { EngineClient } from '../../engine/index.ts';
import { listWantedDetails } from '../state/details.ts';
import { isSameLog, LOG_LINES } from '../state/log.ts';
import type { LogSource, State } from '../state/model.ts';

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
  onLines(source: LogSource, lines: readonly string[], ended: boolean, reset: boolean): void;
}): { onStateChange(): void; restart(): void; close(): void } {
  let source: LogSource | null = null;
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
    if (source !== null) options.onLines(source, lines, ended, false);
  }

  function takeLogPart(of: LogSource, part: LogPart): void {
    if (of !== source) return;
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

  function subscribeToLog(next: LogSource): void {
    const { session, command } = next;
    options.onLines(next, [''], false, true);
    subscription = options
      .client()
      .subscribe<{ subscription: number }>(
        'log.follow',
        { session, lines: LOG_LINES, ...(command === null ? {} : { command: command.name }) },
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
      if (log === null || isSameLog(log, source)) return;
      unfollowLog();
      source = log;
      subscribeToLog(log);
    },
    /** Subscribes again after the connection was lost, starting with the last lines. */
    restart() {
      subscription = Promise.resolve(null);
      source = null;
    },
    close() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}
