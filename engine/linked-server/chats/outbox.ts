import type { Clock } from '../../core/base/clock.ts';
import type { Log } from '../../core/base/log.ts';
import type { PendingDecision } from '../../core/link-protocol/messages.ts';
import { GIVE_UP_MS, idleMs, nextTryMs } from '../../notify/sending/index.ts';
import type { ChatChannel, ChatMessageRow } from '../database/tables.ts';
import { createDueLoops } from '../due-loops.ts';
import type { CommandQueue } from '../links/commands.ts';
import type { PendingDecisions } from '../links/pending.ts';
import type { AccountPlans } from '../plans/plans.ts';
import type { ChatBots } from './bots.ts';
import { CROWD, type CrowdLimits, readCrowd } from './crowds.ts';
import { describeCommand, describeEnd, isFinal } from './describe.ts';
import type { DueMessages } from './due-messages.ts';
import type { MessageFacts } from './message-rows.ts';
import type { ChatMessages } from './messages.ts';
import type { SentMessages } from './sent-messages.ts';
import { type ChatButton, ChatSendError, type ChatService, type ChatSpan } from './service.ts';
import type { ButtonTickets } from './tickets.ts';
import { fingerprintOf, sayCrowd, sayDecision, sayEvent } from './wording.ts';

// Sends messages and updates them when their text has changed: one loop per channel, so that a slow or missing
// channel delays no other.

/** The interval for checking a channel whose account may not use chats. */
const LOCKED_MS = 3600_000;
/** The minimum interval for retrying a service that refuses the bot. */
const REFUSED_MS = 60_000;

/** The current contents of a message. */
interface Shown {
  lines: ChatSpan[][];
  /** Without tickets, which are created when it is sent. */
  buttons: ({ label: string; verb: 'approve' | 'deny' } | { label: string; url: string })[];
  /** The pending decision that it is about. */
  decision: PendingDecision | null;
}

export interface ChatOutbox {
  start(): Promise<void>;
  /** Called when something may have become due. */
  wake(): void;
  /** Resolves when nothing is in progress and nothing more is due. */
  settled(): Promise<void>;
  /** Stops sending, and waits for requests in progress. */
  close(): Promise<void>;
}

export function createChatOutbox({
  clock,
  log,
  plans,
  messages,
  crowds,
  sent,
  due,
  tickets,
  pending,
  commands,
  bots,
  origin,
  random = Math.random,
}: {
  clock: Clock;
  log: Log;
  plans: Pick<AccountPlans, 'entitlementsOf'>;
  messages: Pick<ChatMessages, 'touchOpen'>;
  crowds: CrowdLimits;
  sent: Pick<SentMessages, 'settle' | 'giveUp' | 'postpone' | 'postponeEnd' | 'dropWaiting'>;
  due: DueMessages;
  tickets: ButtonTickets;
  pending: Pick<PendingDecisions, 'find'>;
  commands: Pick<CommandQueue, 'findNewest'>;
  bots: Pick<ChatBots, 'find'>;
  origin: string;
  random?(): number;
}): ChatOutbox {
  /** When each channel was last tried, or had its idle time subtracted. */
  const triedAt = new Map<string, number>();
  const loops = createDueLoops({
    clock,
    log,
    what: 'a message',
    findNextDue: due.findNextDue,
    listDue: due.listDueChannels,
    run: sendDue,
  });

  function chooseButtons(
    row: ChatMessageRow,
    { approval, decision_id }: PendingDecision,
    mayDecideHere: boolean,
  ): Shown['buttons'] {
    if (!mayDecideHere || approval === 'off') return [];
    const url = `${origin}/app/decisions/${row.workspace_id}/${decision_id}`;
    const deny = { label: 'Deny', verb: 'deny' } as const;
    if (approval === 'code') return [deny, { label: 'Approve with a code', url }];
    const open = { label: 'Open', url };
    return approval === 'yes' ? [{ label: 'Approve', verb: 'approve' }, deny, open] : [deny, open];
  }

  async function findShown(row: ChatMessageRow, channel: ChatChannel): Promise<Shown | null> {
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
  }

  const makeButton = async (
    row: ChatMessageRow,
    { decision }: Shown,
    wanted: Shown['buttons'][number],
  ): Promise<ChatButton> =>
    'url' in wanted
      ? wanted
      : {
          label: wanted.label,
          ticket: await tickets.make(row, wanted.verb, decision?.hash ?? ''),
          style: wanted.verb === 'approve' ? 'good' : 'bad',
        };

  /** Sends or updates one message. Throws `ChatSendError`. */
  async function post(row: ChatMessageRow, channel: ChatChannel, service: ChatService): Promise<void> {
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
  }

  /** Handles a message that was not sent or updated. */
  async function settleFailure(
    row: ChatMessageRow,
    channel: ChatChannel,
    service: ChatService,
    { problem, message, retryAfterMs }: ChatSendError,
  ): Promise<void> {
    const now = clock.now();
    log.warn({ channel: channel.id, message: row.id, problem, error: message }, 'a message was not sent');
    const isOfMessage = problem === 'gone' || (problem === 'refused' && service.status().state === 'open');
    if (isOfMessage) {
      await sent.giveUp(row, row.posted_id === null ? message : null);
      return;
    }
    if (now - (row.due_at ?? now) >= GIVE_UP_MS) {
      await sent.giveUp(row, message);
      return;
    }
    const pause = Math.max(
      retryAfterMs ?? nextTryMs(channel.tries + 1, random),
      problem === 'refused' ? REFUSED_MS : 0,
    );
    await sent.postpone(channel, now + pause, message);
  }

  /** Sends the due messages of one channel sequentially. */
  async function sendDue(id: string, isClosing: () => boolean): Promise<number | null> {
    while (!isClosing()) {
      const now = clock.now();
      const channel = await due.findChannel(id);
      if (channel === undefined || channel.next_at > now) return null;
      const service = bots.find(channel.kind);
      const { capabilities } = await plans.entitlementsOf(channel.account_id);
      if (service === null || !capabilities.includes('assistant')) {
        // Outdated messages that waited for a plan are dropped; sent messages are corrected.
        if (service !== null) await sent.dropWaiting(id);
        return now + LOCKED_MS;
      }
      await crowds.gather(channel, now);
      const row = await due.findDue(id, now);
      if (row === undefined) return null;
      const dueAt = Math.max(row.due_at ?? now, channel.next_at);
      const idle = idleMs({ dueAt, triedAt: triedAt.get(id) ?? 0, now });
      if (idle > 0) await sent.postponeEnd(id, idle, now);
      triedAt.set(id, now);
      if (idle > 0) continue;
      try {
        await post(row, channel, service);
      } catch (thrown) {
        if (!(thrown instanceof ChatSendError)) throw thrown;
        await settleFailure(row, channel, service, thrown);
      }
    }
    return null;
  }

  return {
    async start() {
      await messages.touchOpen();
      loops.start();
    },
    wake: loops.wake,
    settled: loops.settled,
    close: loops.close,
  };
}

/** A decision without the fields that only this server has. */
function toPending(decision: PendingDecision & { workspace?: unknown }): PendingDecision {
  const { workspace: _workspace, ...rest } = decision;
  return rest;
}
