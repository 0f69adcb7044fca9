import type { Clock } from '../../core/base/clock.ts';
import type { PendingDecision } from '../../core/link-protocol/messages.ts';
import type { ChatChannel, ChatMessageRow } from '../database/tables.ts';
import type { CommandQueue } from '../links/commands.ts';
import type { PendingDecisions } from '../links/pending.ts';
import { CROWD, readCrowd } from './crowds.ts';
import { describeCommand, describeEnd, isFinal } from './describe.ts';
import type { MessageFacts } from './message-rows.ts';
import type { ChatSpan } from './service.ts';
import { sayCrowd, sayDecision, sayEvent } from './wording.ts';

/** The current contents of a message. */
export interface ShownMessage {
  lines: ChatSpan[][];
  /** Without tickets, which are created when it is sent. */
  buttons: ({ label: string; verb: 'approve' | 'deny' } | { label: string; url: string })[];
  /** The pending decision that it is about. */
  decision: PendingDecision | null;
}

export type FindShown = (row: ChatMessageRow, channel: ChatChannel) => Promise<ShownMessage | null>;

/** Returns a function that finds the current contents of a message; null if it is not to be sent. */
export function createShownFinder({
  clock,
  pending,
  commands,
  origin,
}: {
  clock: Clock;
  pending: Pick<PendingDecisions, 'find'>;
  commands: Pick<CommandQueue, 'findNewest'>;
  origin: string;
}): FindShown {
  function chooseButtons(
    row: ChatMessageRow,
    { approval, decision_id }: PendingDecision,
    mayDecideHere: boolean,
  ): ShownMessage['buttons'] {
    if (!mayDecideHere || approval === 'off') return [];
    const url = `${origin}/app/decisions/${row.workspace_id}/${decision_id}`;
    const deny = { label: 'Deny', verb: 'deny' } as const;
    if (approval === 'code') return [deny, { label: 'Approve with a code', url }];
    const open = { label: 'Open', url };
    return approval === 'yes' ? [{ label: 'Approve', verb: 'approve' }, deny, open] : [deny, open];
  }

  return async function findShown(row: ChatMessageRow, channel: ChatChannel): Promise<ShownMessage | null> {
    if (row.event === CROWD) {
      const buttons = [{ label: 'Open', url: `${origin}/app` }];
      return { lines: sayCrowd(readCrowd(row)), buttons, decision: null };
    }
    const facts = JSON.parse(row.facts) as MessageFacts;
    if (row.workspace_id === null || row.decision_id === null)
      return { lines: sayEvent(facts), buttons: [], decision: null };
    const waiting = await pending.find(channel.account_id, row.workspace_id, row.decision_id);
    const command = await commands.findNewest(row.workspace_id, row.decision_id);
    const hasEnded = row.ended !== null || isFinal(command);
    if (waiting === null || hasEnded) {
      // Decided before anyone was asked.
      if (row.state === 'waiting' && hasEnded) return null;
      const said = describeEnd(command, row.ended);
      const known = facts.decision ?? waiting;
      const lines =
        known === null
          ? [...sayEvent(facts), ...(row.state === 'sent' ? [said] : [])]
          : sayDecision(facts.workspace, known, { isWaiting: false, said });
      return { lines, buttons: [], decision: null };
    }
    const now = clock.now();
    const isAsked = command !== null && command.outcome === null && command.expires_at > now;
    const said = command === null ? null : describeCommand(command, { now }).text;
    return {
      lines: sayDecision(waiting.workspace.name, waiting, { isWaiting: true, said }),
      buttons: isAsked ? [] : chooseButtons(row, waiting, waiting.workspace.channels.includes(channel.kind)),
      decision: waiting,
    };
  };
}
