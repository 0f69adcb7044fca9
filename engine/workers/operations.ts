import { z } from 'zod';
import type { Sessions } from '../bus/sessions/index.ts';
import { type Operation, operation } from '../operation.ts';
import type { LogPart } from './processes/index.ts';

/** What clients may ask about sessions and their logs. */
export function sessionOperations(deps: {
  sessions: Sessions;
  readLog(sessionId: string, options: { from: number; maxBytes: number; ended: boolean }): LogPart;
  tailOffset(sessionId: string, lines: number): number;
}): Operation[] {
  const { sessions } = deps;
  return [
    operation({
      name: 'session.list',
      about: 'Worker sessions, newest first.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ live: z.boolean().optional(), limit: z.int().min(1).max(100_000).optional() }),
      run: (input) => sessions.list({ live: input.live ?? false, limit: input.limit ?? 100 }),
    }),
    operation({
      name: 'session.log',
      about: 'A part of a session’s log, from a byte offset or its last lines.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        session: z.string(),
        from: z.int().min(0).optional(),
        lines: z.int().min(0).max(1_000_000).optional(),
        max_bytes: z
          .int()
          .min(4)
          .max(8 * 1024 * 1024)
          .optional(),
      }),
      run(input) {
        const { sessionId, state } = sessions.resolve(input.session);
        const ended = state === 'ended';
        const from = input.from ?? deps.tailOffset(sessionId, input.lines ?? 200);
        const { text, next, dropped, end } = deps.readLog(sessionId, {
          from,
          maxBytes: input.max_bytes ?? 1024 * 1024,
          ended,
        });
        return { sessionId, text, next, dropped, end, ended };
      },
    }),
  ];
}
