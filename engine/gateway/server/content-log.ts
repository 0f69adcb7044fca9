import { lstatSync, renameSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import type { Log } from '../../core/base/log.ts';
import { appendPrivate, makePrivateFolder } from '../../core/base/private-files.ts';
import { contentLogPath, namePersonHolder, nameRunHolder } from '../content-choices.ts';
import type { GatewayCall } from './call.ts';

/** Logs the content of calls of the holders that a person has chosen, and of no others. */
export interface ContentLog {
  /** Follows the answer to a call's client; call the returned function when the call is over. Null if nothing is logged. */
  watch(call: GatewayCall): (() => void) | null;
}

/** Maximum logged size of a request or answer; the rest is omitted, with its size. */
export const MOST_CONTENT_BYTES = 4 * 1024 ** 2;
/** A full file is renamed to `.old`, replacing an earlier one. */
const MOST_FILE_BYTES = 32 * 1024 ** 2;

export function createContentLog({
  data,
  chosen,
  now,
  log,
  mostFileBytes = MOST_FILE_BYTES,
}: {
  data: string;
  /** Returns same as `GatewaySettings.contentOf`. */
  chosen(): readonly string[];
  now(): number;
  log: Log;
  mostFileBytes?: number;
}): ContentLog {
  function saveContent(holder: string, line: string): void {
    const file = contentLogPath(data, holder);
    makePrivateFolder(data, dirname(file));
    const size = lstatSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > 0 && size + line.length > mostFileBytes) renameSync(file, `${file}.old`);
    appendPrivate(file, line);
  }

  return {
    watch(call) {
      const holders = chosen();
      if (holders.length === 0) return null;
      const { holder, body, response, row } = call;
      const name = holder.kind === 'run' ? nameRunHolder(holder.sessionId) : namePersonHolder(holder.name);
      if (!holders.includes(name)) return null;
      const answer = copyAnswer(response);
      return () => {
        const facts = {
          at: new Date(row.started_at).toISOString(),
          ended_at: new Date(now()).toISOString(),
          call: row.id,
          protocol: row.protocol,
          kind: row.kind,
          provider: row.provider,
          model: row.model,
          status: response.headersSent ? response.statusCode : null,
          outcome: row.outcome === 'open' ? null : row.outcome,
          request_bytes: body.length,
          answer_bytes: answer.size(),
          request: readStart([body]),
          answer: readStart(answer.chunks),
        };
        try {
          saveContent(name, `${JSON.stringify(facts)}\n`);
        } catch (error) {
          const { code = 'unknown' } = error as NodeJS.ErrnoException;
          log.warn({ call: row.id, error: code }, 'the content of a call could not be logged');
        }
      };
    },
  };
}

const readStart = (chunks: readonly Buffer[]): string =>
  Buffer.concat(chunks).subarray(0, MOST_CONTENT_BYTES).toString('utf8');

/** Captures the start of everything that is written to a response from here on, by any method. */
function copyAnswer(response: ServerResponse): { chunks: Buffer[]; size(): number } {
  const chunks: Buffer[] = [];
  let size = 0;
  function keepChunk(chunk: unknown): void {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    if (!Buffer.isBuffer(bytes)) return;
    if (size < MOST_CONTENT_BYTES) chunks.push(bytes);
    size += bytes.length;
  }
  const given = { write: response.write, end: response.end } as Record<
    'write' | 'end',
    (...args: unknown[]) => unknown
  >;
  for (const name of ['write', 'end'] as const) {
    const pass = given[name];
    Object.assign(response, {
      [name](...args: unknown[]) {
        keepChunk(args[0]);
        return pass.apply(response, args);
      },
    });
  }
  return { chunks, size: () => size };
}
