import { SvcError } from '../../base/errors.ts';
import type { Protocol } from '../protocol.ts';

/** The error for a field that the provider's protocol cannot express. `data.field` names it as the caller wrote it. */
export const refuseField = (field: string, why: string): SvcError =>
  new SvcError('fields_invalid', `${field}: ${why}`, { data: { field } });

/** What callers call the fields that not every provider can be given. */
export const FIELD_NAMES: Readonly<Record<Protocol, { stop: string; content: string; callId: string }>> = {
  chat: { stop: 'stop', content: 'messages.content', callId: 'messages.tool_call_id' },
  responses: { stop: 'stop', content: 'input.content', callId: 'input.call_id' },
  messages: { stop: 'stop_sequences', content: 'messages.content', callId: 'messages.content.tool_use_id' },
  gemini: {
    stop: 'generationConfig.stopSequences',
    content: 'contents.parts',
    callId: 'contents.parts.functionResponse',
  },
};

/** The error for an answer of a provider that is not in its protocol. */
export const refuseAnswer = (why: string): SvcError => new SvcError('answer_invalid', why);

/** Throws when `field` is set to anything but what leaves it off. */
export function refuseIfSet(body: Readonly<Record<string, unknown>>, field: string, why: string): void {
  const value = body[field];
  if (value === undefined || value === null || value === false || value === '') return;
  throw refuseField(field, why);
}
