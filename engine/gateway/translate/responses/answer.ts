import type { ProviderFault } from '../../protocols/fault.ts';
import { readUsage, type UsageFigures } from '../../protocols/usage.ts';
import { adaptId, makeId, nowSec } from '../answer-ids.ts';
import { formatArguments } from '../call-input.ts';
import type { AnswerEnding, CallPart, ModelAnswer, TranslatedExchange } from '../conversation.ts';
import { readFault, responsesCode } from '../faults.ts';
import { asFields, asFieldsList, asText, type RequestFields, textOrNull } from '../fields.ts';
import { sealReasoning } from '../reasoning.ts';
import { refuseAnswer } from '../refusal.ts';
import { writeResponsesUsage } from '../write-usage.ts';

type Item = Record<string, unknown>;

/** Returns the sealed record of a reasoning item; null if it was not encrypted, since no provider accepts that back. */
export function sealItem(item: RequestFields, model: string): string | null {
  const { id, summary, encrypted_content: encrypted } = item;
  if (typeof encrypted !== 'string') return null;
  return sealReasoning('responses', model, {
    id,
    summary: asFieldsList(summary),
    encrypted_content: encrypted,
  });
}

const textsIn = (list: unknown): string =>
  asFieldsList(list)
    .map(({ text }) => asText(text))
    .join('\n\n');

/** Returns the text of a reasoning item: its summary, otherwise its content. */
export const thoughtsOf = (item: RequestFields): string => textsIn(item.summary) || textsIn(item.content);

export const readCallItem = (item: RequestFields): CallPart => {
  const isCustom = item.type === 'custom_tool_call';
  return {
    kind: 'call',
    id: textOrNull(item.call_id) ?? textOrNull(item.id) ?? makeId('call_'),
    name: asText(item.name),
    namespace: textOrNull(item.namespace),
    takesText: isCustom,
    input: asText(isCustom ? item.input : item.arguments),
  };
};

export const isCallItem = ({ type }: RequestFields): boolean =>
  type === 'function_call' || type === 'custom_tool_call';

function readResponsesItem(item: RequestFields, model: string): ModelAnswer['parts'] {
  if (isCallItem(item)) return [readCallItem(item)];
  if (item.type === 'reasoning') {
    const text = thoughtsOf(item);
    const seal = sealItem(item, model);
    return text === '' && seal === null ? [] : [{ kind: 'thinking', text, seal }];
  }
  if (item.type !== 'message') return [];
  return asFieldsList(item.content).map((part) =>
    part.type === 'refusal'
      ? { kind: 'refusal', text: asText(part.refusal) }
      : { kind: 'text', text: asText(part.text) },
  );
}

/** Returns how a response ended; its details name the limit that cut it off. */
export function readEnding(response: RequestFields): AnswerEnding {
  if (response.status !== 'incomplete') return { reason: 'stop', stopSequence: null };
  const { reason } = asFields(response.incomplete_details);
  return { reason: reason === 'content_filter' ? 'filter' : 'length', stopSequence: null };
}

/** Reads a `response`. */
export function readAnswer(body: RequestFields, { model }: TranslatedExchange): ModelAnswer {
  if (body.status === 'failed' || body.status === 'cancelled')
    throw refuseAnswer(readFault(null, body).message);
  if (!Array.isArray(body.output)) throw refuseAnswer('the answer of the provider has no output');
  return {
    id: textOrNull(body.id),
    model: textOrNull(body.model),
    parts: asFieldsList(body.output).flatMap((item) => readResponsesItem(item, model)),
    ending: readEnding(body),
    usage: readUsage('responses', body.usage),
  };
}

const REPEATED = [
  'instructions',
  'max_output_tokens',
  'metadata',
  'parallel_tool_calls',
  'reasoning',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_p',
];

/** Returns the request fields that a response repeats; the rest of a conversation need not be kept for it. */
export const pickRepeated = (body: RequestFields): RequestFields =>
  Object.fromEntries(REPEATED.map((field) => [field, body[field]]));

/** Returns the fields of a response besides its output; it repeats the request. */
export function describeResponse(
  { id, model }: Pick<ModelAnswer, 'id' | 'model'>,
  { asked, model: askedModel }: TranslatedExchange,
): Item {
  return {
    id: adaptId('resp_', id),
    object: 'response',
    created_at: nowSec(),
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: asked.instructions ?? null,
    max_output_tokens: asked.max_output_tokens ?? null,
    model: model ?? askedModel,
    output: [],
    parallel_tool_calls: asked.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: asked.reasoning ?? { effort: null, summary: null },
    store: false,
    temperature: asked.temperature ?? null,
    text: asked.text ?? { format: { type: 'text' } },
    tool_choice: asked.tool_choice ?? 'auto',
    tools: asked.tools ?? [],
    top_p: asked.top_p ?? null,
    truncation: 'disabled',
    usage: null,
    metadata: asked.metadata ?? {},
  };
}

/** Returns the fields of a finished response. */
export function describeEnding({ reason }: AnswerEnding, usage: UsageFigures | null): Item {
  const isCut = reason === 'length' || reason === 'filter' || reason === 'refusal';
  return {
    status: isCut ? 'incomplete' : 'completed',
    completed_at: isCut ? null : nowSec(),
    incomplete_details: isCut
      ? { reason: reason === 'length' ? 'max_output_tokens' : 'content_filter' }
      : null,
    usage: usage === null ? null : writeResponsesUsage(usage),
  };
}

/** Returns the fields of a failed response. */
export const describeFailure = (fault: ProviderFault): Item => ({
  status: 'failed',
  error: { code: responsesCode(fault), message: fault.message },
});

export const textPart = (text: string): Item => ({
  type: 'output_text',
  text,
  annotations: [],
  logprobs: [],
});
export const refusalPart = (refusal: string): Item => ({ type: 'refusal', refusal });

export const messageItem = (id: string, status: string, content: readonly Item[]): Item => ({
  id,
  type: 'message',
  status,
  role: 'assistant',
  content,
});

export const reasoningItem = (id: string, text: string, seal: string | null): Item => ({
  id,
  type: 'reasoning',
  summary: text === '' ? [] : [{ type: 'summary_text', text }],
  ...(seal === null ? {} : { encrypted_content: seal }),
});

export const callItem = (
  id: string,
  status: string,
  call: Pick<CallPart, 'id' | 'name' | 'namespace' | 'takesText'>,
  input: string,
): Item => ({
  id,
  type: call.takesText ? 'custom_tool_call' : 'function_call',
  status,
  call_id: call.id,
  name: call.name,
  ...(call.namespace === null ? {} : { namespace: call.namespace }),
  ...(call.takesText ? { input } : { arguments: input }),
});

function writeResponsesPart(part: ModelAnswer['parts'][number]): Item {
  switch (part.kind) {
    case 'thinking':
      return reasoningItem(makeId('rs_'), part.text, part.seal);
    case 'call':
      return callItem(
        makeId(part.takesText ? 'ctc_' : 'fc_'),
        'completed',
        part,
        part.takesText ? asText(part.input) : formatArguments(part),
      );
    default:
      return messageItem(makeId('msg_'), 'completed', [
        part.kind === 'text' ? textPart(part.text) : refusalPart(part.text),
      ]);
  }
}

/** Writes a `response`. */
export const writeAnswer = (answer: ModelAnswer, exchange: TranslatedExchange): Item => ({
  ...describeResponse(answer, exchange),
  ...describeEnding(answer.ending, answer.usage),
  output: answer.parts.map(writeResponsesPart),
});
