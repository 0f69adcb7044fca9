/** Writes token counts in each protocol. They differ in which parts a total includes, see `Usage`. */
import type { UsageFigures } from '../protocols/usage.ts';
import { dropUnset, type RequestFields } from './fields.ts';

export const writeChatUsage = (usage: UsageFigures): RequestFields => ({
  prompt_tokens: usage.input,
  completion_tokens: usage.output,
  total_tokens: usage.input + usage.output,
  prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
  completion_tokens_details: { reasoning_tokens: usage.reasoning },
});

export const writeResponsesUsage = (usage: UsageFigures): RequestFields => ({
  input_tokens: usage.input,
  input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
  output_tokens: usage.output,
  output_tokens_details: { reasoning_tokens: usage.reasoning },
  total_tokens: usage.input + usage.output,
});

/** Writes usage. `null` is an answer without counts from its provider: the protocol can only say so with zeros. */
export const writeMessagesUsage = (usage: UsageFigures | null): RequestFields => ({
  input_tokens: usage === null ? 0 : Math.max(0, usage.input - usage.cacheRead - usage.cacheWrite),
  cache_creation_input_tokens: usage?.cacheWrite ?? 0,
  cache_read_input_tokens: usage?.cacheRead ?? 0,
  output_tokens: usage?.output ?? 0,
  output_tokens_details: { thinking_tokens: usage?.reasoning ?? 0 },
  server_tool_use: null,
});

export const writeGeminiUsage = (usage: UsageFigures): RequestFields =>
  dropUnset({
    promptTokenCount: usage.input,
    candidatesTokenCount: Math.max(0, usage.output - usage.reasoning),
    totalTokenCount: usage.input + usage.output,
    cachedContentTokenCount: usage.cacheRead || null,
    thoughtsTokenCount: usage.reasoning || null,
  });
