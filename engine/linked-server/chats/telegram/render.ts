import type { InlineKeyboardButton, MessageEntity } from 'grammy/types';
import { cutToWidth } from '../../../core/base/text.ts';
import type { ChatButton, ChatMessage } from '../service.ts';

/** The longest text of a message, in UTF-16 code units, as Telegram counts. */
const LONGEST_TEXT = 4096;
const LONGEST_ANSWER = 200;

export const cutTo = (text: string, most: number): string => cutToWidth(text, most, ({ length }) => length);

/** The limit of an answer to a button. */
export const cutAnswer = (text: string): string => cutTo(text, LONGEST_ANSWER);

/** Keeps entities within the cut text. */
function keepWithin(entities: readonly MessageEntity[], length: number): MessageEntity[] {
  return entities
    .map((each) => ({ ...each, length: Math.min(each.length, length - each.offset) }))
    .filter((each) => each.length > 0);
}

/** Formats a message as text with entities; without a parse mode nothing else in it formats, mentions or links. */
export function renderText(lines: ChatMessage['lines']): { text: string; entities: MessageEntity[] } {
  let text = '';
  const entities: MessageEntity[] = [];
  for (const [at, line] of lines.entries()) {
    if (at > 0) text += '\n';
    for (const { text: part, isOutside } of line) {
      // Telegram trims white space of a message, and entities with it.
      const shown = isOutside ? part.trim() : part;
      if (isOutside && shown !== '')
        entities.push({ type: 'code', offset: text.length, length: shown.length });
      text += shown;
    }
  }
  const cut = cutTo(text, LONGEST_TEXT);
  return { text: cut, entities: keepWithin(entities, cut.length) };
}

/** Formats text to a person as one block: names in it are from outside. */
export function renderAnswer(text: string): { text: string; entities: MessageEntity[] } {
  const cut = cutTo(text.trim(), LONGEST_TEXT);
  return { text: cut, entities: [{ type: 'code', offset: 0, length: cut.length }] };
}

/** Telegram accepts no link to a host without a dot, such as localhost. */
function canLink(url: string): boolean {
  const host = URL.parse(url)?.hostname ?? '';
  return host.includes('.') || host.startsWith('[');
}

export const renderButtons = (buttons: readonly ChatButton[]): InlineKeyboardButton[][] => {
  const row = buttons.flatMap((each): InlineKeyboardButton[] => {
    if ('url' in each) return canLink(each.url) ? [{ text: each.label, url: each.url }] : [];
    return [{ text: each.label, callback_data: each.ticket }];
  });
  return row.length === 0 ? [] : [row];
};
