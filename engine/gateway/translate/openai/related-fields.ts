import type { Conversation, TranslatedExchange } from '../conversation.ts';
import type { RequestFields } from '../fields.ts';

/** Returns the fields of a body that are not `known`: shared by both OpenAI protocols, or new. */
export const readRelated = (
  body: RequestFields,
  known: (field: string) => boolean,
): Record<string, unknown> =>
  Object.fromEntries(Object.entries(body).filter(([field, value]) => !known(field) && value !== null));

/**
 * Returns those fields for a provider of the other OpenAI protocol; any other provider gets none. A field that is
 * `known` to that protocol has another place in the neutral form, or was not meant by a caller who does not know it.
 */
export function writeRelated(
  { related }: Conversation,
  { from }: TranslatedExchange,
  known: (field: string) => boolean,
): Record<string, unknown> {
  if (from !== 'chat' && from !== 'responses') return {};
  return Object.fromEntries(Object.entries(related).filter(([field]) => !known(field)));
}

/** Returns the verbosity of the answer, which the two protocols store in different places. */
export const relatedVerbosity = ({ related }: Conversation): string | null =>
  typeof related.verbosity === 'string' ? related.verbosity : null;
