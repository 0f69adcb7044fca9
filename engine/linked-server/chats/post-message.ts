import type { PendingDecision } from '../../core/link-protocol/messages.ts';
import type { ChatChannel, ChatMessageRow } from '../database/tables.ts';
import type { MessageFacts } from './message-rows.ts';
import type { SentMessages } from './sent-messages.ts';
import type { ChatButton, ChatService } from './service.ts';
import type { FindShown, ShownMessage } from './shown-message.ts';
import type { ButtonTickets } from './tickets.ts';
import { fingerprintOf } from './wording.ts';

/** Returns a function that sends or updates one message. It throws `ChatSendError`. */
export function createMessagePoster({
  sent,
  tickets,
  findShown,
}: {
  sent: Pick<SentMessages, 'settle' | 'giveUp'>;
  tickets: ButtonTickets;
  findShown: FindShown;
}) {
  const makeButton = async (
    row: ChatMessageRow,
    { decision }: ShownMessage,
    wanted: ShownMessage['buttons'][number],
  ): Promise<ChatButton> =>
    'url' in wanted
      ? wanted
      : {
          label: wanted.label,
          ticket: await tickets.make(row, wanted.verb, decision?.hash ?? ''),
          style: wanted.verb === 'approve' ? 'good' : 'bad',
        };

  return async function post(row: ChatMessageRow, channel: ChatChannel, service: ChatService): Promise<void> {
    const shown = await findShown(row, channel);
    if (shown === null) {
      await sent.giveUp(row, null);
      return;
    }
    const { lines, decision } = shown;
    const looks = fingerprintOf(lines, shown.buttons as readonly ChatButton[]);
    const isChanged = looks !== row.looks || (decision !== null && decision.hash !== row.hash);
    let postedId = row.posted_id;
    if (isChanged) {
      const buttons: ChatButton[] = [];
      for (const each of shown.buttons) buttons.push(await makeButton(row, shown, each));
      if (postedId === null) postedId = await service.send(channel.channel, { lines, buttons });
      else await service.edit(channel.channel, postedId, { lines, buttons });
    }
    const facts = JSON.parse(row.facts) as MessageFacts;
    await sent.settle(row, {
      state: 'sent',
      posted_id: postedId,
      // A message sent before its decision was reported is checked again.
      is_open: decision !== null || (row.state === 'waiting' && row.decision_id !== null) ? 1 : 0,
      hash: decision?.hash ?? row.hash,
      looks,
      ...(decision === null ? {} : { facts: JSON.stringify({ ...facts, decision: toPending(decision) }) }),
    });
  };
}

/** A decision without the fields that only this server has. */
function toPending(decision: PendingDecision & { workspace?: unknown }): PendingDecision {
  const { workspace: _workspace, ...rest } = decision;
  return rest;
}
