import { createHash } from 'node:crypto';
import { formatCount } from '../../core/base/text.ts';
import type { PendingDecision } from '../../core/link-protocol/messages.ts';
import { EVENT_WORDS } from '../../notify/sending/index.ts';
import { type CrowdFacts, countCrowd } from './crowds.ts';
import { describeOrigin, nameDecision } from './describe.ts';
import type { MessageFacts } from './message-rows.ts';
import type { ChatButton, ChatMessage, ChatSpan } from './service.ts';
import { formatSpans, own } from './spans.ts';

// Builds message texts. Text from outside is never joined to our own: it stays a separate span.

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

function describePlace(workspace: string, project: string | null): ChatSpan[] {
  return project === null ? formatSpans`${workspace}` : formatSpans`${workspace}, ${project}`;
}

/** Builds a message about an event that requires no action. */
export function sayEvent({ workspace, event }: MessageFacts): ChatSpan[][] {
  const title = textOf(event.title) ?? textOf(event.agent) ?? textOf(event.task_id) ?? 'svc';
  const ids = [event.decision_id, event.task_id, event.session_id].flatMap((id) => textOf(id) ?? []);
  const agent = textOf(event.agent);
  const reason = textOf(event.reason);
  return [
    formatSpans`${own(EVENT_WORDS[event.event] ?? event.event.replaceAll('_', ' '))}: ${title}`,
    formatSpans`Where: ${describePlace(workspace, textOf(event.project))}`,
    ...(agent === null ? [] : [formatSpans`Agent: ${agent}`]),
    ...(reason === null ? [] : [formatSpans`Why: ${reason.replaceAll('_', ' ')}`]),
    ...(ids.length === 0 ? [] : [own(ids.join(', '))]),
  ];
}

const describeReference = (reference: string, url: string | null): ChatSpan[] =>
  url == null ? formatSpans`${reference}` : formatSpans`${reference} ${url}`;

/** Builds a message about a decision, and its outcome. */
export function sayDecision(
  workspace: string,
  decision: PendingDecision,
  { isWaiting, said }: { isWaiting: boolean; said: ChatSpan[] | null },
): ChatSpan[][] {
  const { agent, project, prompt_length, decision_id, task_id, hash, why, reference, url } = decision;
  return [
    formatSpans`${own(isWaiting ? 'Waits for approval' : 'Waited for approval')}: ${nameDecision(decision)}`,
    formatSpans`Where: ${describePlace(workspace, project)}`,
    formatSpans`Agent: ${agent ?? own('none')}`,
    formatSpans`From: ${describeOrigin(decision)}`,
    ...(reference == null ? [] : [formatSpans`About: ${describeReference(reference, url)}`]),
    formatSpans`Why: ${why}`,
    own(`Prompt ${prompt_length.toLocaleString('en')} characters, not shown here`),
    own(`${decision_id} about ${task_id}, fingerprint ${hash.slice(0, 8)}`),
    ...(said === null ? [] : [said]),
  ];
}

/** Builds one message for several events. */
export function sayCrowd({ counts, isMore }: CrowdFacts): ChatSpan[][] {
  return [
    own(formatCount(countCrowd({ counts }), isMore ? 'more event' : 'event')),
    ...Object.entries(counts).map(([event, count]) =>
      own(`${EVENT_WORDS[event] ?? event.replaceAll('_', ' ')}: ${count}`),
    ),
  ];
}

/** Fingerprints the contents of a message: unchanged as long as no update is needed. Tickets are left out, since each is new. */
export const fingerprintOf = (lines: ChatMessage['lines'], buttons: readonly ChatButton[]): string =>
  createHash('sha256')
    .update(JSON.stringify([lines, buttons.map((each) => ({ ...each, ticket: undefined }))]))
    .digest('hex');
