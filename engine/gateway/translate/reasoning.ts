/**
 * Records of a model's reasoning on their way through a caller of another protocol. Providers sign or encrypt what a model
 * thought and accept it again from the same model only. It travels sealed with its protocol and model in the field that the
 * caller's protocol has for its own, and is opened for that same protocol and model; any other gets the conversation without it.
 */
import type { Protocol } from '../protocol.ts';
import { asFields, asList, parseJson } from './fields.ts';

interface Sealed {
  protocol: Protocol;
  model: string;
  record: object;
}

// Nine characters of JSON are twelve of base64, so each seal begins with the same ones.
const OPENING = '{"svc":1,';
/** What every seal begins with: a body without it holds none. */
export const SEAL_MARK = Buffer.from(OPENING).toString('base64');

const encode = (sealed: readonly Sealed[]): string =>
  Buffer.from(`${OPENING}"sealed":${JSON.stringify(sealed)}}`).toString('base64');

/** Whether a signature is one that `sealReasoning` made; no provider accepts it as its own. */
export const isReasoningSeal = (signature: string): boolean => signature.startsWith(SEAL_MARK);

/** Seals what a provider said of its reasoning. */
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

/** One seal in place of several, for a protocol that has one field for them. */
export const joinSeals = (seals: readonly string[]): string =>
  seals.length === 1 ? seals[0]! : encode(seals.flatMap(decode));

/** The records in a seal that this protocol and model made, in order; empty for those of others. */
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
