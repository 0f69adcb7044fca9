/** Reads the usage of a call in every protocol: the books and the translations share the same numbers. */
import { isJsonObject } from '../../core/base/json-object.ts';
import type { Protocol } from '../protocol.ts';
import { readCount, type TokenUsage } from '../tokens.ts';

/** Tokens of one answer. Parts are contained in their whole: nothing is counted twice. */
export interface UsageFigures {
  /** All prompt tokens, including cached ones. */
  input: number;
  /** The part of `input` that was read from a cache. */
  cacheRead: number;
  /** The part of `input` that was written to a cache. */
  cacheWrite: number;
  /** The part of `cacheWrite` that is kept for an hour. */
  cacheWriteHour: number;
  /** All generated tokens, including reasoning. */
  output: number;
  /** The part of `output` that is reasoning. */
  reasoning: number;
}

type Fields = Readonly<Record<string, unknown>>;

const asFields = (value: unknown): Fields => (isJsonObject(value) ? value : {});

/** Returns the first of several fields that has a count; services use different fields. */
const pickCount = (...values: unknown[]): number => values.map(readCount).find((count) => count > 0) ?? 0;

/** Adds up parts: some services count reasoning separately; others include it only in the total, as some do for cached tokens. */
function countParts(read: UsageFigures, total: number): UsageFigures {
  const { input, output, reasoning, cacheRead, cacheWrite } = read;
  const beside = total - input - output;
  if (total === 0 && reasoning > output) return { ...read, output: output + reasoning };
  if (beside <= 0) return read;
  return beside === cacheRead || beside === cacheRead + cacheWrite
    ? { ...read, input: input + beside }
    : { ...read, output: output + beside };
}

const readHour = (creation: unknown): number => readCount(asFields(creation).ephemeral_1h_input_tokens);

function readChat(usage: Fields): UsageFigures {
  const prompt = asFields(usage.prompt_tokens_details);
  const read: UsageFigures = {
    input: readCount(usage.prompt_tokens),
    cacheRead: pickCount(
      prompt.cached_tokens,
      usage.prompt_cache_hit_tokens,
      usage.cached_tokens,
      usage.cache_read_input_tokens,
      usage.num_cached_tokens,
    ),
    cacheWrite: pickCount(
      prompt.cache_write_tokens,
      prompt.cache_creation_input_tokens,
      prompt.cache_creation_tokens,
      usage.cache_write_tokens,
      usage.cache_creation_input_tokens,
    ),
    cacheWriteHour: readHour(prompt.cache_creation) || readHour(usage.cache_creation),
    output: readCount(usage.completion_tokens),
    reasoning: readCount(asFields(usage.completion_tokens_details).reasoning_tokens),
  };
  return countParts(read, readCount(usage.total_tokens));
}

function readResponses(usage: Fields): UsageFigures {
  const details = asFields(usage.input_tokens_details);
  const read: UsageFigures = {
    input: readCount(usage.input_tokens),
    cacheRead: pickCount(details.cached_tokens, usage.cached_tokens),
    cacheWrite: pickCount(details.cache_write_tokens, details.cache_creation_tokens),
    cacheWriteHour: 0,
    output: readCount(usage.output_tokens),
    reasoning: readCount(asFields(usage.output_tokens_details).reasoning_tokens),
  };
  return countParts(read, readCount(usage.total_tokens));
}

/** Reads usage of messages, whose `input_tokens` exclude the cache. */
function readMessages(usage: Fields): UsageFigures {
  const cacheRead = readCount(usage.cache_read_input_tokens);
  const creation = asFields(usage.cache_creation);
  const cacheWriteHour = readHour(creation);
  const told = readCount(creation.ephemeral_5m_input_tokens) + cacheWriteHour;
  const cacheWrite = Math.max(readCount(usage.cache_creation_input_tokens), told);
  return {
    input: readCount(usage.input_tokens) + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    cacheWriteHour,
    output: readCount(usage.output_tokens),
    reasoning: readCount(asFields(usage.output_tokens_details).thinking_tokens),
  };
}

/** Reads usage of Gemini: the candidates exclude the thoughts, and the prompt excludes the input of Google's own tools. */
function readGemini(usage: Fields): UsageFigures {
  const reasoning = readCount(usage.thoughtsTokenCount);
  return {
    input: readCount(usage.promptTokenCount) + readCount(usage.toolUsePromptTokenCount),
    cacheRead: readCount(usage.cachedContentTokenCount),
    cacheWrite: 0,
    cacheWriteHour: 0,
    output: readCount(usage.candidatesTokenCount) + reasoning,
    reasoning,
  };
}

const READERS: Readonly<Record<Protocol, (usage: Fields) => UsageFigures>> = {
  chat: readChat,
  responses: readResponses,
  messages: readMessages,
  gemini: readGemini,
};

/** Reads the numbers of a protocol; null for none. */
export function readUsage(protocol: Protocol, usage: unknown): UsageFigures | null {
  if (!isJsonObject(usage) || Object.keys(usage).length === 0) return null;
  const read = READERS[protocol](usage);
  const cacheRead = Math.min(read.cacheRead, read.input);
  const cacheWrite = Math.min(read.cacheWrite, read.input - cacheRead);
  return { ...read, cacheRead, cacheWrite, cacheWriteHour: Math.min(read.cacheWriteHour, cacheWrite) };
}

/** Returns the places where chat chunks and answers have usage: services differ. */
export function findChatUsage({ usage, x_groq: beside, choices }: Fields): unknown {
  if (isJsonObject(usage)) return usage;
  if (isJsonObject(beside)) return beside.usage;
  const last: unknown = Array.isArray(choices) ? choices.at(-1) : undefined;
  return isJsonObject(last) ? last.usage : undefined;
}

/**
 * Combines the usage of a message: its start has the input, its end the output. A zero does not overwrite an earlier
 * number, because services send zero for a missing number.
 */
export function createMessagesUsage(): (usage: unknown) => UsageFigures | null {
  const counts: Record<string, unknown> = {};
  return (usage) => {
    for (const [name, count] of Object.entries(asFields(usage)))
      if (isJsonObject(count) || readCount(count) > 0 || counts[name] === undefined) counts[name] = count;
    return readUsage('messages', counts);
  };
}

/** Returns the same tokens as in the books, where cached tokens are separate from the input. */
export const toTokenUsage = (usage: UsageFigures | null): TokenUsage | null =>
  usage && {
    input: usage.input - usage.cacheRead - usage.cacheWrite,
    output: usage.output,
    cacheRead: usage.cacheRead,
    cacheWrite: usage.cacheWrite,
    cacheWriteHour: usage.cacheWriteHour,
  };
