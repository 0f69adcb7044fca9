import { isJsonObject } from '../../../core/base/json-object.ts';
import { readUsage } from '../../protocols/usage.ts';
import { makeId } from '../answer-ids.ts';
import { parseArguments } from '../call-input.ts';
import type { AnswerEnding, CallPart, ModelAnswer, TranslatedExchange } from '../conversation.ts';
import { readFault } from '../faults.ts';
import { asFields, asFieldsList, asText, lookUp, type RequestFields, textOrNull } from '../fields.ts';
import { joinSeals, sealReasoning } from '../reasoning.ts';
import { refuseAnswer } from '../refusal.ts';
import { writeGeminiUsage } from '../write-usage.ts';

type Item = Record<string, unknown>;

const REASONS: Readonly<Record<string, AnswerEnding['reason']>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  CONTINUATION: 'length',
  SAFETY: 'filter',
  RECITATION: 'filter',
  LANGUAGE: 'filter',
  BLOCKLIST: 'filter',
  PROHIBITED_CONTENT: 'filter',
  SPII: 'filter',
  IMAGE_SAFETY: 'filter',
  IMAGE_PROHIBITED_CONTENT: 'filter',
  IMAGE_RECITATION: 'filter',
};

/** Reads `finishReason`; null for a value that marks a broken answer, such as `MALFORMED_FUNCTION_CALL`. */
export function readEnding(reason: string): AnswerEnding | null {
  const known = lookUp(REASONS, reason);
  return known === undefined ? null : { reason: known, stopSequence: null };
}

const FINISH_REASONS: Readonly<Record<AnswerEnding['reason'], string>> = {
  stop: 'STOP',
  stop_sequence: 'STOP',
  calls: 'STOP',
  length: 'MAX_TOKENS',
  filter: 'SAFETY',
  refusal: 'SAFETY',
};

export const writeReason = ({ reason }: AnswerEnding): string => FINISH_REASONS[reason];

/** Returns the sealed signature of a part; null without one. */
export function sealPart(part: RequestFields, model: string): string | null {
  const signature = textOrNull(part.thoughtSignature);
  return signature === null ? null : sealReasoning('gemini', model, { signature });
}

/** Reads a call, with an id if Google gave none: callers need one that is unique in the conversation. */
export const readCall = (call: RequestFields): CallPart => ({
  kind: 'call',
  id: textOrNull(call.id) ?? makeId('call_'),
  name: asText(call.name),
  namespace: null,
  takesText: false,
  input: asFields(call.args),
});

/** Reports whether a prompt was refused before any output. */
export const isBlocked = (body: RequestFields): boolean =>
  textOrNull(asFields(body.promptFeedback).blockReason) !== null;

function readGeminiPart(part: RequestFields, model: string): ModelAnswer['parts'] {
  if (isJsonObject(part.functionCall)) {
    const seal = sealPart(part, model);
    const call = readCall(part.functionCall);
    return seal === null ? [call] : [{ kind: 'thinking', text: '', seal }, call];
  }
  const text = asText(part.text);
  const seal = sealPart(part, model);
  if (part.thought === true) return [{ kind: 'thinking', text, seal }];
  const said: ModelAnswer['parts'] = text === '' ? [] : [{ kind: 'text', text }];
  return seal === null ? said : [{ kind: 'thinking', text: '', seal }, ...said];
}

/** Reads the answer of `generateContent`. */
export function readAnswer(body: RequestFields, { model }: TranslatedExchange): ModelAnswer {
  const [candidate] = asFieldsList(body.candidates);
  if (isJsonObject(body.error)) throw refuseAnswer(readFault(null, body).message);
  if (candidate === undefined && !isBlocked(body))
    throw refuseAnswer('the answer of the provider has no candidates');
  const reason = asText(candidate?.finishReason);
  const ending = isBlocked(body)
    ? ({ reason: 'filter', stopSequence: null } as const)
    : readEnding(reason || 'STOP');
  if (ending === null) throw refuseAnswer(`the provider broke off its answer: ${reason}`);
  return {
    id: textOrNull(body.responseId),
    model: textOrNull(body.modelVersion),
    parts: asFieldsList(asFields(candidate?.content).parts).flatMap((part) => readGeminiPart(part, model)),
    ending,
    usage: readUsage('gemini', body.usageMetadata),
  };
}

/** Returns the part of a call with the preceding thoughts; null if the arguments are not a JSON object. */
export function callPart(
  call: Pick<CallPart, 'id' | 'name' | 'takesText' | 'input'>,
  seals: readonly string[],
): Item | null {
  const args = parseArguments(call);
  if (args === null) return null;
  const signature = seals.length === 0 ? {} : { thoughtSignature: joinSeals(seals) };
  return { functionCall: { id: call.id, name: call.name, args }, ...signature };
}

function writeParts({ parts, ending }: ModelAnswer): Item[] {
  let seals: string[] = [];
  const written = parts.flatMap((part): Item[] => {
    if (part.kind === 'thinking') {
      if (part.seal !== null) seals.push(part.seal);
      return part.text === '' ? [] : [{ text: part.text, thought: true }];
    }
    if (part.kind !== 'call') return [{ text: part.text }];
    const written = callPart(part, seals);
    seals = [];
    if (written !== null) return [written];
    // A call that the limit cut off is dropped.
    if (ending.reason === 'length') return [];
    throw refuseAnswer(`the arguments of the call of ${part.name} are not a JSON object`);
  });
  return [...written, ...sealedPart(seals)];
}

/** Returns a part that only carries the records that no call took, as at the end of Google's own answers. */
export const sealedPart = (seals: readonly string[]): Item[] =>
  seals.length === 0 ? [] : [{ text: '', thoughtSignature: joinSeals(seals) }];

/** Writes the answer of `generateContent`. */
export function writeAnswer(answer: ModelAnswer, exchange: TranslatedExchange): Item {
  const { id, model, ending, usage } = answer;
  return {
    candidates: [
      { content: { role: 'model', parts: writeParts(answer) }, finishReason: writeReason(ending), index: 0 },
    ],
    ...(usage === null ? {} : { usageMetadata: writeGeminiUsage(usage) }),
    modelVersion: model ?? exchange.model,
    responseId: id ?? makeId('resp_'),
  };
}
