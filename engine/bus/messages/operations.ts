import { z } from 'zod';
import { cursor, parseNumberCursor } from '../../core/api/cursor.ts';
import { operation } from '../../core/api/operation.ts';
import type { MessageReader } from './index.ts';
import { type MessageRow, toMessage } from './rows.ts';
import { type MessageToolDeps, resolveReader } from './tools.ts';

/** Operations on messages and peers for the dashboard, the command line and hooks. */
export function messageOperations(deps: MessageToolDeps & { surface(reader: MessageReader): MessageRow[] }) {
  const { messages, surface } = deps;
  const id = z.int().min(1);
  return [
    operation({
      name: 'msg.list',
      about: 'Messages of everyone, newest first. `ids` selects some.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({
        ids: z.array(id).max(1000).optional(),
        cursor,
        limit: z.int().min(1).max(100_000).optional(),
        unread: z.boolean().optional(),
      }),
      run: ({ cursor: last, ...input }) =>
        messages.list({ ...input, before: parseNumberCursor(last) }).map(toMessage),
    }),
    operation({
      name: 'msg.count',
      about: 'The number of kept messages, or of unread ones.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({ unread: z.boolean().optional() }),
      run: (input) => messages.count(input),
    }),
    operation({
      name: 'msg.counts',
      about: 'Unread messages to the Chairs of the workspace, and how many of them are alerts.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({}),
      run: () => messages.counts(),
    }),
    operation({
      name: 'msg.surface',
      about: 'Unread messages to a session that it has not been shown; marks them as shown.',
      seat: 'any',
      // Marking messages as shown is not a change: hooks of a read-only actor show them too.
      changes: false,
      input: z.strictObject({ session: z.string().min(1).optional() }),
      run: (input, caller) => surface(resolveReader(deps, input, caller)).map(toMessage),
    }),
  ];
}
