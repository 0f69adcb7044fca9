import type { Selectable } from 'kysely';
import type { ChatKind } from '../../chats/service.ts';

/** What an operator has set of a chat service: one bot of each. */
interface BotTable {
  kind: ChatKind;
  /** JSON with its tokens, encrypted. */
  settings: string;
  set_by: string;
  set_at: number;
}

/** What bots remember across restarts. */
interface ChatMemoryTable {
  kind: ChatKind;
  key: string;
  value: string;
  /** When it is forgotten; null for never. */
  until: number | null;
}

/** Users of a chat service who speak for a person. */
interface ChatUserTable {
  kind: ChatKind;
  user_id: string;
  /** What they called themselves when they connected. */
  name: string;
  /** Between them and the bot; null where it is not known. */
  private_channel: string | null;
  person_id: string;
  connected_at: number;
}

/** What a code that is sent to a bot does: it connects a person, or lets events into a channel. */
export type ChatCodePurpose = 'person' | 'channel';

interface ChatCodeTable {
  code_hash: string;
  kind: ChatKind;
  purpose: ChatCodePurpose;
  person_id: string;
  expires_at: number;
  /** Who has sent it, and where; null while nobody has. */
  user_id: string | null;
  user_name: string | null;
  channel: string | null;
  channel_name: string | null;
  is_private: number | null;
}

/** Where an account wants to hear of its events. */
interface ChatChannelTable {
  id: string;
  account_id: string;
  kind: ChatKind;
  channel: string;
  name: string;
  is_private: number;
  /** JSON: names of events. */
  events: string;
  muted_until: number;
  /** Nothing is sent there before. */
  next_at: number;
  /** Failures since something was sent last. */
  tries: number;
  /** Why nothing arrives there, in our own words. */
  problem: string | null;
  created_at: number;
}

/** Waiting to be sent, sent (and changed when what it says has changed), or given up. */
export type ChatMessageState = 'waiting' | 'sent' | 'dead';

interface ChatMessageTable {
  /** Grows with time. */
  id: number;
  channel_id: string;
  account_id: string;
  /** Null for a message about several events. */
  workspace_id: string | null;
  decision_id: string | null;
  /** The name of the event, or `several`. */
  event: string;
  event_id: string;
  /** JSON: what is said. */
  facts: string;
  state: ChatMessageState;
  /** The id that the service gave it; null before. */
  posted_id: string | null;
  /** 1 while the decision that it is about waits. */
  is_open: number;
  /** How the decision ended, as an event has told. */
  ended: string | null;
  /** The hash of the decision that it showed last. */
  hash: string | null;
  /** Grows whenever something else may have to be shown. */
  version: number;
  /** What was shown last, as a hash. */
  looks: string | null;
  /** When it is looked at next; null when nothing is to be done. */
  due_at: number | null;
  created_at: number;
  sent_at: number | null;
}

interface ChatTicketTable {
  ticket_hash: string;
  message_id: number;
  verb: 'approve' | 'deny';
  /** Of the decision, as the message showed it. */
  hash: string;
}

/** Bots, who and what was connected to them, and what they say. */
export interface ChatTables {
  bots: BotTable;
  chat_memory: ChatMemoryTable;
  chat_users: ChatUserTable;
  chat_codes: ChatCodeTable;
  chat_channels: ChatChannelTable;
  chat_messages: ChatMessageTable;
  chat_tickets: ChatTicketTable;
}

export type ChatUserRow = Selectable<ChatUserTable>;
export type ChatCode = Selectable<ChatCodeTable>;
export type ChatChannel = Selectable<ChatChannelTable>;
export type ChatMessageRow = Selectable<ChatMessageTable>;
