import type { Clock } from '../../core/base/clock.ts';
import type { Log } from '../../core/base/log.ts';
import { GIVE_UP_MS, idleMs, nextTryMs } from '../../notify/sending/index.ts';
import type { ChatChannel, ChatMessageRow } from '../database/tables.ts';
import { createDueLoops } from '../due-loops.ts';
import type { CommandQueue } from '../links/commands.ts';
import type { PendingDecisions } from '../links/pending.ts';
import type { AccountPlans } from '../plans/plans.ts';
import type { ChatBots } from './bots.ts';
import type { CrowdLimits } from './crowds.ts';
import type { DueMessages } from './due-messages.ts';
import type { ChatMessages } from './messages.ts';
import { createMessagePoster } from './post-message.ts';
import type { SentMessages } from './sent-messages.ts';
import { ChatSendError, type ChatService } from './service.ts';
import { createShownFinder } from './shown-message.ts';
import type { ButtonTickets } from './tickets.ts';

// Sends messages and updates them when their text has changed: one loop per channel, so that a slow or missing
// channel delays no other.

/** The interval for checking a channel whose account may not use chats. */
const LOCKED_MS = 3600_000;
/** The minimum interval for retrying a service that refuses the bot. */
const REFUSED_MS = 60_000;

export interface ChatOutbox {
  start(): Promise<void>;
  /** Called when something may have become due. */
  wake(): void;
  /** Resolves when nothing is in progress and nothing more is due. */
  settled(): Promise<void>;
  /** Stops sending, and waits for requests in progress. */
  close(): Promise<void>;
}

export interface ChatOutboxDeps {
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
}: ChatOutboxDeps): ChatOutbox {
  const post = createMessagePoster({
    sent,
    tickets,
    findShown: createShownFinder({ clock, pending, commands, origin }),
  });
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
