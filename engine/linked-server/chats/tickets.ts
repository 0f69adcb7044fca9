import type { Kysely } from 'kysely';
import type { ChatMessageRow, Tables } from '../database/tables.ts';
import { hashToken, makeToken } from '../secrets.ts';

export type Tickets = ReturnType<typeof createTickets>;

/** Random tickets at the buttons of messages. They live in the database as hashes, so buttons survive a restart. */
export function createTickets(db: Kysely<Tables>) {
  return {
    /** A ticket for a button, which stands for exactly this. */
    async make(message: ChatMessageRow, verb: 'approve' | 'deny', hash: string): Promise<string> {
      const { token, hash: ticketHash } = makeToken();
      await db
        .insertInto('chat_tickets')
        .values({ ticket_hash: ticketHash, message_id: message.id, verb, hash })
        .execute();
      return token;
    },

    /** What a button stands for; null for none of ours. */
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
