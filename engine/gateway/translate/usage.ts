/** The numbers of tokens in each protocol. They differ in what a whole contains, see `Usage`. */
import { isJsonObject } from '../../base/json-object.ts';
import type { Usage } from './conversation.ts';
import { asCount, asFields, dropUnset, type Fields } from './fields.ts';

const isEmpty = (fields: unknown): boolean => !isJsonObject(fields) || Object.keys(fields).length === 0;

/** Reads the `usage` of chat. Servers other than OpenAI's have the cached tokens elsewhere, and some count reasoning apart. */
export function readChatUsage(value: unknown): Usage | null {
  if (isEmpty(value)) return null;
  const usage = asFields(value);
  const prompt = asFields(usage.prompt_tokens_details);
  const reasoning = asCount(asFields(usage.completion_tokens_details).reasoning_tokens);
  const input = asCount(usage.prompt_tokens);
  const completion = asCount(usage.completion_tokens);
  const isApart = reasoning > 0 && asCount(usage.total_tokens) === input + completion + reasoning;
  return {
    input,
    cacheRead:
      asCount(prompt.cached_tokens) || asCount(usage.prompt_cache_hit_tokens) || asCount(usage.cached_tokens),
    cacheWrite: asCount(prompt.cache_write_tokens),
    output: isApart ? completion + reasoning : completion,
    reasoning,
  };
}

export const writeChatUsage = (usage: Usage): Fields => ({
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
  prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
  completion_tokens_details: { reasoning_tokens: usage.reasoning },
});

export function readResponsesUsage(value: unknown): Usage | null {
  if (isEmpty(value)) return null;
  const usage = asFields(value);
  const details = asFields(usage.input_tokens_details);
  return {
    input: asCount(usage.input_tokens),
    cacheRead: asCount(details.cached_tokens),
    cacheWrite: asCount(details.cache_write_tokens),
    output: asCount(usage.output_tokens),
    reasoning: asCount(asFields(usage.output_tokens_details).reasoning_tokens),
  };
}

export const writeResponsesUsage = (usage: Usage): Fields => ({
  input_tokens: usage.input,
  input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: usage.input + usage.output,
});

/** Reads the `usage` of messages, whose `input_tokens` are those outside of the cache. */
export function readMessagesUsage(value: unknown): Usage | null {
  if (isEmpty(value)) return null;
  const usage = asFields(value);
  const cacheRead = asCount(usage.cache_read_input_tokens);
  const cacheWrite = asCount(usage.cache_creation_input_tokens);
  return {
    input: asCount(usage.input_tokens) + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: asCount(usage.output_tokens),
    reasoning: asCount(asFields(usage.output_tokens_details).thinking_tokens),
  };
}

/** `null` is an answer whose provider counted nothing: the protocol has no way to say so but zeros. */
export const writeMessagesUsage = (usage: Usage | null): Fields => ({
  input_tokens: usage === null ? 0 : Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite),
  cache_creation_input_tokens: usage?.cacheWrite ?? 0,
  cache_read_input_tokens: usage?.cacheRead ?? 0,
  output_tokens: usage?.output ?? 0,
  output_tokens_details: { thinking_tokens: usage?.reasoning ?? 0 },
  server_tool_use: null,
});

/** Reads the `usageMetadata` of Gemini, whose candidates do not contain the thoughts, nor the prompt what its own tools read. */
export function readGeminiUsage(value: unknown): Usage | null {
  if (isEmpty(value)) return null;
  const usage = asFields(value);
  const reasoning = asCount(usage.thoughtsTokenCount);
  return {
    input: asCount(usage.promptTokenCount) + asCount(usage.toolUsePromptTokenCount),
    cacheRead: asCount(usage.cachedContentTokenCount),
    cacheWrite: 0,
    output: asCount(usage.candidatesTokenCount) + reasoning,
    reasoning,
  };
}

export const writeGeminiUsage = (usage: Usage): Fields =>
  dropUnset({
    promptTokenCount: usage.input,
    candidatesTokenCount: Math.max(0, usage.output - usage.reasoning),
    totalTokenCount: usage.input + usage.output,
    cachedContentTokenCount: usage.cacheRead || null,
    thoughtsTokenCount: usage.reasoning || null,
  });
