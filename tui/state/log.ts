import { keepLastState, renderLogLine } from '../../engine/core/base/text.ts';
import type { LogSource, LogView } from './model.ts';

/** How many lines are kept. The whole log is on disk. */
export const LOG_LINES = 500;

export const EMPTY_LOG: LogView = {
  source: null,
  lines: [],
  first: 0,
  partial: '',
  ended: false,
  following: true,
  seen: 0,
};

/** Reports whether two names mean the same log. */
export const isSameLog = (one: LogSource | null, other: LogSource | null): boolean =>
  one?.session === other?.session &&
  one?.command?.name === other?.command?.name &&
  one?.command?.startedAt === other?.command?.startedAt;

/** Appends lines to a log, as a terminal shows them. The last of them has not ended yet. */
export function appendLogLines(log: LogView, lines: readonly string[], ended: boolean): LogView {
  const [head = '', ...rest] = lines;
  const all = [log.partial + head, ...rest];
  const partial = keepLastState(all.pop() ?? '');
  const kept = [...log.lines, ...all.map(renderLogLine)];
  const dropped = Math.max(0, kept.length - LOG_LINES);
  return {
    ...log,
    lines: dropped === 0 ? kept : kept.slice(dropped),
    first: log.first + dropped,
    // A line that never ends, such as a progress bar, must not grow without bound.
    partial: partial.slice(-4096),
    ended: log.ended || ended,
  };
}

export const getLogLines = (log: LogView): readonly string[] =>
  log.partial === '' ? log.lines : [...log.lines, renderLogLine(log.partial)];

/** The number that the next line will have. */
export const getLogEnd = (log: LogView): number => log.first + log.lines.length;

export const countUnseenLines = (log: LogView): number =>
  log.following ? 0 : Math.max(0, getLogEnd(log) - log.seen);

export const pauseLog = (log: LogView): LogView =>
  log.following ? { ...log, following: false, seen: getLogEnd(log) } : log;

export const resumeLog = (log: LogView): LogView => ({ ...log, following: true });
