import { type LogPart, logWrittenAt, readLog, tailOffset } from '../processes/index.ts';
import type { DispatchPaths } from './context.ts';
import { logFile } from './folders.ts';

/** What the workers printed, by session. */
export interface SessionLogs {
  read(sessionId: string, part: { from: number; maxBytes: number; ended: boolean }): LogPart;
  /** Where the last `lines` begin, in bytes. */
  tail(sessionId: string, lines: number): number;
  /** RFC 3339; null when nothing was printed yet. */
  writtenAt(sessionId: string): string | null;
}

export function createSessionLogs(paths: DispatchPaths): SessionLogs {
  const file = (sessionId: string): string => logFile({ paths }, sessionId);
  return {
    read: (sessionId, part) => readLog(file(sessionId), part),
    tail: (sessionId, lines) => tailOffset(file(sessionId), lines),
    writtenAt: (sessionId) => logWrittenAt(file(sessionId)),
  };
}
