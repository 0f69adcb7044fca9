import { z } from 'zod';
import type { Session, Sessions } from '../bus/sessions/index.ts';
import { type Operation, operation } from '../operation.ts';
import type { SessionLogs } from './dispatch/index.ts';

/** A session in a list. */
export interface ListedSession extends Session {
  /** When its log last grew, RFC 3339; null when it has none yet or the session has ended. */
  logWrittenAt: string | null;
}

/** What clients may ask about sessions and their logs. */
export function sessionOperations(deps: { sessions: Sessions; logs: SessionLogs }): Operation[] {
  const { sessions, logs } = deps;
  return [
    operation({
      name: 'session.list',
      about:
        'Worker sessions, newest first, live ones in the order of their turn; `ids` names the wanted ones.',
      seat: 'any',
      changes: false,
      input: z.strictObject({
        live: z.boolean().optional(),
        ids: z.array(z.string()).max(1000).optional(),
        limit: z.int().min(1).max(100_000).optional(),
      }),
      run: (input): ListedSession[] =>
        sessions.list(input).map((session) => ({
          ...session,
          // Nobody asks how quiet an ended one is, and most of a list has ended.
          logWrittenAt: session.state === 'ended' ? null : logs.writtenAt(session.sessionId),
        })),
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
        const from = input.from ?? logs.tail(sessionId, input.lines ?? 200);
        const { text, next, dropped, end } = logs.read(sessionId, {
          from,
          maxBytes: input.max_bytes ?? 1024 * 1024,
          ended,
        });
        return { sessionId, text, next, dropped, end, ended };
      },
    }),
  ];
}
