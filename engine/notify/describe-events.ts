import { formatCount, toPrintable } from '../core/base/text.ts';
import { EVENT_WORDS, type OutboundEvent } from './events.ts';

/** A piece of a line. Text from outside is shown literally. */
export interface MessageSpan {
  text: string;
  isOutside: boolean;
}

/** The ids and the title of an event. */
interface NamedEvent {
  event: OutboundEvent | 'test';
  task_id: string | null;
  decision_id: string | null;
  session_id: string | null;
  title: string | null;
}

const LONGEST_TITLE = 100;

/** The order of a summary: what waits comes first. */
const COUNTS: readonly (readonly [event: OutboundEvent, one: string, many: string])[] = [
  ['needs_approval', 'waits for approval', 'wait for approval'],
  ['ask_opened', 'question', 'questions'],
  ['failed', 'run failed', 'runs failed'],
  ['sealed', 'run sealed', 'runs sealed'],
];

export const ownSpan = (text: string): MessageSpan => ({ text, isOutside: false });

/** Makes one line of a text from outside, with an end. */
export const cleanLine = (text: string): string =>
  Array.from(toPrintable(text.toWellFormed()).replace(/\s+/g, ' ').trim()).slice(0, LONGEST_TITLE).join('');

/** Counts events in words: `2 wait for approval, 1 run failed`. */
export function countEvents(events: readonly (OutboundEvent | 'test')[]): string {
  const named = COUNTS.flatMap(([event, one, many]) => {
    const count = events.filter((each) => each === event).length;
    return count === 0 ? [] : [formatCount(count, one, many)];
  });
  const others = events.filter((each) => !COUNTS.some(([event]) => event === each)).length;
  const rest = named.length === 0 ? ['event', 'events'] : ['other event', 'other events'];
  return [...named, ...(others === 0 ? [] : [formatCount(others, rest[0]!, rest[1])])].join(', ');
}

/** Formats an event as `Waits for approval: Fix login (t-12, d-17)`. */
export function describeEvent({ event, task_id, decision_id, session_id, title }: NamedEvent): MessageSpan[] {
  const what = EVENT_WORDS[event] ?? event;
  const ids = [task_id ?? session_id, decision_id].filter((id) => id !== null).join(', ');
  const named = title === null ? '' : cleanLine(title);
  if (named === '') return [ownSpan(ids === '' ? what : `${what}: ${ids}`)];
  return [
    ownSpan(`${what}: `),
    { text: named, isOutside: true },
    ...(ids === '' ? [] : [ownSpan(` (${ids})`)]),
  ];
}
