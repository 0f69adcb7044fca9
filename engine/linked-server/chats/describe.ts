import type { CommandOutcome } from '../../core/link-protocol/messages.ts';
import type { CommandRow } from '../database/tables.ts';
import type { WaitingDecision } from '../links/pending.ts';
import type { ChatSpan } from './service.ts';
import { formatSpans, own } from './spans.ts';

// Formats decisions and their outcomes as sentences for pages and chats. Values from outside are kept separate.

const SOURCES: Readonly<Record<WaitingDecision['source'], string>> = {
  task: 'a signed request',
  codehost: 'the code host',
  chat: 'the chat',
  cli: 'a terminal',
  tool: 'an agent',
  tui: 'the dashboard',
};

/** Names where a task comes from: its kind, its author with the role in the repository. */
export function describeOrigin({
  source,
  author,
  author_role: role,
}: Pick<WaitingDecision, 'source' | 'author' | 'author_role'>): ChatSpan[] {
  if (author === null) return own(SOURCES[source]);
  const named = formatSpans`${own(SOURCES[source])}, ${author}`;
  return role == null ? named : formatSpans`${named} (${role.replaceAll('_', ' ')})`;
}

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

function describeDecided({ state, decided_by, session_id }: CommandOutcome): ChatSpan[] {
  const by = decided_by === null ? [] : formatSpans` by ${decided_by}`;
  const started = session_id === null ? [] : formatSpans` and started ${own(session_id)}`;
  return formatSpans`It was already ${own(state ?? 'decided')}${by}${started}.`;
}

/** Describes the outcome of a command, for the person who gave it. */
function describeOutcome({ person, channel, outcome }: CommandRow): {
  text: ChatSpan[];
  /** True if the request was fulfilled. */
  isGood: boolean;
  /** True if it states how the decision ended. */
  isFinal: boolean;
} {
  const said = JSON.parse(outcome ?? '{}') as CommandOutcome;
  const somebody = person ?? 'no one';
  const who = formatSpans`${somebody} ${own(WAYS[channel ?? ''] ?? 'from outside')}`;
  const texts: Record<CommandOutcome['outcome'], ChatSpan[]> = {
    started: formatSpans`Approved by ${who}. ${own(said.session_id ?? 'It')} has started.`,
    denied: formatSpans`Denied by ${who}.`,
    refreshed: formatSpans`The lease was fetched again.`,
    already_decided: describeDecided(said),
    changed: formatSpans`The decision has changed since you looked, and nothing was started. Review the decision that replaced it.`,
    unknown_decision: formatSpans`The workspace has no such decision.`,
    not_allowed: formatSpans`The workspace does not let ${who} decide: ${own('server.decide')} of its ${own('svc.yaml')} does not allow it.`,
    actor_denied: formatSpans`The workspace does not let ${`${somebody}@${channel ?? ''}`} act: ${own('policy.actors')} of its ${own('svc.yaml')} does not list them.`,
    remote_untrusted: formatSpans`The task's author is untrusted, so it can only be approved at the machine.`,
    code_missing: formatSpans`The workspace requires a code but cannot check one yet: ${own('svc link code')} sets codes up at the machine.`,
    code_invalid: formatSpans`The code was wrong, used or missing.`,
    code_closed: formatSpans`Too many codes were wrong: approval from outside is blocked for a quarter of an hour.`,
    too_old: formatSpans`It reached the workspace too late.`,
    unknown_verb: formatSpans`The workspace did not understand it; it may be older than this server.`,
    refused: formatSpans`The workspace could not do it: ${(said.code ?? 'unknown').replaceAll('_', ' ')}.`,
  };
  return {
    text: texts[said.outcome] ?? own('The workspace gave an answer that this server does not know.'),
    isGood: ['started', 'denied', 'refreshed'].includes(said.outcome),
    isFinal: ['started', 'denied', 'already_decided'].includes(said.outcome),
  };
}

/** Reports whether a command states how its decision ended, which may still be in the list of pending ones. */
export const isFinal = (command: CommandRow | null): boolean =>
  command !== null && command.outcome !== null && describeOutcome(command).isFinal;

/** Describes how a closed decision ended: by its newest command, or an event. */
export function describeEnd(command: CommandRow | null, ended: string | null): ChatSpan[] {
  if (command !== null && isFinal(command)) return describeOutcome(command).text;
  if (ended !== null) return own(ended === 'approved' ? 'It was approved.' : 'It was denied.');
  return own('It is no longer pending.');
}

/** Describes a command: how it ended, or what it waits for. */
export function describeCommand(
  command: CommandRow,
  { now, isConnected = null }: { now: number; isConnected?: boolean | null },
): { text: ChatSpan[]; isGood: boolean } {
  if (command.outcome !== null) return describeOutcome(command);
  const what = formatSpans`${command.person ?? 'Someone'} asked to ${own(command.verb)} this`;
  const until = own(clockTime(command.expires_at));
  if (command.expires_at <= now)
    return {
      text: formatSpans`${what}, but the workspace did not answer by ${until}.`,
      isGood: false,
    };
  // A permanent message does not show the state of that moment.
  if (isConnected === null)
    return { text: formatSpans`${what}. It waits for the workspace until ${until}.`, isGood: true };
  const why = own(isConnected ? 'The workspace has not answered yet' : 'The workspace is offline');
  return { text: formatSpans`${what}. ${why}; this waits until ${until}.`, isGood: true };
}
