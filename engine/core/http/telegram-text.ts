import type { MessageEntity } from 'grammy/types';
import { cutToWidth } from '../base/text.ts';

/** The longest text of a message, in UTF-16 code units, as Telegram counts. */
export const LONGEST_TEXT = 4096;

/** Cuts a text to a number of UTF-16 code units. */
export const cutTo = (text: string, most: number): string => cutToWidth(text, most, ({ length }) => length);

/** A piece of a line. Text from outside is shown literally. */
interface TextSpan {
  text: string;
  isOutside: boolean;
}

/** Keeps entities within the cut text. */
function keepWithin(entities: readonly MessageEntity[], length: number): MessageEntity[] {
  return entities
    .map((each) => ({ ...each, length: Math.min(each.length, length - each.offset) }))
    .filter((each) => each.length > 0);
}

/** Formats a message as text with entities; without a parse mode nothing else in it formats, mentions or links. */
export function renderText(lines: readonly (readonly TextSpan[])[]): {
  text: string;
  entities: MessageEntity[];
} {
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
