import type { Kysely } from 'kysely';
import type { ChatMessageRow, Tables } from '../database/tables.ts';
import { hashToken, makeToken } from '../secrets.ts';

export type ButtonTickets = ReturnType<typeof createTickets>;

/** Random tickets for the buttons of messages. They are stored in the database as hashes, so buttons survive a restart. */
export function createTickets(db: Kysely<Tables>) {
  return {
    /** Creates a ticket for a button with exactly this meaning. */
    async make(message: ChatMessageRow, verb: 'approve' | 'deny', hash: string): Promise<string> {
      const { token, hash: ticketHash } = makeToken();
      await db
        .insertInto('chat_tickets')
        .values({ ticket_hash: ticketHash, message_id: message.id, verb, hash })
        .execute();
      return token;
    },

    /** Returns the meaning of a button; null for an unknown one. */
    async find(ticket: string) {
      const found = await db
        .selectFrom('chat_tickets')
        .innerJoin('chat_messages', 'chat_messages.id', 'chat_tickets.message_id')
        .innerJoin('chat_channels', 'chat_channels.id', 'chat_messages.channel_id')
        .selectAll('chat_messages')
        .select(['chat_tickets.verb', 'chat_tickets.hash as ticket_of_hash'])
        .select(['chat_channels.channel', 'chat_channels.kind'])
        .where('ticket_hash', '=', hashToken(ticket))
        .executeTakeFirst();
      return found ?? null;
    },
  };
}
