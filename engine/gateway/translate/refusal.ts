import { SvcError } from '../../core/base/errors.ts';
import type { Protocol } from '../protocol.ts';

/** Creates the error for a field that the provider's protocol cannot express. `data.field` names it as the caller wrote it. */
export const refuseField = (field: string, why: string): SvcError =>
  new SvcError('fields_invalid', `${field}: ${why}`, { data: { field } });

/** Caller-facing names of fields that not every provider accepts. */
export const FIELD_NAMES: Readonly<Record<Protocol, { stop: string; content: string }>> = {
  chat: { stop: 'stop', content: 'messages.content' },
  responses: { stop: 'stop', content: 'input.content' },
  messages: { stop: 'stop_sequences', content: 'messages.content' },
  gemini: { stop: 'generationConfig.stopSequences', content: 'contents.parts' },
};

/** Creates the error for an answer that is not in the provider's protocol. */
export const refuseAnswer = (why: string): SvcError => new SvcError('answer_invalid', why);

/** Throws if `field` is set to anything but its default. */
export function refuseIfSet(body: Readonly<Record<string, unknown>>, field: string, why: string): void {
  const value = body[field];
  if (value === undefined || value === null || value === false || value === '') return;
  throw refuseField(field, why);
}
