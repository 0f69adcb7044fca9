import { cleanLine, countEvents, describeEvent, type MessageSpan, ownSpan } from '../describe-events.ts';
import type { OutboundEvent } from '../events.ts';

/** The facts about an event that a message to a phone may contain: never a prompt, a file, a diff, a path or a question. */
export interface PushFacts {
  /** `test` for one that a person sends to try it. */
  event: OutboundEvent | 'test';
  workspace: string;
  project: string | null;
  task_id: string | null;
  decision_id: string | null;
  session_id: string | null;
  /** The number of a question; its text stays here. */
  ask_id: number | null;
  /** As `server.titles` allows. */
  title: string | null;
  /** In words of svc. */
  reason: string | null;
  link: string | null;
}

/** A message without the form of a service. */
export interface PushMessage {
  /** Its source. */
  heading: string;
  lines: readonly (readonly MessageSpan[])[];
  /** The page of the only event; null for several. */
  link: string | null;
}

/** Events that a message lists; it counts the others. */
const MOST_LISTED = 10;

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
      lines: [describeEvent(first), ...(reason === null ? [] : [[ownSpan(cleanLine(reason))]])],
      link,
    };
  }
  const isOneProject = all.every(({ project }) => project === first.project);
  const left = all.length - MOST_LISTED;
  return {
    heading: describePlace(isOneProject ? first : { ...first, project: null }),
    lines: [
      [ownSpan(countEvents(all.map(({ event }) => event)))],
      ...all.slice(0, MOST_LISTED).map(describeEvent),
      ...(left > 0 ? [[ownSpan(`… and ${left} more`)]] : []),
    ],
    link: null,
  };
}
