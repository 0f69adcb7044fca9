import { findTailOffset, readLog, readLogTime } from '../processes/index.ts';
import { logFile, type SessionFolders } from './folders.ts';
import type { LogOrder, LogPart } from './runner.ts';

interface Deps {
  paths: SessionFolders;
}

/** Reads a part of a session's log in one turn, so that a cut of the file cannot happen between two steps. */
export function readSessionLog(deps: Deps, order: LogOrder): LogPart {
  const { sessionId, maxBytes, byLine, hasEnded } = order;
  const file = logFile(deps, sessionId);
  const from = typeof order.from === 'number' ? order.from : findTailOffset(file, order.from.lastLines);
  const { bytes, text, next, dropped, end } = readLog(file, { from, maxBytes, ended: hasEnded });
  const part = { text, from, next, dropped, end };
  if (!byLine || (hasEnded && next >= end)) return part;
  // An incomplete line waits for its rest, unless it is longer than the read limit.
  const length = bytes.lastIndexOf(0x0a) + 1;
  if (length === 0 && bytes.length >= maxBytes - 4) return part;
  return { ...part, text: bytes.subarray(0, length).toString('utf8'), next: next - bytes.length + length };
}

export function listSessionLogTimes(deps: Deps, sessionIds: readonly string[]): Record<string, string> {
  const times: Record<string, string> = {};
  for (const sessionId of sessionIds) {
    const time = readLogTime(logFile(deps, sessionId));
    if (time !== null) times[sessionId] = time;
  }
  return times;
}
