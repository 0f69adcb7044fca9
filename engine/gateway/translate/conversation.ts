/**
 * The neutral form between the protocols: requests, answers, and streams piece by piece. Each protocol has one reader
 * into this form and one writer out of it.
 */
import type { Protocol } from '../protocol.ts';
import type { ProviderFault } from '../protocols/fault.ts';
import type { UsageFigures } from '../protocols/usage.ts';
import type { TranslatedToolNames } from './tool-names.ts';

export interface TextPart {
  kind: 'text';
  text: string;
}

/** An image, a document or a sound. */
export interface MediaPart {
  kind: 'media';
  /** Such as `image/png`; `image/*` if only the kind is known. */
  mediaType: string;
  /** The content in base64, or its address. */
  source: { data: string } | { url: string };
  /** The name of a document. */
  name: string | null;
  /** The detail level for an image, in OpenAI's terms. */
  detail: string | null;
}

/** The thoughts of a model before its answer. */
export interface ThinkingPart {
  kind: 'thinking';
  text: string;
  /** The provider's record of it, sealed by reasoning.ts; null if it gave none. */
  seal: string | null;
}

export interface RefusalPart {
  kind: 'refusal';
  text: string;
}

/** A tool call by the model. */
export interface CallPart {
  kind: 'call';
  id: string;
  name: string;
  /** The group of tools that the name belongs to, as in codex. */
  namespace: string | null;
  /** True if the tool takes one text instead of an object. */
  takesText: boolean;
  /** The text of a text tool; otherwise the arguments, as JSON text or parsed. */
  input: string | object;
}

/** The result of a call. */
export interface ResultPart {
  kind: 'result';
  callId: string;
  /** The name of the tool, if the protocol gives it. */
  name: string | null;
  content: (TextPart | MediaPart)[];
  isError: boolean;
}

export type ContentPart = TextPart | MediaPart | ThinkingPart | RefusalPart | CallPart | ResultPart;

export interface ConversationTurn {
  role: 'system' | 'user' | 'assistant';
  parts: ContentPart[];
}

/** A tool that the caller runs itself. */
export interface ToolDefinition {
  name: string;
  namespace: string | null;
  description: string | null;
  /** JSON Schema of the arguments; null for none, and for a text tool. */
  schema: object | null;
  isStrict: boolean | null;
  takesText: boolean;
  /** The grammar of the text, in OpenAI's form. */
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

export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** A request in the neutral form. Null values are left to the provider. */
export interface Conversation {
  turns: ConversationTurn[];
  tools: ToolDefinition[];
  /** Tools that the caller's provider would run itself, by the requesting field. */
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
  effort: ReasoningEffort | null;
  isStream: boolean;
  /** Fields with the same meaning in both OpenAI protocols, and fields unknown to both. */
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

export interface AnswerEnding {
  reason: EndReason;
  /** The stop text that ended it, for `stop_sequence`. */
  stopSequence: string | null;
}

/** A whole answer. */
export interface ModelAnswer {
  id: string | null;
  model: string | null;
  parts: (TextPart | ThinkingPart | RefusalPart | CallPart)[];
  ending: AnswerEnding;
  usage: UsageFigures | null;
}

/** The start of a block in a streamed answer. */
export type ContentBlock =
  | { kind: 'text' | 'thinking' | 'refusal' }
  | { kind: 'call'; id: string; name: string; namespace: string | null; takesText: boolean };

/** The events of a stream reader, with blocks in any order: calls may be interleaved. `key` names a block. */
export interface BlockSink {
  start(id: string | null, model: string | null): void;
  open(key: string | number, block: ContentBlock): void;
  append(key: string | number, text: string): void;
  /** Sets the sealed record of a thinking block. */
  seal(key: string | number, seal: string): void;
  close(key: string | number): void;
  setUsage(usage: UsageFigures): void;
  finish(ending: AnswerEnding): void;
  fail(fault: ProviderFault): void;
}

/** Reads a provider's stream into a sink. */
export interface ModelStreamReader {
  /** `data` is the parsed JSON of the event, undefined for the `[DONE]` of chat. */
  read(data: unknown, event: string | null): void;
  /** Runs when the stream is over; for protocols without an end event. */
  end?(): void;
}

/** Writes a stream in the caller's protocol, one block after the other. */
export interface StreamWriter {
  start(id: string | null, model: string | null, usage: UsageFigures | null): void;
  open(block: ContentBlock): void;
  append(text: string): void;
  /** `text` is the whole text of the block. */
  close(block: ContentBlock, text: string, seal: string | null): void;
  finish(ending: AnswerEnding, usage: UsageFigures | null): void;
  fail(fault: ProviderFault): void;
}

/** Receives the events that a writer creates. */
export type EmitEvent = (data: object | string, event?: string) => void;

/** The shared state of both directions of an exchange. */
export interface TranslatedExchange {
  from: Protocol;
  to: Protocol;
  /** The provider's name of the model. */
  model: string;
  names: TranslatedToolNames;
  /** The ids of the conversation's calls in the caller's form. */
  callIds: ReadonlySet<string>;
  /** The caller's stop texts. */
  stop: readonly string[];
  /** Maximum output tokens of the provider's model; null if unknown. */
  mostOutput: number | null;
  /** The caller's body, for answers that repeat parts of it. */
  asked: Readonly<Record<string, unknown>>;
  /** True if the caller wants usage in the stream; only chat requires a request for it. */
  wantsUsage: boolean;
}

/** A protocol: its readers into the neutral form and its writers out of it. */
export interface ProtocolDialect {
  readRequest(body: Readonly<Record<string, unknown>>): Conversation;
  writeRequest(conversation: Conversation, exchange: TranslatedExchange): Record<string, unknown>;
  /** Throws `answer_invalid` for a body that is not an answer. */
  readAnswer(body: Readonly<Record<string, unknown>>, exchange: TranslatedExchange): ModelAnswer;
  writeAnswer(answer: ModelAnswer, exchange: TranslatedExchange): Record<string, unknown>;
  readStream(sink: BlockSink, exchange: TranslatedExchange): ModelStreamReader;
  writeStream(emit: EmitEvent, exchange: TranslatedExchange): StreamWriter;
}
