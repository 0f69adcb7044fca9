import { toPrintable } from '../../../core/base/text.ts';
import type { ChatButton, ChatMessage, ChatSpan } from '../service.ts';

// A message is `plain_text` in blocks: nothing in it formats, mentions or links. Notifications and screen readers get
// `text` instead; Slack reads markup in it, so it is escaped.

/** The limit of one text object, also used for the fallback text. */
const LONGEST_TEXT = 3000;
/** Slack also has an undocumented limit for all blocks together. */
const MOST_SECTIONS = 4;
const LONGEST_LABEL = 75;
const MOST_BUTTONS_IN_ROW = 5;

const STYLES = { good: 'primary', bad: 'danger', plain: undefined } as const;

/** The arguments of a method that sends a message. */
export interface SlackText {
  text: string;
  blocks: object[];
  [other: string]: string | boolean | object;
}

/** Cuts a text, ending with an ellipsis; never within a surrogate pair. */
const cutText = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`;

const formatSpan = ({ text, isOutside }: ChatSpan): string =>
  (isOutside ? toPrintable(text) : text).toWellFormed();

/** Puts as many lines into one text as fit. */
function packLines(lines: readonly string[]): string[] {
  const packed: string[] = [];
  for (const line of lines.map((each) => cutText(each, LONGEST_TEXT))) {
    const last = packed.at(-1);
    if (last !== undefined && last.length + 1 + line.length <= LONGEST_TEXT)
      packed[packed.length - 1] = `${last}\n${line}`;
    else packed.push(line);
  }
  return packed.length <= MOST_SECTIONS ? packed : [...packed.slice(0, MOST_SECTIONS), '…'];
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Escapes Slack's markup, and stops before the text gets too long. */
function escapeText(text: string): string {
  let escaped = '';
  for (const character of text) {
    const next = ESCAPES[character] ?? character;
    if (escaped.length + next.length >= LONGEST_TEXT) return `${escaped}…`;
    escaped += next;
  }
  return escaped;
}

const plainText = (text: string): object => ({ type: 'plain_text', text, emoji: false });

function formatButton(button: ChatButton, place: number): object {
  const text = plainText(cutText(button.label, LONGEST_LABEL));
  if ('url' in button) return { type: 'button', action_id: `open-${place}`, text, url: button.url };
  const style = STYLES[button.style];
  return {
    type: 'button',
    action_id: `press-${place}`,
    text,
    value: button.ticket,
    ...(style === undefined ? {} : { style }),
  };
}

export function formatMessage({ lines, buttons }: ChatMessage): SlackText {
  const texts = lines.map((line) => line.map(formatSpan).join(''));
  const blocks = packLines(texts)
    .filter((text) => text.trim() !== '')
    .map((text): object => ({ type: 'section', text: plainText(text) }));
  for (let first = 0; first < buttons.length; first += MOST_BUTTONS_IN_ROW) {
    const row = buttons.slice(first, first + MOST_BUTTONS_IN_ROW);
    blocks.push({
      type: 'actions',
      elements: row.map((button, place) => formatButton(button, first + place)),
    });
  }
  return { text: escapeText(texts.join('\n')), blocks, parse: 'none', link_names: false };
}

/** Formats a private answer: a sentence of svc, which may quote outside text. */
export const formatAnswer = (answer: string): SlackText =>
  formatMessage({
    lines: answer.split('\n').map((text) => [{ text, isOutside: true }]),
    buttons: [],
  });
