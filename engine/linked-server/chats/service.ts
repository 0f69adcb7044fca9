// What the assistant asks of a chat service, and what one tells it. `index.ts` decides who may do what and what is said;
// `telegram/` and `slack/` know how each service says it.

export const CHAT_KINDS = ['slack', 'telegram'] as const;
export type ChatKind = (typeof CHAT_KINDS)[number];

/** A piece of a line. What comes from outside is shown as it is: it cannot format, mention, link or unfurl. */
export interface Span {
  text: string;
  isOutside: boolean;
}

export type Button =
  /** Pressed, it comes back as `Press.ticket`: at most 64 bytes. */
  | { label: string; ticket: string; style: 'good' | 'bad' | 'plain' }
  /** Opens a page of the server. */
  | { label: string; url: string };

export interface ChatMessage {
  lines: readonly (readonly Span[])[];
  /** In one row; none takes those away that a message had. */
  buttons: readonly Button[];
}

/** A user of a chat service: the id never changes, the name is what they call themselves today. */
export interface ChatUser {
  id: string;
  name: string;
}

/** Where somebody did something. */
export interface ChatPlace {
  /** The id of a channel, a group or a private chat. */
  channel: string;
  /** What people call it; null where the service does not say. */
  channelName: string | null;
  /** Between one person and the bot. */
  isPrivate: boolean;
}

export interface Press {
  user: ChatUser;
  place: ChatPlace;
  /** Of the message that the button is at. */
  messageId: string;
  ticket: string;
}

export interface Words {
  user: ChatUser;
  place: ChatPlace;
  /** Without the name of the bot or a leading slash. */
  text: string;
}

/**
 * What is done about what people do. Both may be asked twice about one thing; the answer is for that person alone, and null where
 * nothing is said.
 */
export interface ChatHandlers {
  onPress(press: Press): Promise<string | null>;
  onWords(words: Words): Promise<string | null>;
}

/** What a service remembers across restarts; keys and ids are its own. */
export interface ChatMemory {
  read(key: string): Promise<string | null>;
  write(key: string, value: string): Promise<void>;
  /** False when the id was claimed before and that has not ended: what is received twice is done once. */
  claim(id: string, until: number): Promise<boolean>;
}

/** Why something was not sent. */
export type SendProblem =
  /** Later it may be: the network, a limit, an error of theirs. */
  | 'later'
  /** The message or the channel is not there, or the bot is not let in. */
  | 'gone'
  /** The service does not take the bot's token, or not this request. */
  | 'refused';

export class ChatSendError extends Error {
  readonly problem: SendProblem;
  /** How long the service wants to be left alone, ms. */
  readonly retryAfterMs: number | null;
  /** @param message in words of svc, without anything that the service has answered */
  constructor(problem: SendProblem, message: string, retryAfterMs: number | null = null) {
    super(message);
    this.name = 'ChatSendError';
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}

/** How a bot stands, for the operator. */
export interface ChatStatus {
  state: 'starting' | 'open' | 'failing' | 'closed';
  /** Since when it is in that state, ms since 1970. */
  since: number;
  /** A clause in words of svc; null while all is well. */
  problem: string | null;
  /** The bot as people mention it, with its @; null until the service has said. */
  botName: string | null;
}

/** A request of a service to an address of this server, `/chats/KIND/PATH`. */
export interface ChatRequest {
  /** Behind the kind, without a slash. */
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
  /** Begins to receive; what fails is tried again, and `status` says how it stands. */
  start(): void;
  status(): ChatStatus;
  /** Says something and gives the id of the message. Throws `ChatSendError`. */
  send(channel: string, message: ChatMessage): Promise<string>;
  /** Says something else in its place. Throws `ChatSendError`. */
  edit(channel: string, messageId: string, message: ChatMessage): Promise<void>;
  /** Answers a request from outside; every one of its own is looked at here, and no other comes. */
  receive(request: ChatRequest): Promise<ChatAnswer>;
  /** Receives no more, and ends what is under way. */
  close(): Promise<void>;
  /** Closes it for good: the service keeps nothing for this bot any more. Throws `ChatSendError` when it may still. */
  remove(): Promise<void>;
}
