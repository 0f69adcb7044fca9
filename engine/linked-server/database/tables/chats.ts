import type { Selectable } from 'kysely';

export const CHAT_KINDS = ['slack', 'telegram'] as const;
export type ChatKind = (typeof CHAT_KINDS)[number];

/** An operator's settings of a chat service: one bot of each. */
interface BotTable {
  kind: ChatKind;
  /** JSON with its tokens, encrypted. */
  settings: string;
  set_by: string;
  set_at: number;
}

/** Memory of bots across restarts. */
interface ChatMemoryTable {
  kind: ChatKind;
  key: string;
  value: string;
  /** When it expires; null for never. */
  until: number | null;
}

/** Users of a chat service who speak for a person. */
interface ChatUserTable {
  kind: ChatKind;
  user_id: string;
  /** Their display name when they connected. */
  name: string;
  /** The chat between them and the bot; null if unknown. */
  private_channel: string | null;
  person_id: string;
  connected_at: number;
}

/** The purpose of a code for a bot: to connect a person, or allow events in a channel. */
export type ChatCodePurpose = 'person' | 'channel';

interface ChatCodeTable {
  code_hash: string;
  kind: ChatKind;
  purpose: ChatCodePurpose;
  person_id: string;
  expires_at: number;
  /** Its sender and place; null before it is sent. */
  user_id: string | null;
  user_name: string | null;
  channel: string | null;
  channel_name: string | null;
  is_private: number | null;
}

/** A channel for events of an account. */
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
  /** The earliest time to send there. */
  next_at: number;
  /** Number of failures since the last success. */
  tries: number;
  /** The reason why nothing arrives there, in our own words. */
  problem: string | null;
  created_at: number;
}

/** Waiting to be sent, sent (and updated), or abandoned. */
export type ChatMessageState = 'waiting' | 'sent' | 'dead';

interface ChatMessageTable {
  /** Increases with time. */
  id: number;
  channel_id: string;
  account_id: string;
  /** Null for a message about several events. */
  workspace_id: string | null;
  decision_id: string | null;
  /** The name of the event, or `several`. */
  event: string;
  event_id: string;
  /** JSON: the subject. */
  facts: string;
  state: ChatMessageState;
  /** The service's id; null before. */
  posted_id: string | null;
  /** 1 while its decision is pending. */
  is_open: number;
  /** How the decision ended, according to an event. */
  ended: string | null;
  /** The hash of the decision in the last shown version. */
  hash: string | null;
  /** Increases whenever the contents may have to change. */
  version: number;
  /** A hash of the last shown contents. */
  looks: string | null;
  /** When it is checked next; null for never. */
  due_at: number | null;
  created_at: number;
  sent_at: number | null;
}

interface ChatTicketTable {
  ticket_hash: string;
  message_id: number;
  verb: 'approve' | 'deny';
  /** The decision's hash, as the message showed it. */
  hash: string;
}

/** Bots, their connected users and channels, and their messages. */
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
