import { createHash } from 'node:crypto';
import { formatCount } from '../../core/base/text.ts';
import type { PendingDecision } from '../../core/link-protocol/messages.ts';
import { type CrowdFacts, countCrowd } from './crowds.ts';
import { describeOrigin, nameDecision } from './describe.ts';
import type { MessageFacts } from './message-rows.ts';
import type { Button, ChatMessage, Span } from './service.ts';
import { own, say } from './spans.ts';

// Builds message texts. Text from outside is never joined to our own: it stays a separate span.

/** The name of an event, before its title. */
const EVENT_WORDS: Readonly<Record<string, string>> = {
  task_created: 'New task',
  needs_approval: 'Waits for approval',
  approved: 'Approved',
  denied: 'Denied',
  dispatched: 'Started',
  sealed: 'Sealed',
  failed: 'Failed',
  ask_opened: 'A worker asks',
  ask_answered: 'Answered',
  ask_timeout: 'Not answered in time',
  worktree_promoted: 'Promoted',
  promote_conflict: 'Conflict during promotion',
  lock_expired: 'A lock expired',
  budget_exhausted: 'A budget is used up',
  alert: 'Alert',
};

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

function describePlace(workspace: string, project: string | null): Span[] {
  return project === null ? say`${workspace}` : say`${workspace}, ${project}`;
}

/** Builds a message about an event that requires no action. */
export function sayEvent({ workspace, event }: MessageFacts): Span[][] {
  const title = textOf(event.title) ?? textOf(event.agent) ?? textOf(event.task_id) ?? 'svc';
  const ids = [event.decision_id, event.task_id, event.session_id].flatMap((id) => textOf(id) ?? []);
  const agent = textOf(event.agent);
  const reason = textOf(event.reason);
  return [
    say`${own(EVENT_WORDS[event.event] ?? event.event.replaceAll('_', ' '))}: ${title}`,
    say`Where: ${describePlace(workspace, textOf(event.project))}`,
    ...(agent === null ? [] : [say`Agent: ${agent}`]),
    ...(reason === null ? [] : [say`Why: ${reason.replaceAll('_', ' ')}`]),
    ...(ids.length === 0 ? [] : [own(ids.join(', '))]),
  ];
}

/** Builds a message about a decision, and its outcome. */
export function sayDecision(
  workspace: string,
  decision: PendingDecision,
  { isWaiting, said }: { isWaiting: boolean; said: Span[] | null },
): Span[][] {
  const { agent, project, prompt_length, decision_id, task_id, hash, why } = decision;
  return [
    say`${own(isWaiting ? 'Waits for approval' : 'Waited for approval')}: ${nameDecision(decision)}`,
    say`Where: ${describePlace(workspace, project)}`,
    say`Agent: ${agent ?? own('none')}`,
    say`From: ${describeOrigin(decision)}`,
    say`Why: ${why}`,
    own(`Prompt ${prompt_length.toLocaleString('en')} characters, not shown here`),
    own(`${decision_id} about ${task_id}, fingerprint ${hash.slice(0, 8)}`),
    ...(said === null ? [] : [said]),
  ];
}

/** Builds one message for several events. */
export function sayCrowd({ counts, isMore }: CrowdFacts): Span[][] {
  return [
    own(formatCount(countCrowd({ counts }), isMore ? 'more event' : 'event')),
    ...Object.entries(counts).map(([event, count]) =>
      own(`${EVENT_WORDS[event] ?? event.replaceAll('_', ' ')}: ${count}`),
    ),
  ];
}

/** Fingerprints the contents of a message: unchanged as long as no update is needed. Tickets are left out, since each is new. */
export const fingerprintOf = (lines: ChatMessage['lines'], buttons: readonly Button[]): string =>
  createHash('sha256')
    .update(JSON.stringify([lines, buttons.map((each) => ({ ...each, ticket: undefined }))]))
    .digest('hex');
