import type { InlineKeyboardButton, MessageEntity } from 'grammy/types';
import { cutTo, LONGEST_TEXT } from '../../../core/http/telegram-text.ts';
import type { ChatButton } from '../service.ts';

const LONGEST_ANSWER = 200;

/** The limit of an answer to a button. */
export const cutAnswer = (text: string): string => cutTo(text, LONGEST_ANSWER);

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
