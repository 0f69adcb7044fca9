import { formatArguments, TEXT_SCHEMA } from '../call-input.ts';
import type {
  AnswerFormat,
  CallPart,
  Conversation,
  Exchange,
  MediaPart,
  Part,
  ResultPart,
  ToolDefinition,
  Turn,
} from '../conversation.ts';
import { asText, dropUnset } from '../fields.ts';
import { formatMediaUrl, isAudio, isImage, refuseMedia } from '../media.ts';
import { isOpenAiReasoner } from '../model-traits.ts';
import { describeTextTool, NO_ARGUMENTS, offeredTools } from '../offer-tools.ts';
import { describeSchema } from '../openai/answer-format.ts';
import { relatedVerbosity, writeRelated } from '../openai/related-fields.ts';
import { writeEffort, writeSampling } from '../openai/sampling.ts';
import { orderTurns } from '../order-turns.ts';
import { describeResult, joinTexts } from '../part-texts.ts';
import { openReasoning } from '../reasoning.ts';
import { writeCallSignature } from './answer.ts';
import { isKnownField } from './read-request.ts';

type Message = Record<string, unknown>;

function writeMedia(part: MediaPart, exchange: Exchange): Message {
  if (isImage(part)) {
    const { detail } = part;
    return {
      type: 'image_url',
      image_url: { url: formatMediaUrl(part), ...(detail === null ? {} : { detail }) },
    };
  }
  if ('url' in part.source) return refuseMedia(part, exchange);
  if (isAudio(part))
    return {
      type: 'input_audio',
      input_audio: { data: part.source.data, format: part.mediaType.slice('audio/'.length) },
    };
  return { type: 'file', file: { filename: part.name ?? 'document', file_data: formatMediaUrl(part) } };
}

/** Text alone is one string: not every server accepts a list. */
function writeContent(parts: readonly Part[], exchange: Exchange): string | Message[] {
  if (!parts.some(({ kind }) => kind === 'media')) return joinTexts(parts);
  return parts.flatMap((part): Message[] => {
    if (part.kind === 'media') return [writeMedia(part, exchange)];
    return part.kind === 'text' ? [{ type: 'text', text: part.text }] : [];
  });
}

const writeResult = (result: ResultPart): Message => ({
  role: 'tool',
  tool_call_id: result.callId,
  content: describeResult(result),
});

/** The media that tools answered with, as said by the user: results are text only in this protocol. */
function resultMedia(results: readonly ResultPart[]): Part[] {
  return results.flatMap(({ callId, content }): Part[] => {
    const media = content.filter((part) => part.kind === 'media');
    return media.length === 0
      ? []
      : [{ kind: 'text', text: `Content of the result of call ${callId}:` }, ...media];
  });
}

function writeUser({ parts }: Turn, exchange: Exchange): Message[] {
  const results = parts.filter((part) => part.kind === 'result');
  const others = [...resultMedia(results), ...parts.filter(({ kind }) => kind !== 'result')];
  const said = others.length === 0 ? [] : [{ role: 'user', content: writeContent(others, exchange) }];
  return [...results.map(writeResult), ...said];
}

const writeCall = (call: CallPart, signature: string, { names }: Exchange): Message => ({
  id: call.id,
  type: 'function',
  function: { name: names.toProvider(call), arguments: formatArguments(call) },
  ...(signature === '' ? {} : writeCallSignature(signature)),
});

function writeCalls(parts: readonly Part[], exchange: Exchange): Message[] {
  let signature = '';
  return parts.flatMap((part) => {
    if (part.kind === 'thinking')
      for (const record of openReasoning(part.seal, 'chat', exchange.model))
        signature = asText(record.signature) || signature;
    if (part.kind !== 'call') return [];
    const call = writeCall(part, signature, exchange);
    signature = '';
    return [call];
  });
}

