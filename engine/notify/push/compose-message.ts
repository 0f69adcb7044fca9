import { formatCount, toPrintable } from '../../core/base/text.ts';
import { EVENT_WORDS, type OutboundEvent } from '../events.ts';

/** What a message to a phone may say about an event: never a prompt, a file, a diff, a path or a question. */
export interface PushFacts {
  event: OutboundEvent;
  workspace: string;
  project: string | null;
  task_id: string | null;
  decision_id: string | null;
  session_id: string | null;
  /** As `server.titles` allows. */
  title: string | null;
  /** In words of svc. */
  reason: string | null;
  link: string | null;
}

/** A piece of a line. Text from outside is shown literally. */
interface MessageSpan {
  text: string;
  isOutside: boolean;
}

/** A message without the form of a service. */
export interface PushMessage {
  /** Where it comes from. */
  heading: string;
  lines: readonly (readonly MessageSpan[])[];
  /** The page of the only event; null for several. */
  link: string | null;
}

/** Events that a message lists; it counts the others. */
const MOST_LISTED = 10;
const LONGEST_TITLE = 100;

/** The order of a summary: what waits comes first. */
const COUNTS: readonly (readonly [event: OutboundEvent, one: string, many: string])[] = [
  ['needs_approval', 'waits for approval', 'wait for approval'],
  ['ask_opened', 'question', 'questions'],
  ['failed', 'run failed', 'runs failed'],
  ['sealed', 'run sealed', 'runs sealed'],
];

const own = (text: string): MessageSpan => ({ text, isOutside: false });

/** Makes one line of a text from outside, with an end. */
const cleanLine = (text: string): string =>
  Array.from(toPrintable(text.toWellFormed()).replace(/\s+/g, ' ').trim()).slice(0, LONGEST_TITLE).join('');

/** Counts events in words: `2 wait for approval, 1 run failed`. */
export function countEvents(events: readonly OutboundEvent[]): string {
  const named = COUNTS.flatMap(([event, one, many]) => {
    const count = events.filter((each) => each === event).length;
    return count === 0 ? [] : [formatCount(count, one, many)];
  });
  const others = events.filter((each) => !COUNTS.some(([event]) => event === each)).length;
  const rest = named.length === 0 ? ['event', 'events'] : ['other event', 'other events'];
  return [...named, ...(others === 0 ? [] : [formatCount(others, rest[0]!, rest[1])])].join(', ');
}

/** Formats an event as `Waits for approval: Fix login (t-12, d-17)`. */
function describeEvent({ event, task_id, decision_id, session_id, title }: PushFacts): MessageSpan[] {
  const what = EVENT_WORDS[event] ?? event;
  const ids = [task_id ?? session_id, decision_id].filter((id) => id !== null).join(', ');
  const named = title === null ? '' : cleanLine(title);
  if (named === '') return [own(ids === '' ? what : `${what}: ${ids}`)];
  return [own(`${what}: `), { text: named, isOutside: true }, ...(ids === '' ? [] : [own(` (${ids})`)])];
}

const describePlace = ({ workspace, project }: PushFacts): string =>
  cleanLine(['svc', workspace, project].filter((part) => part !== null && part !== '').join(' '));

/** Composes one message about one event, or a summary of several. */
export function composeMessage(all: readonly PushFacts[]): PushMessage {
  const [first, ...others] = all;
  if (first === undefined) throw new Error('a message needs an event');
  if (others.length === 0) {
    const { reason, link } = first;
    return {
      heading: describePlace(first),
      lines: [describeEvent(first), ...(reason === null ? [] : [[own(cleanLine(reason))]])],
      link,
    };
  }
  const isOneProject = all.every(({ project }) => project === first.project);
  const left = all.length - MOST_LISTED;
  return {
    heading: describePlace(isOneProject ? first : { ...first, project: null }),
    lines: [
      [own(countEvents(all.map(({ event }) => event)))],
      ...all.slice(0, MOST_LISTED).map(describeEvent),
      ...(left > 0 ? [[own(`… and ${left} more`)]] : []),
    ],
    link: null,
  };
}
