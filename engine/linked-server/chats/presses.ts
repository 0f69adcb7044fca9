import type { Clock } from '../../core/base/clock.ts';
import type { ChatKind } from '../database/tables.ts';
import type { CommandQueue } from '../links/commands.ts';
import type { PendingDecisions } from '../links/pending.ts';
import type { LinkPolls } from '../links/polls.ts';
import type { WorkspaceLinks } from '../links/workspaces.ts';
import type { AccountPlans } from '../plans/plans.ts';
import type { ChatConnections } from './connections.ts';
import { describeCommand, describeEnd, isFinal } from './describe.ts';
import { KIND_NAMES } from './kind-names.ts';
import type { ChatMessages } from './messages.ts';
import type { SentMessages } from './sent-messages.ts';
import type { ButtonPress } from './service.ts';
import { joinSpans } from './spans.ts';
import type { StrangerAnswers } from './stranger-answers.ts';
import type { ButtonTickets } from './tickets.ts';

export const notConnected = (kind: ChatKind, origin: string): string =>
  `You are not connected to a person of this server, so nothing was done. Connect ${KIND_NAMES[kind]} at ${origin}/app/chats`;

/** Handles the press of a button: a request of a connected person, which the workspace decides on. */
export function createPresses({
  clock,
  plans,
  connections,
  strangers,
  messages,
  sent,
  tickets,
  pending,
  commands,
  polls,
  workspaces,
  origin,
  wake,
}: {
  clock: Clock;
  plans: Pick<AccountPlans, 'entitlementsOf'>;
  connections: Pick<ChatConnections, 'findPerson'>;
  strangers: StrangerAnswers;
  messages: Pick<ChatMessages, 'touchDecision'>;
  sent: Pick<SentMessages, 'adopt'>;
  tickets: ButtonTickets;
  pending: Pick<PendingDecisions, 'find'>;
  commands: Pick<CommandQueue, 'give' | 'findNewest'>;
  polls: Pick<LinkPolls, 'isConnected'>;
  workspaces: Pick<WorkspaceLinks, 'find'>;
  origin: string;
  /** Called when messages may have changed. */
  wake(): void;
}): { press(kind: ChatKind, press: ButtonPress): Promise<string | null> } {
  return {
    async press(kind, { user, place, messageId, ticket }) {
      const person = await connections.findPerson(kind, user.id);
      if (person === null) return strangers.limit(kind, user, notConnected(kind, origin));
      const found = await tickets.find(ticket);
      // A ticket of another account, or one moved to another place, is treated as unknown.
      if (
        found === null ||
        found.account_id !== person.account_id ||
        found.kind !== kind ||
        found.channel !== place.channel ||
        found.workspace_id === null ||
        found.decision_id === null
      )
        return 'This message is no longer known, and nothing was done.';
      const { verb, ticket_of_hash: hash, decision_id: id, workspace_id, posted_id } = found;
      const { capabilities, plan } = await plans.entitlementsOf(person.account_id);
      if (!capabilities.includes('assistant'))
        return `The plan ${plan} has no assistant, and nothing was done. Decide at ${origin}/app`;
      if (posted_id !== messageId) await sent.adopt(found, messageId);
      const [decision, workspace, newest] = await Promise.all([
        pending.find(person.account_id, workspace_id, id),
        workspaces.find(person.account_id, workspace_id),
        commands.findNewest(workspace_id, id),
      ]);
      // The workspace answers a command before it reports that the decision is no longer pending.
      if (decision === null || workspace === null || isFinal(newest)) {
        await messages.touchDecision(workspace_id, id);
        wake();
        return `${id}: ${joinSpans(describeEnd(newest, found.ended))}`;
      }
      // Without a code it would count as a wrong one.
      if (verb === 'approve' && decision.approval === 'code')
        return `Approval requires a one-time code: ${origin}/app/decisions/${workspace_id}/${id}`;
      // The message itself shows the decision of the workspace.
      const command = await commands.give(workspace, {
        verb,
        decision: id,
        hash,
        person: person.name,
        channel: kind,
      });
      const isConnected = polls.isConnected(workspace_id);
      return joinSpans(describeCommand(command, { now: clock.now(), isConnected }).text);
    },
  };
}
