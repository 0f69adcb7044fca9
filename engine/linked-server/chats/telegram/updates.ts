import { z } from 'zod';
import type { ButtonPress, ChatPlace, ChatText, ChatUser } from '../service.ts';

// Parses the used parts of a Telegram update.

const user = z.object({
  id: z.int(),
  is_bot: z.boolean(),
  first_name: z.string(),
  last_name: z.string().optional(),
  username: z.string().optional(),
});
const chat = z.object({
  id: z.int(),
  type: z.enum(['private', 'group', 'supergroup', 'channel']),
  title: z.string().optional(),
});
const update = z.object({
  update_id: z.int(),
  message: z
    .object({ from: user.optional(), sender_chat: z.unknown().optional(), chat, text: z.string().optional() })
    .optional(),
  callback_query: z
    .object({
      id: z.string(),
      from: user,
      message: z.object({ message_id: z.int(), chat }).optional(),
      data: z.string().optional(),
    })
    .optional(),
});

/** A person's action. */
export type TelegramAct =
  | { what: 'press'; queryId: string; press: ButtonPress }
  | { what: 'words'; words: ChatText }
  /** Nothing for this bot. */
  | { what: 'nothing' };

const NOTHING: TelegramAct = { what: 'nothing' };

const readUser = ({ id, first_name, last_name, username }: z.output<typeof user>): ChatUser => {
  const name = [first_name, last_name].filter((part) => part !== undefined).join(' ');
  return { id: String(id), name: username === undefined ? name : `${name} (@${username})` };
};

const readPlace = ({ id, type, title }: z.output<typeof chat>): ChatPlace => ({
  channel: String(id),
  channelName: title ?? null,
  isPrivate: type === 'private',
});

/** Extracts the words of a text; null if it is not for this bot: in groups it must be mentioned. */
function readWords(text: string, isPrivate: boolean, botName: string | null): string | null {
  const command = /^\/(\w+)(?:@(\w+))?(?:\s+([\s\S]*))?$/.exec(text.trim());
  const mention = /^@(\w+)\s+([\s\S]*)$/.exec(text.trim());
  const named = command?.[2] ?? mention?.[1] ?? null;
  const isNamed = named !== null && named.toLowerCase() === botName?.toLowerCase();
  if (named === null ? !isPrivate : !isNamed) return null;
  if (command !== null) return [command[1], command[3]].filter((part) => part !== undefined).join(' ');
  return mention?.[2] ?? text.trim();
}

/** Returns the number of an update and the person's action; null for other values. */
export function readUpdate(given: unknown, botName: string | null): { id: number; act: TelegramAct } | null {
  const read = update.safeParse(given);
  if (!read.success) return null;
  const { update_id: id, message, callback_query: query } = read.data;
  if (query?.message !== undefined && query.data !== undefined) {
    const press: ButtonPress = {
      user: readUser(query.from),
      place: readPlace(query.message.chat),
      messageId: String(query.message.message_id),
      ticket: query.data,
    };
    return { id, act: { what: 'press', queryId: query.id, press } };
  }
  // A sender in the name of a group or channel is not an identifiable person.
  if (message?.from === undefined || message.from.is_bot || message.sender_chat !== undefined)
    return { id, act: NOTHING };
  const place = readPlace(message.chat);
  const text = readWords(message.text ?? '', place.isPrivate, botName);
  if (text === null || text === '') return { id, act: NOTHING };
  return { id, act: { what: 'words', words: { user: readUser(message.from), place, text } } };
}

/** Returns the number of a possibly unknown update. */
export const readUpdateId = (given: unknown): number | null => {
  const read = z.object({ update_id: z.int() }).safeParse(given);
  return read.success ? read.data.update_id : null;
};
