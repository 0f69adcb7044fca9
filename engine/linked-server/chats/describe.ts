import type { CommandOutcome } from '../../core/link-protocol/messages.ts';
import type { Command } from '../database/tables.ts';
import type { WaitingDecision } from '../links/pending.ts';
import type { Span } from './service.ts';
import { own, say } from './spans.ts';

// Formats decisions and their outcomes as sentences for pages and chats. Values from outside are kept separate.

const SOURCES: Readonly<Record<WaitingDecision['source'], string>> = {
  task: 'a signed request',
  codehost: 'the code host',
  chat: 'the chat',
  cli: 'a terminal',
  tool: 'an agent',
  tui: 'the dashboard',
};

export const describeOrigin = ({ source, author }: Pick<WaitingDecision, 'source' | 'author'>): Span[] =>
  author === null ? own(SOURCES[source]) : say`${own(SOURCES[source])}, ${author}`;

/** Names a decision: its title, or a replacement. */
export const nameDecision = ({
  title,
  agent,
  task_id,
}: Pick<WaitingDecision, 'title' | 'agent' | 'task_id'>): string => title ?? agent ?? task_id;

/** Formats a time of day, such as `11:05 UTC`. */
export const clockTime = (at: number): string => `${new Date(at).toISOString().slice(11, 16)} UTC`;

const WAYS: Readonly<Record<string, string>> = {
  page: 'on the web',
  telegram: 'in Telegram',
  slack: 'in Slack',
  automation: 'by an automation',
};

function describeDecided({ state, decided_by, session_id }: CommandOutcome): Span[] {
  const by = decided_by === null ? [] : say` by ${decided_by}`;
  const started = session_id === null ? [] : say` and started ${own(session_id)}`;
  return say`It was already ${own(state ?? 'decided')}${by}${started}.`;
}

/** Describes the outcome of a command, for the person who gave it. */
function describeOutcome({ person, channel, outcome }: Command): {
  text: Span[];
  /** True if the request was fulfilled. */
  isGood: boolean;
  /** True if it states how the decision ended. */
  isFinal: boolean;
} {
  const said = JSON.parse(outcome ?? '{}') as CommandOutcome;
  const somebody = person ?? 'no one';
  const who = say`${somebody} ${own(WAYS[channel ?? ''] ?? 'from outside')}`;
  const texts: Record<CommandOutcome['outcome'], Span[]> = {
    started: say`Approved by ${who}. ${own(said.session_id ?? 'It')} has started.`,
    denied: say`Denied by ${who}.`,
    refreshed: say`The lease was fetched again.`,
    already_decided: describeDecided(said),
    changed: say`The decision has changed since you looked, and nothing was started. Review the decision that replaced it.`,
    unknown_decision: say`The workspace has no such decision.`,
    not_allowed: say`The workspace does not let ${who} decide: ${own('server.decide')} of its ${own('svc.yaml')} does not allow it.`,
    actor_denied: say`The workspace does not let ${`${somebody}@${channel ?? ''}`} act: ${own('policy.actors')} of its ${own('svc.yaml')} does not list them.`,
    remote_untrusted: say`The task's author is untrusted, so it can only be approved at the machine.`,
    code_missing: say`The workspace requires a code but cannot check one yet: ${own('svc link code')} sets codes up at the machine.`,
    code_invalid: say`The code was wrong, used or missing.`,
    code_closed: say`Too many codes were wrong: approval from outside is blocked for a quarter of an hour.`,
    too_old: say`It reached the workspace too late.`,
    unknown_verb: say`The workspace did not understand it; it may be older than this server.`,
    refused: say`The workspace could not do it: ${(said.code ?? 'unknown').replaceAll('_', ' ')}.`,
  };
  return {
    text: texts[said.outcome] ?? own('The workspace gave an answer that this server does not know.'),
    isGood: ['started', 'denied', 'refreshed'].includes(said.outcome),
    isFinal: ['started', 'denied', 'already_decided'].includes(said.outcome),
  };
}

/** Reports whether a command states how its decision ended, which may still be in the list of pending ones. */
export const isFinal = (command: Command | null): boolean =>
  command !== null && command.outcome !== null && describeOutcome(command).isFinal;

/** Describes how a closed decision ended: by its newest command, or an event. */
export function describeEnd(command: Command | null, ended: string | null): Span[] {
  if (command !== null && isFinal(command)) return describeOutcome(command).text;
  if (ended !== null) return own(ended === 'approved' ? 'It was approved.' : 'It was denied.');
  return own('It is no longer pending.');
}

/** Describes a command: how it ended, or what it waits for. */
export function describeCommand(
  command: Command,
  { now, isConnected = null }: { now: number; isConnected?: boolean | null },
): { text: Span[]; isGood: boolean } {
  if (command.outcome !== null) return describeOutcome(command);
  const what = say`${command.person ?? 'Someone'} asked to ${own(command.verb)} this`;
  const until = own(clockTime(command.expires_at));
  if (command.expires_at <= now)
    return {
      text: say`${what}, but the workspace did not answer by ${until}.`,
      isGood: false,
    };
  // A permanent message does not show the state of that moment.
  if (isConnected === null)
    return { text: say`${what}. It waits for the workspace until ${until}.`, isGood: true };
  const why = own(isConnected ? 'The workspace has not answered yet' : 'The workspace is offline');
  return { text: say`${what}. ${why}; this waits until ${until}.`, isGood: true };
}
