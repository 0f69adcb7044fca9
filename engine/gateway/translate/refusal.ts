import { SvcError } from '../../core/base/errors.ts';
import type { Protocol } from '../protocol.ts';

/** The error for a field that the provider's protocol cannot express. `data.field` names it as the caller wrote it. */
export const refuseField = (field: string, why: string): SvcError =>
  new SvcError('fields_invalid', `${field}: ${why}`, { data: { field } });

/** What callers call the fields that not every provider can be given. */
export const FIELD_NAMES: Readonly<Record<Protocol, { stop: string; content: string }>> = {
  chat: { stop: 'stop', content: 'messages.content' },
  responses: { stop: 'stop', content: 'input.content' },
  messages: { stop: 'stop_sequences', content: 'messages.content' },
  gemini: { stop: 'generationConfig.stopSequences', content: 'contents.parts' },
};

/** The error for an answer of a provider that is not in its protocol. */
export const refuseAnswer = (why: string): SvcError => new SvcError('answer_invalid', why);

/** Throws when `field` is set to anything but what leaves it off. */
export function refuseIfSet(body: Readonly<Record<string, unknown>>, field: string, why: string): void {
  const value = body[field];
  if (value === undefined || value === null || value === false || value === '') return;
  throw refuseField(field, why);
}