/** What the model thought in the field that it was read from; servers want it again while its calls are being answered. */
function writeThoughts(parts: readonly Part[], { model }: Exchange): Message {
  const records = parts.flatMap((part) =>
    part.kind === 'thinking' ? openReasoning(part.seal, 'chat', model) : [],
  );
  const field = asText(records.find((record) => 'field' in record)?.field);
  return field === '' ? {} : { [field]: records.map(({ text }) => asText(text)).join('') };
}

function writeAssistant({ parts }: Turn, isCurrent: boolean, exchange: Exchange): Message[] {
  const calls = writeCalls(parts, exchange);
  const text = joinTexts(parts);
  if (calls.length === 0 && text === '') return [];
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(isCurrent ? writeThoughts(parts, exchange) : {}),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ];
}

function writeTool(tool: ToolDefinition, { names }: Exchange): Message {
  const definition = {
    name: names.toProvider(tool),
    description: tool.takesText ? describeTextTool(tool) : tool.description,
    parameters: tool.takesText ? TEXT_SCHEMA : (tool.schema ?? NO_ARGUMENTS),
    strict: tool.isStrict === true ? true : null,
  };
  return { type: 'function', function: dropUnset(definition) };
}

function writeToolChoice({ toolChoice, tools }: Conversation, { names }: Exchange): unknown {
  if (toolChoice === null) return null;
  if (toolChoice.kind !== 'tool') return toolChoice.kind;
  const { name, namespace } = toolChoice;
  const tool = tools.find(
    (each) => each.name === name && (namespace === null || each.namespace === namespace),
  );
  const named = tool ?? { name, namespace, takesText: false };
  return { type: 'function', function: { name: names.toProvider(named) } };
}

const writeFormat = (format: AnswerFormat | null): object | null => {
  if (format === null) return null;
  return format.kind === 'json'
    ? { type: 'json_object' }
    : { type: 'json_schema', json_schema: describeSchema(format) };
};

/** Hints of OpenAI's own, which change no answer; other servers of the protocol may refuse a request for them. */
const HINTS = ['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'safety_identifier'];

function writeHints(conversation: Conversation, exchange: Exchange): Message {
  const related = {
    ...writeRelated(conversation, exchange, isKnownField),
    verbosity: relatedVerbosity(conversation),
  };
  if (isOpenAiReasoner(exchange.model)) return related;
  return Object.fromEntries(
    Object.entries(related).filter(([field]) => field !== 'verbosity' && !HINTS.includes(field)),
  );
}

/** Writes the body of `POST /v1/chat/completions`. */
export function writeRequest(conversation: Conversation, exchange: Exchange): Message {
  const tools = offeredTools(conversation).map((tool) => writeTool(tool, exchange));
  const { system, turns } = orderTurns(conversation, { keepsSystem: false });
  const isReasoner = isOpenAiReasoner(exchange.model);
  const lastSaid = turns.findLastIndex(
    ({ role, parts }) => role === 'user' && parts.some(({ kind }) => kind !== 'result'),
  );
  const messages = turns.flatMap((turn, index) =>
    turn.role === 'assistant' ? writeAssistant(turn, index > lastSaid, exchange) : writeUser(turn, exchange),
  );
  return dropUnset({
    model: exchange.model,
    messages: system.length === 0 ? messages : [{ role: 'system', content: joinTexts(system) }, ...messages],
    tools: tools.length === 0 ? null : tools,
    tool_choice: tools.length === 0 ? null : writeToolChoice(conversation, exchange),
    parallel_tool_calls: tools.length === 0 ? null : conversation.isParallel,
    [isReasoner ? 'max_completion_tokens' : 'max_tokens']: conversation.maxTokens,
    ...writeSampling(conversation, exchange),
    stop: conversation.stop.length === 0 ? null : conversation.stop,
    seed: conversation.seed,
    presence_penalty: conversation.presencePenalty,
    frequency_penalty: conversation.frequencyPenalty,
    response_format: writeFormat(conversation.format),
    reasoning_effort: writeEffort(conversation, exchange),
    ...writeHints(conversation, exchange),
    stream: conversation.isStream ? true : null,
    stream_options: conversation.isStream ? { include_usage: true } : null,
  });
}
