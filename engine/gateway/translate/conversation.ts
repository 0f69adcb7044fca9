/**
 * The neutral form between the protocols: what a request asks for, what an answer holds, and what a stream says piece by
 * piece. Each protocol has one reader into this form and one writer out of it.
 */
import type { Protocol } from '../protocol.ts';
import type { Fault } from '../protocols/fault.ts';
import type { Usage } from '../protocols/usage.ts';
import type { ToolNames } from './tool-names.ts';

export interface TextPart {
  kind: 'text';
  text: string;
}

/** An image, a document or a sound. */
export interface MediaPart {
  kind: 'media';
  /** Such as `image/png`; `image/*` where only the kind is known. */
  mediaType: string;
  /** The content in base64, or where it can be fetched. */
  source: { data: string } | { url: string };
  /** The name of a document. */
  name: string | null;
  /** How closely a model should look at an image, in OpenAI's words. */
  detail: string | null;
}

/** What a model thought before it answered. */
export interface ThinkingPart {
  kind: 'thinking';
  text: string;
  /** The provider's own record of it, sealed by reasoning.ts; null where it gave none. */
  seal: string | null;
}

export interface RefusalPart {
  kind: 'refusal';
  text: string;
}

/** A call of a tool by the model. */
export interface CallPart {
  kind: 'call';
  id: string;
  name: string;
  /** The group of tools that the name belongs to, as codex has them. */
  namespace: string | null;
  /** Whether the tool takes one text instead of an object. */
  takesText: boolean;
  /** The text of a tool that takes one; else the arguments, as JSON text or already parsed. */
  input: string | object;
}

/** What came of a call. */
export interface ResultPart {
  kind: 'result';
  callId: string;
  /** The name of the tool where the protocol says it. */
  name: string | null;
  content: (TextPart | MediaPart)[];
  isError: boolean;
}

export type Part = TextPart | MediaPart | ThinkingPart | RefusalPart | CallPart | ResultPart;

export interface Turn {
  role: 'system' | 'user' | 'assistant';
  parts: Part[];
}

/** A tool that the caller runs itself. */
export interface ToolDefinition {
  name: string;
  namespace: string | null;
  description: string | null;
  /** JSON Schema of the arguments; null for none, and for a tool that takes one text. */
  schema: object | null;
  isStrict: boolean | null;
  takesText: boolean;
  /** How the one text has to be built, in OpenAI's form. */
  textFormat: object | null;
}

export type ToolChoice =
  | { kind: 'auto' | 'none' | 'required' }
  | { kind: 'tool'; name: string; namespace: string | null };

export type AnswerFormat =
  | { kind: 'json' }
  | {
      kind: 'schema';
      name: string | null;
      description: string | null;
      schema: object;
      isStrict: boolean | null;
    };

export type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** A request in the neutral form. Null is what the caller left to the provider. */
export interface Conversation {
  turns: Turn[];
  tools: ToolDefinition[];
  /** Tools that the caller's provider would run itself, by the field that asks for them. */
  hostedTools: string[];
  toolChoice: ToolChoice | null;
  /** The only tools that may be called. */
  allowedTools: { name: string; namespace: string | null }[] | null;
  isParallel: boolean | null;
  maxTokens: number | null;
  temperature: number | null;
  topP: number | null;
  topK: number | null;
  stop: string[];
  seed: number | null;
  presencePenalty: number | null;
  frequencyPenalty: number | null;
  format: AnswerFormat | null;
  effort: Effort | null;
  isStream: boolean;
  /** Fields that mean the same in both protocols of OpenAI, and those that are known to neither. */
  related: Record<string, unknown>;
}

export const emptyConversation = (): Conversation => ({
  turns: [],
  tools: [],
  hostedTools: [],
  toolChoice: null,
  allowedTools: null,
  isParallel: null,
  maxTokens: null,
  temperature: null,
  topP: null,
  topK: null,
  stop: [],
  seed: null,
  presencePenalty: null,
  frequencyPenalty: null,
  format: null,
  effort: null,
  isStream: false,
  related: {},
});

/** Why an answer ended. */
export type EndReason = 'stop' | 'stop_sequence' | 'length' | 'calls' | 'filter' | 'refusal';

export interface Ending {
  reason: EndReason;
  /** The text that ended it, for `stop_sequence`. */
  stopSequence: string | null;
}

/** A whole answer. */
export interface Answer {
  id: string | null;
  model: string | null;
  parts: (TextPart | ThinkingPart | RefusalPart | CallPart)[];
  ending: Ending;
  usage: Usage | null;
}

/** One piece of a streamed answer, before its content. */
export type Block =
  | { kind: 'text' | 'thinking' | 'refusal' }
  | { kind: 'call'; id: string; name: string; namespace: string | null; takesText: boolean };

/** What a reader of a stream tells, in any order of its blocks: calls may be mixed. `key` names a block. */
export interface BlockSink {
  start(id: string | null, model: string | null): void;
  open(key: string | number, block: Block): void;
  append(key: string | number, text: string): void;
  /** Sets the sealed record of a thinking block. */
  seal(key: string | number, seal: string): void;
  close(key: string | number): void;
  setUsage(usage: Usage): void;
  finish(ending: Ending): void;
  fail(fault: Fault): void;
}

/** Reads a provider's stream into a sink. */
export interface StreamReader {
  /** `data` is the parsed JSON of the event, undefined for the `[DONE]` of chat. */
  read(data: unknown, event: string | null): void;
  /** Runs when the stream is over; for protocols that have no event for their end. */
  end?(): void;
}

/** Writes a stream in the caller's protocol, one block after the other. */
export interface StreamWriter {
  start(id: string | null, model: string | null, usage: Usage | null): void;
  open(block: Block): void;
  append(text: string): void;
  /** `text` is the whole text of the block. */
  close(block: Block, text: string, seal: string | null): void;
  finish(ending: Ending, usage: Usage | null): void;
  fail(fault: Fault): void;
}

/** Receives the events that a writer makes. */
export type EmitEvent = (data: object | string, event?: string) => void;

/** What both directions of one exchange know. */
export interface Exchange {
  from: Protocol;
  to: Protocol;
  /** The provider's name of the model. */
  model: string;
  names: ToolNames;
  /** The ids of the calls in the conversation, as the caller has them. */
  callIds: ReadonlySet<string>;
  /** The texts at which the caller wants an answer to end. */
  stop: readonly string[];
  /** How many tokens the provider's model can answer with; null where nobody knows. */
  mostOutput: number | null;
  /** The caller's body, for the answers that repeat parts of it. */
  asked: Readonly<Record<string, unknown>>;
  /** Whether the caller wants the numbers of tokens in the stream; only chat has to ask for them. */
  wantsUsage: boolean;
}

/** A protocol: its readers into the neutral form and its writers out of it. */
export interface Dialect {
  readRequest(body: Readonly<Record<string, unknown>>): Conversation;
  writeRequest(conversation: Conversation, exchange: Exchange): Record<string, unknown>;
  /** Throws `answer_invalid` for a body that is no answer. */
  readAnswer(body: Readonly<Record<string, unknown>>, exchange: Exchange): Answer;
  writeAnswer(answer: Answer, exchange: Exchange): Record<string, unknown>;
  readStream(sink: BlockSink, exchange: Exchange): StreamReader;
  writeStream(emit: EmitEvent, exchange: Exchange): StreamWriter;
}
