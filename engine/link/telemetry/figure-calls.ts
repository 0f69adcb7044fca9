import type { Clock } from '../../core/base/clock.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { timeAnswer } from '../../core/link-protocol/messages.ts';
import type { TelemetryDay } from '../../core/link-protocol/telemetry-day.ts';
import type { Storage } from '../../storage/index.ts';
import { nothing, type ServerCalls } from '../server-calls.ts';
import type { TelemetryRow, TelemetryRows } from './rows.ts';

/** Sends figures to the linked server and deletes them there, and records it. */
export function createFigureCalls(deps: {
  storage: Storage;
  clock: Clock;
  log: Log;
  rows(): TelemetryRows;
  signal: AbortSignal;
}) {
  const { storage, clock, log, rows, signal } = deps;

  async function sendDay(calls: ServerCalls, row: TelemetryRow, body: TelemetryDay): Promise<void> {
    try {
      await calls.call(`/v1/usage/${row.day}`, {
        method: 'PUT',
        body,
        answer: timeAnswer,
        signal,
      });
    } catch (thrown) {
      const { code, message } = asSvcError(thrown);
      if (code !== 'fields_invalid') throw thrown;
      // A refused day must not block the others.
      log.warn({ day: row.day, refused: message }, 'the linked server rejected the figures of a day');
      await storage.write(() => rows().setRefused(row.day, clock.now(), message));
      return;
    }
    await storage.write(() => rows().setSent(row, JSON.stringify(body), clock.now()));
  }

  async function deleteSent(calls: ServerCalls): Promise<void> {
    await calls.call('/v1/usage', { method: 'DELETE', answer: nothing }).catch((thrown: unknown) => {
      const { code, message } = asSvcError(thrown);
      if (code !== 'server_unreachable') throw thrown;
      throw new SvcError(code, message, {
        hint: 'try again once it answers; svc telemetry off stops further figures',
        cause: thrown,
      });
    });
    await storage.write(() => rows().dropSent());
  }

  return { sendDay, deleteSent };
}
