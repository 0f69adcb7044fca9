import type { StreamReader } from '../agents/index.ts';
import type { Caller } from '../api/operation.ts';
import { SvcError } from '../base/errors.ts';
import { findTailOffset, type LogPart, readLog, readLogTime } from './processes/index.ts';
import { logFile, type SessionFolders } from './runs/folders.ts';

/** As it was printed, or, of agents whose form is known, as a person reads it. */
export const LOG_FORMS = ['readable', 'raw'] as const;
export type LogForm = (typeof LOG_FORMS)[number];

export interface LogRequest {
  from: number;
  maxBytes: number;
  ended: boolean;
}

/** What the workers printed, by session. */
export interface SessionLogs {
  /** Throws `chair_only`: what a worker is told and does is no other worker's business. */
  checkReader(sessionId: string, caller: Pick<Caller, 'seat' | 'sessionId'>): void;
  /** Reads part after part. Offsets are those of what was printed, in either form; readable parts end with a line. */
  open(sessionId: string, form: LogForm): (part: LogRequest) => LogPart;
  /** Where the last `lines` begin, in bytes. */
  tail(sessionId: string, lines: number): number;
  /** RFC 3339; null when nothing was printed yet. */
  writtenAt(sessionId: string): string | null;
}

export function createSessionLogs(
  paths: SessionFolders,
  readerOf: (sessionId: string) => StreamReader | null,
): SessionLogs {
  const file = (sessionId: string): string => logFile({ paths }, sessionId);
  return {
    checkReader(sessionId, { seat, sessionId: own }) {
      if (seat !== 'worker' || own === sessionId) return;
      throw new SvcError('chair_only', `the log of ${sessionId} is not that of ${own ?? 'this worker'}`, {
        hint: 'a worker reads the log of its own session only',
      });
    },
    open(sessionId, form) {
      let reader: StreamReader | null | undefined = form === 'raw' ? null : undefined;
      return (part) => {
        const read = readLog(file(sessionId), part);
        // How a session that still waits will be run is known at its start, before it prints anything.
        if (reader === undefined && read.bytes.length > 0) reader = readerOf(sessionId);
        return reader == null ? read : toReadable(read, part, reader);
      };
    },
    tail: (sessionId, lines) => findTailOffset(file(sessionId), lines),
    writtenAt: (sessionId) => readLogTime(file(sessionId)),
  };
}

function toReadable(part: LogPart, { maxBytes, ended }: LogRequest, reader: StreamReader): LogPart {
  const isLast = ended && part.next >= part.end;
  // A line that is not complete waits for its rest, unless it is longer than what may be read at once.
  const isTooLong = part.bytes.length >= maxBytes - 4 && !part.bytes.includes(0x0a);
  const length = isLast || isTooLong ? part.bytes.length : part.bytes.lastIndexOf(0x0a) + 1;
  const lines = part.bytes.subarray(0, length).toString('utf8').split('\n');
  if (lines.at(-1) === '') lines.pop();
  const said = lines.map((line) => reader.readLine(line)).filter((line) => line !== null);
  const text = said.map((line) => `${line}\n`).join('');
  return { ...part, text, next: part.next - part.bytes.length + length };
}
