// The interface of a chat service. `index.ts` decides permissions and texts; `telegram/` and `slack/` implement each service.

import type { ChatKind } from '../database/tables.ts';

/** A piece of a line. Text from outside is shown literally: it cannot format, mention, link or unfurl. */
export interface ChatSpan {
  text: string;
  isOutside: boolean;
}

export type ChatButton =
  /** Returned as `Press.ticket` when pressed: at most 64 bytes. */
  | { label: string; ticket: string; style: 'good' | 'bad' | 'plain' }
  /** Opens a page of the server. */
  | { label: string; url: string };

export interface ChatMessage {
  lines: readonly (readonly ChatSpan[])[];
  /** In one row; an empty list removes the buttons of a message. */
  buttons: readonly ChatButton[];
}

/** A user of a chat service: the id never changes, the name is their current one. */
export interface ChatUser {
  id: string;
  name: string;
}

/** The place of an action. */
export interface ChatPlace {
  /** The id of a channel, a group or a private chat. */
  channel: string;
  /** Its display name; null if the service does not report it. */
  channelName: string | null;
  /** True for a chat between one person and the bot. */
  isPrivate: boolean;
}

export interface ButtonPress {
  user: ChatUser;
  place: ChatPlace;
  /** The id of the message with the button. */
  messageId: string;
  ticket: string;
}

export interface ChatText {
  user: ChatUser;
  place: ChatPlace;
  /** Without the name of the bot or a leading slash. */
  text: string;
}

/**
 * Handlers for people's actions. Both may be called twice for one action; the answer is for that person only, and
 * null for none.
 */
export interface ChatHandlers {
  onPress(press: ButtonPress): Promise<string | null>;
  onWords(words: ChatText): Promise<string | null>;
}

/** A service's memory across restarts; it defines keys and ids. */
export interface ChatMemory {
  read(key: string): Promise<string | null>;
  write(key: string, value: string): Promise<void>;
  /** False if the id was claimed before and that has not ended: repeated deliveries are handled once. */
  claim(id: string, until: number): Promise<boolean>;
}

/** The reason why something was not sent. */
export type SendProblem =
  /** Temporary: the network, a limit, an error of theirs. */
  | 'later'
  /** The message or the channel is missing, or the bot has no access. */
  | 'gone'
  /** The service rejects the bot's token, or this request. */
  | 'refused';

export class ChatSendError extends Error {
  readonly problem: SendProblem;
  /** How long the service asks to wait, ms. */
  readonly retryAfterMs: number | null;
  /** @param message in svc's own words, without anything from the service's answer */
  constructor(problem: SendProblem, message: string, retryAfterMs: number | null = null) {
    super(message);
    this.name = 'ChatSendError';
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}

/** The state of a bot, for the operator. */
export interface ChatStatus {
  state: 'starting' | 'open' | 'failing' | 'closed';
  /** When that state started, ms since 1970. */
  since: number;
  /** A clause in svc's own words; null if all is well. */
  problem: string | null;
  /** The bot's mention name, with its @; null until it is known. */
  botName: string | null;
}

/** A request of a service to an address of this server, `/chats/KIND/PATH`. */
export interface ChatRequest {
  /** The part after the kind, without a slash. */
  path: string;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: Buffer;
}

export interface ChatAnswer {
  status: number;
  /** JSON, or text for a string. */
  body?: object | string;
}

/** One bot of one service. */
export interface ChatService {
  readonly kind: ChatKind;
  /** Starts to receive; failures are retried, and `status` has the state. */
  start(): void;
  status(): ChatStatus;
  /** Sends a message and returns its id. Throws `ChatSendError`. */
  send(channel: string, message: ChatMessage): Promise<string>;
  /** Replaces the text of a message. Throws `ChatSendError`. */
  edit(channel: string, messageId: string, message: ChatMessage): Promise<void>;
  /** Answers an outside request; all requests of its service are handled here. */
  receive(request: ChatRequest): Promise<ChatAnswer>;
  /** Stops receiving, and ends requests in progress. */
  close(): Promise<void>;
  /** Closes it permanently: the service deletes everything of this bot. Throws `ChatSendError` if it may not have. */
  remove(): Promise<void>;
}
