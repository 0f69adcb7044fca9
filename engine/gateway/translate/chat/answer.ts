import { isJsonObject } from '../../../core/base/json-object.ts';
import { findChatUsage, readUsage } from '../../protocols/usage.ts';
import { adaptId, makeId, nowSec } from '../answer-ids.ts';
import { formatArguments } from '../call-input.ts';
import type {
  AnswerEnding,
  CallPart,
  ModelAnswer,
  ThinkingPart,
  TranslatedExchange,
} from '../conversation.ts';
import { readFault } from '../faults.ts';
import { asFields, asFieldsList, asText, lookUp, type RequestFields, textOrNull } from '../fields.ts';
import { joinSeals, sealReasoning } from '../reasoning.ts';
import { refuseAnswer } from '../refusal.ts';
import { writeChatUsage } from '../write-usage.ts';
import { readThought, sealThought } from './thoughts.ts';

const REASONS: Readonly<Record<string, AnswerEnding['reason']>> = {
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'calls',
  function_call: 'calls',
  content_filter: 'filter',
  sensitive: 'filter',
};

/** Messages for an answer that the provider broke off. */
const BROKEN = new Set(['error', 'insufficient_system_resource', 'network_error', 'abort']);

/**
 * Reads why a choice ended; null for a reason that marks a broken answer. Servers have their own names for a normal
 * end, and some report which of the caller's stop texts ended it.
 */
export function readEnding(
  choice: RequestFields,
  { stop }: Pick<TranslatedExchange, 'stop'>,
): AnswerEnding | null {
  const said = asText(choice.finish_reason);
  if (BROKEN.has(said)) return null;
  const reason = lookUp(REASONS, said) ?? 'stop';
  const stopSequence = stop.find((text) => text === choice.stop_reason || text === choice.matched_stop);
  if (reason !== 'stop' || stopSequence === undefined) return { reason, stopSequence: null };
  return { reason: 'stop_sequence', stopSequence };
}

export const writeReason = ({ reason }: AnswerEnding): string => {
  if (reason === 'calls') return 'tool_calls';
  if (reason === 'filter' || reason === 'refusal') return 'content_filter';
  return reason === 'length' ? 'length' : 'stop';
};

/** Returns the texts of a content that is a string or a list of parts, which some servers put thoughts into. */
export function readTexts(content: unknown): { kind: 'text' | 'thinking'; text: string }[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  return asFieldsList(content).flatMap((part): { kind: 'text' | 'thinking'; text: string }[] => {
    if (part.type !== 'thinking') return [{ kind: 'text', text: asText(part.text) }];
    const text = asFieldsList(part.thinking)
      .map((each) => asText(each.text))
      .join('');
    return [{ kind: 'thinking', text: text || asText(part.thinking) }];
  });
}

function readChatCall(call: RequestFields): CallPart {
  const custom = isJsonObject(call.custom) ? call.custom : null;
  const { name, arguments: input } = asFields(call.function);
  return {
    kind: 'call',
    id: textOrNull(call.id) ?? makeId('call_'),
    name: asText(custom?.name ?? name),
    namespace: null,
    takesText: custom !== null,
    input: custom === null ? (isJsonObject(input) ? input : asText(input)) : asText(custom.input),
  };
}

/** Reads a `chat.completion`. */
export function readAnswer(body: RequestFields, exchange: TranslatedExchange): ModelAnswer {
  const { model } = exchange;
  const [choice] = asFieldsList(body.choices);
  if (isJsonObject(body.error)) throw refuseAnswer(readFault(null, body).message);
  if (!isJsonObject(choice?.message)) throw refuseAnswer('the answer of the provider has no choices');
  const { message } = choice;
  const thought = readThought(message);
  const parts: ModelAnswer['parts'] = [];
  if (thought !== null)
    parts.push({ kind: 'thinking', text: thought.text, seal: sealThought(model, thought) });
  for (const { kind, text } of readTexts(message.content))
    if (text !== '') parts.push(kind === 'text' ? { kind, text } : { kind, text, seal: null });
  const refusal = textOrNull(message.refusal);
  if (refusal !== null) parts.push({ kind: 'refusal', text: refusal });
  for (const call of asFieldsList(message.tool_calls)) {
    const record = readCallSignature(call);
    if (record !== null)
      parts.push({ kind: 'thinking', text: '', seal: sealReasoning('chat', model, record) });
    parts.push(readChatCall(call));
  }
  if (isJsonObject(message.function_call)) parts.push(readChatCall({ function: message.function_call }));
  const ending = readEnding(choice, exchange);
  if (ending === null) throw refuseAnswer('the provider broke off its answer');
  return {
    id: textOrNull(body.id),
    model: textOrNull(body.model),
    parts,
    ending,
    usage: readUsage('chat', findChatUsage(body)),
  };
}

/**
 * Writes a call in chat format. The seal of the preceding thoughts goes into the field that Google's chat endpoint
 * uses for signatures, because clients keep it there.
 */
export const writeCallHead = (id: string, seals: readonly string[]): Record<string, unknown> => ({
  id,
  ...(seals.length === 0 ? {} : writeCallSignature(joinSeals(seals))),
});

/** Writes the field of a call in which Google's chat endpoint puts a signature. */
export const writeCallSignature = (signature: string): Record<string, unknown> => ({
  extra_content: { google: { thought_signature: signature } },
});

/** Returns the signature of a call from Google's chat endpoint, which requires it back. */
export function readCallSignature(call: RequestFields): { signature: string } | null {
  const signature = textOrNull(asFields(asFields(call.extra_content).google).thought_signature);
  return signature === null ? null : { signature };
}

function writeChatCalls(parts: ModelAnswer['parts']): Record<string, unknown>[] {
  let seals: string[] = [];
  return parts.flatMap((part): Record<string, unknown>[] => {
    if (part.kind === 'thinking' && part.seal !== null) seals.push(part.seal);
    if (part.kind !== 'call') return [];
    const head = writeCallHead(part.id, seals);
    seals = [];
    return part.takesText
      ? [{ ...head, type: 'custom', custom: { name: part.name, input: asText(part.input) } }]
      : [{ ...head, type: 'function', function: { name: part.name, arguments: formatArguments(part) } }];
  });
}

const joinChatTexts = (parts: ModelAnswer['parts'], kind: 'text' | 'thinking' | 'refusal'): string =>
  parts.flatMap((part) => (part.kind === kind ? (part as ThinkingPart).text : [])).join('');

/** Writes a `chat.completion`. */
export function writeAnswer(
  { id, model, parts, ending, usage }: ModelAnswer,
  exchange: TranslatedExchange,
): Record<string, unknown> {
  const calls = writeChatCalls(parts);
  const thoughts = joinChatTexts(parts, 'thinking');
  return {
    id: adaptId('chatcmpl-', id),
    object: 'chat.completion',
    created: nowSec(),
    model: model ?? exchange.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: textOrNull(joinChatTexts(parts, 'text')),
          refusal: textOrNull(joinChatTexts(parts, 'refusal')),
          ...(thoughts === '' ? {} : { reasoning_content: thoughts }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
        logprobs: null,
        finish_reason: writeReason(ending),
      },
    ],
    ...(usage === null ? {} : { usage: writeChatUsage(usage) }),
  };
}
