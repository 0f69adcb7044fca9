import { z } from 'zod';
import { by, operation } from '../../api/operation.ts';
import { maskedAddress } from '../../base/shown-address.ts';
import type { Reader } from './index.ts';
import { type MessageRow, toMessage } from './rows.ts';
import { type MessageToolDeps, resolveReader } from './tools.ts';

/** What the dashboard, the command line and hooks ask about messages and peers. */
export function messageOperations(deps: MessageToolDeps & { surface(reader: Reader): MessageRow[] }) {
  const { storage, messages, peers, surface } = deps;
  const id = z.int().min(1);
  return [
    operation({
      name: 'message.list',
      about:
        'Messages of everyone, newest first. `ids` names the wanted ones, `before` the message that a page begins after.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({
        ids: z.array(id).max(1000).optional(),
        before: id.optional(),
        limit: z.int().min(1).max(100_000).optional(),
        unread: z.boolean().optional(),
      }),
      run: (input) => messages.list(input).map(toMessage),
    }),
    operation({
      name: 'message.count',
      about: 'How many messages are kept, or how many of them nobody has read.',
      seat: 'chair',
      changes: false,
      input: z.strictObject({ unread: z.boolean().optional() }),
      run: (input) => messages.count(input),
    }),
    operation({
      name: 'message.ack',
      about: 'Acknowledge any message, as the person at the dashboard.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id }),
      run: (input, caller) =>
        storage.write(() => toMessage(messages.ackAs(input.id, caller.actor, by(caller)))),
    }),
    operation({
      name: 'message.counts',
      about: 'Unread messages to the Chairs of the workspace, and how many of them are alerts.',
      seat: 'any',
      changes: false,
      input: z.strictObject({}),
      run: () => messages.counts(),
    }),
    operation({
      name: 'message.surface',
      about: 'Unread messages of a session that were not shown to it yet; they count as shown from then on.',
      seat: 'any',
      // Marking messages as shown is no change: hooks of an actor who may change nothing show them too.
      changes: false,
      input: z.strictObject({ session: z.string().min(1).optional() }),
      run: (input, caller) => surface(resolveReader(deps, input, caller)).map(toMessage),
    }),
    operation({
      name: 'peer.list',
      about: 'Everyone who takes part now: Chairs, plain sessions, workers.',
      seat: 'any',
      changes: false,
      input: z.strictObject({}),
      // An address may contain a secret, so clients get it masked.
      run: () =>
        peers.live().map((each) => ({
          ...each,
          notifyBase: each.notifyBase === null ? null : maskedAddress(each.notifyBase),
        })),
    }),
  ];
}
