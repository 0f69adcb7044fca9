import { isJsonObject } from '../../core/base/json-object.ts';
import type { Protocol } from '../protocol.ts';
import { asFields, asText, type RequestFields } from './fields.ts';
import { NO_SIGNATURE } from './gemini/signature.ts';
import { needsThoughtSignature } from './model-traits.ts';
import { isReasoningSeal } from './reasoning.ts';

/** The location of records in a protocol's conversation: the list of its entries, and the list inside each entry. */
const LISTS: Readonly<Record<Protocol, readonly [outer: string, inner: string | null]>> = {
  messages: ['messages', 'content'],
  responses: ['input', null],
  gemini: ['contents', 'parts'],
  chat: ['messages', 'tool_calls'],
};

const isSealed = (value: unknown): boolean => isReasoningSeal(asText(value));

/** Returns the entry without a sealed record; null if nothing else is left. */
function dropSeal(entry: RequestFields, model: string): RequestFields | null {
  if (entry.type === 'thinking' && isSealed(entry.signature)) return null;
  if (entry.type === 'reasoning' && isSealed(entry.encrypted_content)) return null;
  if (isSealed(entry.thoughtSignature)) {
    const { thoughtSignature: _, ...rest } = entry;
    return needsThoughtSignature(model) ? { ...rest, thoughtSignature: NO_SIGNATURE } : rest;
  }
  if (isSealed(asFields(asFields(entry.extra_content).google).thought_signature)) {
    const { extra_content: _, ...rest } = entry;
    return rest;
  }
  return entry;
}

/** Maps the objects of a list; returns the same list if none changes. */
function mapEntries(
  list: readonly unknown[],
  change: (entry: RequestFields) => RequestFields | null,
): readonly unknown[] {
  const changed = list.flatMap((entry) => (isJsonObject(entry) ? (change(entry) ?? []) : [entry]));
  return changed.length === list.length && changed.every((entry, index) => entry === list[index])
    ? list
    : changed;
}

/**
 * Removes the reasoning of other providers from a body for a provider of the same protocol: several may have answered
 * a conversation, and none accepts a record that it did not create. Such a body contains `SEAL_MARK`; any other is
 * left alone.
 * @returns the same body if there is nothing to remove
 */
export function dropSealedReasoning(protocol: Protocol, body: RequestFields, model: string): RequestFields {
  const [outer, inner] = LISTS[protocol];
  const list = body[outer];
  if (!Array.isArray(list)) return body;
  const changed = mapEntries(list, (entry) => {
    if (inner === null) return dropSeal(entry, model);
    const parts = entry[inner];
    if (!Array.isArray(parts)) return entry;
    const kept = mapEntries(parts, (part) => dropSeal(part, model));
    if (kept === parts) return entry;
    return kept.length === 0 ? null : { ...entry, [inner]: kept };
  });
  return changed === list ? body : { ...body, [outer]: changed };
}
