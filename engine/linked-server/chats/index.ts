import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { Log } from '../../core/base/log.ts';
import type { ChangeLog } from '../change-log.ts';
import type { Tables } from '../database/tables.ts';
import type { DecisionFollower } from '../decision-follower.ts';
import type { LinkedEvent } from '../deliveries/linked-event.ts';
import type { EventOrigin } from '../deliveries/queue-deliveries.ts';
import type { CommandQueue } from '../links/commands.ts';
import type { PendingDecisions } from '../links/pending.ts';
import type { LinkPolls } from '../links/polls.ts';
import type { WorkspaceLinks } from '../links/workspaces.ts';
import type { FailureCounter } from '../people/failures.ts';
import type { AccountPlans } from '../plans/plans.ts';
import type { SecretSealer } from '../sealing.ts';
import { type ChatBots, createBots } from './bots.ts';
import { type ChatChannels, createChannels } from './channels.ts';
import { type ChatConnections, createConnections } from './connections.ts';
import { createCrowds } from './crowds.ts';
import { createDueMessages } from './due-messages.ts';
import { openMessageRows } from './message-rows.ts';
import { createMessages } from './messages.ts';
import { createChatOutbox } from './outbox.ts';
import { createPresses } from './presses.ts';
import type { ChatReach } from './running-bots.ts';
import { createSentMessages } from './sent-messages.ts';
import { createStrangerAnswers } from './stranger-answers.ts';
import { createTickets } from './tickets.ts';
import { createWords } from './words.ts';

/** The assistant: events and decisions of accounts in Slack and Telegram. */
export interface Chats extends DecisionFollower {
  bots: ChatBots;
  connections: ChatConnections;
  channels: ChatChannels;
  /** Begins to look up the channels of an account, which `queue` needs in the same transaction. */
  expectEvents(change: Transaction<Tables>, account: string): Promise<unknown>;
  /** Writes the messages for these events, in the caller's transaction. Call `wake` after the commit. */
  queue(change: Transaction<Tables>, origin: EventOrigin, events: readonly LinkedEvent[]): Promise<boolean>;
  /** Called when a command about a decision was requested or answered. */
  followCommand(workspace: string, decision: string): Promise<void>;
  /** Resolves when nothing is in progress and nothing more is due. */
  settled(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function createChats({
  reach,
  links,
  ...parts
}: {
  db: Kysely<Tables>;
  clock: Clock;
  log: Log;
  changes: ChangeLog;
  plans: AccountPlans;
  failures: FailureCounter;
  sealer: SecretSealer;
  links: { pending: PendingDecisions; commands: CommandQueue; polls: LinkPolls; workspaces: WorkspaceLinks };
  reach: ChatReach;
}): Promise<Chats> {
  const { db, clock } = parts;
  const { origin } = reach;
  let starting: Promise<void> = Promise.resolve();
  const ofMessages = { db, clock, rows: await openMessageRows({ db, clock }) };
  const messages = createMessages(ofMessages);
  const sent = createSentMessages(ofMessages);
  const tickets = createTickets(db);
  const connections = createConnections({
    ...parts,
    follower: { followDecisions: messages.followDecisions, wake: () => outbox.wake() },
  });
  const channels = createChannels(parts);
  const wakeOutbox = (): void => outbox.wake();
  const strangers = createStrangerAnswers({ clock });
  const { press } = createPresses({
    ...parts,
    ...links,
    connections,
    strangers,
    messages,
    sent,
    tickets,
    origin,
    wake: wakeOutbox,
  });
  const { answer } = createWords({ ...parts, ...links, connections, strangers, channels, origin });
  const bots = createBots({
    ...parts,
    reach,
    makeHandlers: (kind) => ({
      onPress: (pressed) => press(kind, pressed),
      onWords: (words) => answer(kind, words),
    }),
    onChanged: wakeOutbox,
  });
  const outbox = createChatOutbox({
    ...parts,
    ...links,
    messages,
    crowds: createCrowds(ofMessages),
    sent,
    due: createDueMessages(db),
    tickets,
    bots,
    origin,
  });
  return {
    bots,
    connections,
    channels,
    expectEvents: messages.expectEvents,
    queue: messages.queue,
    followDecisions: messages.followDecisions,
    async followCommand(workspace, decision) {
      await messages.touchDecision(workspace, decision);
      wakeOutbox();
    },
    wake: wakeOutbox,
    settled: outbox.settled,
    start() {
      starting = bots.start().then(outbox.start);
      return starting;
    },
    async close() {
      await starting.catch(() => undefined);
      await outbox.close();
      await bots.close();
    },
  };
}
