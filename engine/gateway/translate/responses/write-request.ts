import { formatArguments } from '../call-input.ts';
import type {
  AnswerFormat,
  CallPart,
  ContentPart,
  Conversation,
  ConversationTurn,
  MediaPart,
  ResultPart,
  ToolDefinition,
  TranslatedExchange,
} from '../conversation.ts';
import { asText, dropUnset } from '../fields.ts';
import { formatMediaUrl, isAudio, isImage, refuseMedia } from '../media.ts';
import { isOpenAiReasoner } from '../model-traits.ts';
import { offeredTools } from '../offer-tools.ts';
import { relatedVerbosity, writeRelated } from '../openai/related-fields.ts';
import { writeEffort, writeSampling } from '../openai/sampling.ts';
import { describeParameters, describeSchema } from '../openai/schemas.ts';
import { orderTurns, withUserTurn } from '../order-turns.ts';
import { describeResult, joinTexts, markError } from '../part-texts.ts';
import { openReasoning } from '../reasoning.ts';
import { FIELD_NAMES, refuseField } from '../refusal.ts';
import { isKnownField } from './read-request.ts';

type Item = Record<string, unknown>;

/** Required by the protocol. */
const LEAST_OUTPUT = 16;

function writeResponsesMedia(part: MediaPart, exchange: TranslatedExchange): Item {
  if (isImage(part))
    return { type: 'input_image', image_url: formatMediaUrl(part), detail: part.detail ?? 'auto' };
  if (isAudio(part)) return refuseMedia(part, exchange);
  if ('url' in part.source) return { type: 'input_file', file_url: part.source.url };
  return { type: 'input_file', filename: part.name ?? 'document', file_data: formatMediaUrl(part) };
}

const writeResponsesContent = (parts: readonly ContentPart[], exchange: TranslatedExchange): Item[] =>
  parts.flatMap((part): Item[] => {
    if (part.kind === 'media') return [writeResponsesMedia(part, exchange)];
    return part.kind === 'text' && part.text !== '' ? [{ type: 'input_text', text: part.text }] : [];
  });

function writeResponsesResult(result: ResultPart, isCustom: boolean, exchange: TranslatedExchange): Item {
  const { callId, content, isError } = result;
  const hasMedia = content.some(({ kind }) => kind === 'media');
  const parts = isError
    ? content.map((part, index) =>
        index === 0 && part.kind === 'text' ? { ...part, text: markError(part.text) } : part,
      )
    : content;
  return {
    type: isCustom ? 'custom_tool_call_output' : 'function_call_output',
    call_id: callId,
    output: hasMedia ? writeResponsesContent(parts, exchange) : describeResult(result),
  };
}

function writeResponsesCall(call: CallPart, { names }: TranslatedExchange): Item {
  const head = { call_id: call.id, name: names.toProvider(call) };
  return call.takesText
    ? { type: 'custom_tool_call', ...head, input: asText(call.input) }
    : { type: 'function_call', ...head, arguments: formatArguments(call) };
}

function writeResponsesAssistantPart(part: ContentPart, exchange: TranslatedExchange): Item[] {
  switch (part.kind) {
    case 'text':
      return part.text === ''
        ? []
        : [
            {
              type: 'message',
              role: 'assistant',
              content: [{ type: 'output_text', text: part.text, annotations: [] }],
            },
          ];
    case 'refusal':
      return [{ type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: part.text }] }];
    case 'thinking':
      return openReasoning(part.seal, 'responses', exchange.model).map((record) => ({
        ...record,
        type: 'reasoning',
      }));
    case 'call':
      return [writeResponsesCall(part, exchange)];
    default:
      return [];
  }
}

function writeResponsesTurn(
  { role, parts }: ConversationTurn,
  customCalls: ReadonlySet<string>,
  exchange: TranslatedExchange,
): Item[] {
  if (role === 'assistant') return parts.flatMap((part) => writeResponsesAssistantPart(part, exchange));
  const results = parts.filter((part) => part.kind === 'result');
  const content = writeResponsesContent(parts, exchange);
  return [
    ...results.map((result) => writeResponsesResult(result, customCalls.has(result.callId), exchange)),
    ...(content.length === 0
      ? []
      : [{ type: 'message', role: role === 'system' ? 'developer' : 'user', content }]),
  ];
}

function writeResponsesTool(tool: ToolDefinition, { names }: TranslatedExchange): Item {
  const head = {
    name: names.toProvider(tool),
    ...(tool.description === null ? {} : { description: tool.description }),
  };
  if (tool.takesText)
    return { type: 'custom', ...head, ...(tool.textFormat === null ? {} : { format: tool.textFormat }) };
  return {
    type: 'function',
    ...head,
    ...describeParameters(tool),
  };
}

function writeResponsesToolChoice(
  { toolChoice, tools }: Conversation,
  { names }: TranslatedExchange,
): unknown {
  if (toolChoice === null) return null;
  if (toolChoice.kind !== 'tool') return toolChoice.kind;
  const { name, namespace } = toolChoice;
  const takesText = tools.some((tool) => tool.name === name && tool.takesText);
  return { type: takesText ? 'custom' : 'function', name: names.toProvider({ name, namespace, takesText }) };
}

function writeResponsesText(conversation: Conversation): Item | null {
  const { format }: { format: AnswerFormat | null } = conversation;
  const verbosity = relatedVerbosity(conversation);
  if (format === null && verbosity === null) return null;
  return dropUnset({
    format:
      format === null || format.kind === 'json'
        ? format && { type: 'json_object' }
        : { type: 'json_schema', ...describeSchema(format) },
    verbosity,
  });
}

/** Writes the body of `POST /v1/responses`. */
export function writeRequest(conversation: Conversation, exchange: TranslatedExchange): Item {
  if (conversation.stop.length > 0)
    throw refuseField(FIELD_NAMES[exchange.from].stop, 'the responses protocol has no stop sequences');
  const tools = offeredTools(conversation).map((tool) => writeResponsesTool(tool, exchange));
  const { system, turns } = withUserTurn(orderTurns(conversation, exchange, { keepsSystem: true }));
  const isReasoner = isOpenAiReasoner(exchange.model);
  const effort = writeEffort(conversation, exchange);
  const customCalls = new Set(
    turns.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.kind === 'call' && part.takesText ? part.id : [])),
    ),
  );
  return dropUnset({
    model: exchange.model,
    instructions: system.length === 0 ? null : joinTexts(system),
    input: turns.flatMap((turn) => writeResponsesTurn(turn, customCalls, exchange)),
    tools: tools.length === 0 ? null : tools,
    tool_choice: tools.length === 0 ? null : writeResponsesToolChoice(conversation, exchange),
    parallel_tool_calls: tools.length === 0 ? null : conversation.isParallel,
    max_output_tokens: conversation.maxTokens && Math.max(LEAST_OUTPUT, conversation.maxTokens),
    ...writeSampling(conversation, exchange),
    text: writeResponsesText(conversation),
    reasoning: effort === null ? null : { effort, summary: 'auto' },
    include: isReasoner ? ['reasoning.encrypted_content'] : null,
    ...writeRelated(conversation, exchange, isKnownField),
    store: false,
    stream: conversation.isStream ? true : null,
  });
}
