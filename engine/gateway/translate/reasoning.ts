/**
 * Passes records of a model's reasoning through a caller of another protocol. Providers sign or encrypt thoughts and
 * accept them back from the same model only. A record is sealed with its protocol and model, travels in the field
 * that the caller's protocol has for its own records, and is opened for the same protocol and model; any other
 * provider gets the conversation without it.
 */
import type { Protocol } from '../protocol.ts';
import { asFields, asList, parseJson } from './fields.ts';

interface Sealed {
  protocol: Protocol;
  model: string;
  record: object;
}

// Nine characters of JSON are twelve of base64, so all seals start with the same ones.
const OPENING = '{"svc":1,';
/** The prefix of every seal: a body without it contains none. */
export const SEAL_MARK = Buffer.from(OPENING).toString('base64');

const encode = (sealed: readonly Sealed[]): string =>
  Buffer.from(`${OPENING}"sealed":${JSON.stringify(sealed)}}`).toString('base64');

/** Reports whether a signature was made by `sealReasoning`; no provider accepts it as its own. */
export const isReasoningSeal = (signature: string): boolean => signature.startsWith(SEAL_MARK);

/** Seals a provider's reasoning record. */
export const sealReasoning = (protocol: Protocol, model: string, record: object): string =>
  encode([{ protocol, model, record }]);

function decode(seal: string): readonly Sealed[] {
  if (!isReasoningSeal(seal)) return [];
  const { sealed } = asFields(parseJson(Buffer.from(seal, 'base64').toString()));
  return asList(sealed).flatMap((each) => {
    const { protocol, model, record } = asFields(each);
    if (typeof protocol !== 'string' || typeof model !== 'string') return [];
    return { protocol: protocol as Protocol, model, record: asFields(record) };
  });
}

/** Returns one seal for several, for a protocol with a single field. */
export const joinSeals = (seals: readonly string[]): string =>
  seals.length === 1 ? seals[0]! : encode(seals.flatMap(decode));

/** Returns the records in a seal of this protocol and model, in order; empty for others. */
export const openReasoning = (
  seal: string | null,
  protocol: Protocol,
  model: string,
): readonly Readonly<Record<string, unknown>>[] =>
  seal === null
    ? []
    : decode(seal)
        .filter((each) => each.protocol === protocol && each.model === model)
        .map(({ record }) => asFields(record));
