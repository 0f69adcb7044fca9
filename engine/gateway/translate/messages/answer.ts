import { isJsonObject } from '../../../core/base/json-object.ts';
import { readUsage } from '../../protocols/usage.ts';
import { adaptId, makeId } from '../answer-ids.ts';
import { fitToolUseId } from '../call-ids.ts';
import { parseArguments } from '../call-input.ts';
import type { AnswerEnding, ModelAnswer, TranslatedExchange } from '../conversation.ts';
import { readFault } from '../faults.ts';
import { asFields, asFieldsList, asText, lookUp, type RequestFields, textOrNull } from '../fields.ts';
import { sealReasoning } from '../reasoning.ts';
import { refuseAnswer } from '../refusal.ts';
import { writeMessagesUsage } from '../write-usage.ts';

type Block = Record<string, unknown>;

const REASONS: Readonly<Record<string, AnswerEnding['reason']>> = {
  end_turn: 'stop',
  stop_sequence: 'stop_sequence',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  // The answer continues on request, which other protocols do not know: it is incomplete.
  pause_turn: 'length',
  tool_use: 'calls',
  refusal: 'refusal',
};

export const readEnding = ({
  stop_reason: reason,
  stop_sequence: stopSequence,
}: RequestFields): AnswerEnding => ({
  reason: lookUp(REASONS, asText(reason)) ?? 'stop',
  stopSequence: textOrNull(stopSequence),
});

const STOP_REASONS: Readonly<Record<AnswerEnding['reason'], string>> = {
  stop: 'end_turn',
  stop_sequence: 'stop_sequence',
  length: 'max_tokens',
  calls: 'tool_use',
  filter: 'refusal',
  refusal: 'refusal',
};

/** Returns the fields of an answer that describe its end. */
export const describeEnding = ({ reason, stopSequence }: AnswerEnding): Block => ({
  stop_reason: STOP_REASONS[reason],
  stop_sequence: stopSequence,
  stop_details:
    reason === 'filter' || reason === 'refusal'
      ? { type: 'refusal', category: null, explanation: null }
      : null,
});

/** Returns the sealed record of a thinking block; null for one without a signature, which no provider accepts back. */
export function sealBlock(block: RequestFields, model: string): string | null {
  if (textOrNull(block.type === 'redacted_thinking' ? block.data : block.signature) === null) return null;
  const { type, thinking, signature, data } = block;
  const record = type === 'redacted_thinking' ? { type, data } : { type: 'thinking', thinking, signature };
  return sealReasoning('messages', model, record);
}

function readMessagesBlock(block: RequestFields, model: string): ModelAnswer['parts'] {
  switch (block.type) {
    case 'text':
      return [{ kind: 'text', text: asText(block.text) }];
    case 'thinking':
    case 'redacted_thinking':
      return [{ kind: 'thinking', text: asText(block.thinking), seal: sealBlock(block, model) }];
    case 'tool_use': {
      const { input } = block;
      return [
        {
          kind: 'call',
          id: textOrNull(block.id) ?? makeId('toolu_'),
          name: asText(block.name),
          namespace: null,
          takesText: false,
          input: isJsonObject(input) ? input : asText(input),
        },
      ];
    }
    default:
      return [];
  }
}

/** Reads a `message`. */
export function readAnswer(body: RequestFields, { model }: TranslatedExchange): ModelAnswer {
  if (isJsonObject(body.error)) throw refuseAnswer(readFault(null, body).message);
  if (!Array.isArray(body.content)) throw refuseAnswer('the answer of the provider has no content');
  const parts = asFieldsList(body.content).flatMap((block) => readMessagesBlock(block, model));
  const explanation = textOrNull(asFields(body.stop_details).explanation);
  if (explanation !== null) parts.push({ kind: 'refusal', text: explanation });
  return {
    id: textOrNull(body.id),
    model: textOrNull(body.model),
    parts,
    ending: readEnding(body),
    usage: readUsage('messages', body.usage),
  };
}

/**
 * Returns a signature for thoughts whose provider gave none, so that they are recognised as not Anthropic's when they
 * come back.
 */
export const signatureOf = (seal: string | null, { to, model }: TranslatedExchange): string =>
  seal ?? sealReasoning(to, model, {});

export const callBlock = (id: string, name: string, input: object): Block => ({
  type: 'tool_use',
  id: fitToolUseId(id),
  name,
  input,
  caller: { type: 'direct' },
});

/** Returns the start of a message. */
export const describeMessage = (
  { id, model }: Pick<ModelAnswer, 'id' | 'model'>,
  exchange: TranslatedExchange,
): Block => ({
  id: adaptId('msg_', id),
  type: 'message',
  role: 'assistant',
  model: model ?? exchange.model,
  container: null,
  diagnostics: null,
});

/** Returns the usage of a message with all of its fields. */
export const describeUsage = (usage: ModelAnswer['usage']): Block => ({
  ...writeMessagesUsage(usage),
  cache_creation: null,
  inference_geo: null,
  service_tier: null,
  speed: null,
});

function writeMessagesPart(
  part: ModelAnswer['parts'][number],
  isCut: boolean,
  exchange: TranslatedExchange,
): Block[] {
  switch (part.kind) {
    case 'thinking':
      return [{ type: 'thinking', thinking: part.text, signature: signatureOf(part.seal, exchange) }];
    case 'call': {
      const input = parseArguments(part);
      if (input !== null) return [callBlock(part.id, part.name, input)];
      // A call that the limit cut off is dropped.
      if (isCut) return [];
      throw refuseAnswer(`the arguments of the call of ${part.name} are not a JSON object`);
    }
    default:
      return [{ type: 'text', text: part.text, citations: null }];
  }
}

/** Writes a `message`. */
export const writeAnswer = (answer: ModelAnswer, exchange: TranslatedExchange): Block => ({
  ...describeMessage(answer, exchange),
  content: answer.parts.flatMap((part) =>
    writeMessagesPart(part, answer.ending.reason === 'length', exchange),
  ),
  ...describeEnding(answer.ending),
  usage: describeUsage(answer.usage),
});
