import type { Caller } from '../core/api/operation.ts';
import { SvcError } from '../core/base/errors.ts';
import type { StreamReader } from '../workers/agents/index.ts';
import type { LogPart, Runner } from '../workers/runner/runs/index.ts';

/** As printed, or formatted for a person if the agent's form is known. */
export const LOG_FORMS = ['readable', 'raw'] as const;
export type LogForm = (typeof LOG_FORMS)[number];

export interface LogRequest {
  /** In bytes of the output. */
  from: number;
  maxBytes: number;
  /** True if there will be no more output. */
  ended: boolean;
}

/** Workers' output, by session. */
export interface SessionLogs {
  /** Throws `chair_only`: a worker must not read another worker's texts and actions. */
  checkReader(sessionId: string, caller: Pick<Caller, 'seat' | 'sessionId'>): void;
  /** Reads part after part. Offsets refer to the output, in either form; readable parts end with a line. */
  open(sessionId: string, form: LogForm): (part: LogRequest) => Promise<LogPart>;
  /** Finds the start of the last `lines`, in bytes. */
  findTail(sessionId: string, lines: number): Promise<number>;
  /** Returns when each was last written to, RFC 3339, by session; omits those without output. */
  listTimes(sessionIds: readonly string[]): Promise<Record<string, string>>;
}

/** @param readerOf null for output that is shown unchanged */
export function createSessionLogs(
  runner: Pick<Runner, 'readLog' | 'listLogTimes'>,
  readerOf: (sessionId: string) => StreamReader | null,
): SessionLogs {
  return {
    checkReader(sessionId, { seat, sessionId: own }) {
      if (seat !== 'worker' || own === sessionId) return;
      throw new SvcError('chair_only', `${own ?? 'this worker'} may not read the log of ${sessionId}`, {
        hint: 'a worker may only read its own session’s log',
      });
    },
    open(sessionId, form) {
      let reader: StreamReader | null | undefined = form === 'raw' ? null : undefined;
      return async ({ from, maxBytes, ended }) => {
        const order = { sessionId, from, maxBytes, hasEnded: ended };
        const part = await runner.readLog({ ...order, byLine: reader !== null });
        // The format of a waiting session is known at its start, before it prints anything.
        if (reader === undefined && part.text !== '') {
          reader = readerOf(sessionId);
          if (reader === null) return runner.readLog({ ...order, byLine: false });
        }
        return reader == null ? part : { ...part, text: makeReadable(part.text, reader) };
      };
    },
    async findTail(sessionId, lines) {
      const order = { sessionId, from: { lastLines: lines }, maxBytes: 4, byLine: false, hasEnded: false };
      return (await runner.readLog(order)).from;
    },
    listTimes: (sessionIds) => runner.listLogTimes(sessionIds),
  };
}

function makeReadable(text: string, reader: StreamReader): string {
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const said = lines.map((line) => reader.readLine(line)).filter((line) => line !== null);
  return said.map((line) => `${line}\n`).join('');
}
