import { formatArguments, TEXT_SCHEMA } from '../call-input.ts';
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
import { demandsThoughts, isMistral, isNewOpenAi, isOpenAiReasoner, thinkingOff } from '../model-traits.ts';
import { describeTextTool, offeredTools } from '../offer-tools.ts';
import { relatedVerbosity, writeRelated } from '../openai/related-fields.ts';
import { writeEffort, writeSampling } from '../openai/sampling.ts';
import { describeParameters, describeSchema } from '../openai/schemas.ts';
import { orderTurns, startWithUser } from '../order-turns.ts';
import { describeResult, joinTexts } from '../part-texts.ts';
import { openReasoning } from '../reasoning.ts';
import { writeCallSignature } from './answer.ts';
import { isKnownField } from './read-request.ts';
import { writeThoughts } from './thoughts.ts';

type Message = Record<string, unknown>;

function writeChatMedia(part: MediaPart, exchange: TranslatedExchange): Message {
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

/** Writes content. Text alone is one string: not every server accepts a list. */
function writeChatContent(parts: readonly ContentPart[], exchange: TranslatedExchange): string | Message[] {
  if (!parts.some(({ kind }) => kind === 'media')) return joinTexts(parts);
  return parts.flatMap((part): Message[] => {
    if (part.kind === 'media') return [writeChatMedia(part, exchange)];
    return part.kind === 'text' ? [{ type: 'text', text: part.text }] : [];
  });
}

const writeChatResult = (result: ResultPart): Message => ({
  role: 'tool',
  tool_call_id: result.callId,
  content: describeResult(result),
});

/** Returns media in tool results, moved to a user message: results are text only in this protocol. */
function resultMedia(results: readonly ResultPart[]): ContentPart[] {
  return results.flatMap(({ callId, content }): ContentPart[] => {
    const media = content.filter((part) => part.kind === 'media');
    return media.length === 0
      ? []
      : [{ kind: 'text', text: `Content of the result of call ${callId}:` }, ...media];
  });
}

function writeChatUser({ parts }: ConversationTurn, exchange: TranslatedExchange): Message[] {
  const results = parts.filter((part) => part.kind === 'result');
  const others = [...resultMedia(results), ...parts.filter(({ kind }) => kind !== 'result')];
  const said = others.length === 0 ? [] : [{ role: 'user', content: writeChatContent(others, exchange) }];
  return [...results.map(writeChatResult), ...said];
}

const writeChatCall = (call: CallPart, signature: string, { names }: TranslatedExchange): Message => ({
  id: call.id,
  type: 'function',
  function: { name: names.toProvider(call), arguments: formatArguments(call) },
  ...(signature === '' ? {} : writeCallSignature(signature)),
});

function writeChatCalls(parts: readonly ContentPart[], exchange: TranslatedExchange): Message[] {
  let signature = '';
  return parts.flatMap((part) => {
    if (part.kind === 'thinking')
      for (const record of openReasoning(part.seal, 'chat', exchange.model))
        signature = asText(record.signature) || signature;
    if (part.kind !== 'call') return [];
    const call = writeChatCall(part, signature, exchange);
    signature = '';
    return [call];
  });
}

/** Placeholder for unknown thoughts, if a server demands some. */
const NO_THOUGHTS = { reasoning_content: '(not recorded)' };

/** Returns the thoughts in the fields that they were read from. */
function writeTurnThoughts(
  parts: readonly ContentPart[],
  isDemanded: boolean,
  { model }: TranslatedExchange,
): Message {
  const thoughts = writeThoughts(
    parts.flatMap((part) => (part.kind === 'thinking' ? openReasoning(part.seal, 'chat', model) : [])),
  );
  return isDemanded && Object.keys(thoughts).length === 0 ? NO_THOUGHTS : thoughts;
}

function writeAssistant(
  { parts }: ConversationTurn,
  { withThoughts, demandsThoughts: isDemanding }: { withThoughts: boolean; demandsThoughts: boolean },
  exchange: TranslatedExchange,
): Message[] {
  const calls = writeChatCalls(parts, exchange);
  const text = joinTexts(parts);
  if (calls.length === 0 && text === '') return [];
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(withThoughts ? writeTurnThoughts(parts, isDemanding && calls.length > 0, exchange) : {}),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ];
}

/** Reports whether a turn contains text of the user in addition to tool results. */
const isSaid = ({ role, parts }: ConversationTurn): boolean =>
  role === 'user' && parts.some(({ kind }) => kind !== 'result');

/**
 * Returns the answers whose thoughts are returned: those since the user's last text, and those of every round that
 * called tools, as servers demand. Other rounds are finished.
 */
function listThoughtful(turns: readonly ConversationTurn[]): ReadonlySet<ConversationTurn> {
  const thoughtful = new Set<ConversationTurn>();
  let round: ConversationTurn[] = [];
  const closeRound = (isLast: boolean): void => {
    const hasCalls = round.some(({ parts }) => parts.some(({ kind }) => kind === 'call'));
    if (isLast || hasCalls) for (const turn of round) thoughtful.add(turn);
    round = [];
  };
  for (const turn of turns)
    if (turn.role === 'assistant') round.push(turn);
    else if (isSaid(turn)) closeRound(false);
  closeRound(true);
  return thoughtful;
}

/**
 * Adapts messages for Mistral, which requires an answer between results and user text, and a flag for an answer that
 * it must continue.
 */
function fitMistral(messages: readonly Message[]): Message[] {
  const fitted = messages.flatMap((message, index) =>
    message.role === 'user' && messages[index - 1]?.role === 'tool'
      ? [{ role: 'assistant', content: 'Done.' }, message]
      : [message],
  );
  const last = fitted.at(-1);
  return last?.role === 'assistant' ? [...fitted.slice(0, -1), { ...last, prefix: true }] : fitted;
}

function writeChatTool(tool: ToolDefinition, { names }: TranslatedExchange): Message {
  const { parameters, strict } = describeParameters(tool);
  const definition = {
    name: names.toProvider(tool),
    description: tool.takesText ? describeTextTool(tool) : tool.description,
    parameters: tool.takesText ? TEXT_SCHEMA : parameters,
    // Other servers may not know it.
    strict: strict ? true : null,
  };
  return { type: 'function', function: dropUnset(definition) };
}

function writeChatToolChoice({ toolChoice, tools }: Conversation, { names }: TranslatedExchange): unknown {
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

/** Hints that only OpenAI uses and that change no answer; other servers of the protocol may refuse them. */
const HINTS = ['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'safety_identifier'];

function writeHints(conversation: Conversation, exchange: TranslatedExchange): Message {
  const related = {
    ...writeRelated(conversation, exchange, isKnownField),
    verbosity: relatedVerbosity(conversation),
  };
  if (isOpenAiReasoner(exchange.model)) return related;
  const hints = isNewOpenAi(exchange.model) ? [] : HINTS;
  return Object.fromEntries(
    Object.entries(related).filter(([field]) => field !== 'verbosity' && !hints.includes(field)),
  );
}

/** Writes the body of `POST /v1/chat/completions`. */
export function writeRequest(conversation: Conversation, exchange: TranslatedExchange): Message {
  const tools = offeredTools(conversation).map((tool) => writeChatTool(tool, exchange));
  const { model } = exchange;
  const ordered = orderTurns(conversation, exchange, { keepsSystem: false });
  const { system, turns } = isMistral(model) ? startWithUser(ordered) : ordered;
  const isOff = conversation.effort === 'none';
  const thoughtful = listThoughtful(turns);
  const isDemanding = !isOff && demandsThoughts(model);
  const said = turns.flatMap((turn) =>
    turn.role === 'assistant'
      ? writeAssistant(turn, { withThoughts: thoughtful.has(turn), demandsThoughts: isDemanding }, exchange)
      : writeChatUser(turn, exchange),
  );
  const messages = isMistral(model) ? fitMistral(said) : said;
  return dropUnset({
    model,
    messages: system.length === 0 ? messages : [{ role: 'system', content: joinTexts(system) }, ...messages],
    tools: tools.length === 0 ? null : tools,
    tool_choice: tools.length === 0 ? null : writeChatToolChoice(conversation, exchange),
    parallel_tool_calls: tools.length === 0 ? null : conversation.isParallel,
    [isNewOpenAi(model) ? 'max_completion_tokens' : 'max_tokens']: conversation.maxTokens,
    ...writeSampling(conversation, exchange),
    stop: conversation.stop.length === 0 ? null : conversation.stop,
    seed: conversation.seed,
    presence_penalty: conversation.presencePenalty,
    frequency_penalty: conversation.frequencyPenalty,
    response_format: writeFormat(conversation.format),
    reasoning_effort: writeEffort(conversation, exchange),
    ...(isOff ? thinkingOff(model) : {}),
    ...writeHints(conversation, exchange),
    stream: conversation.isStream ? true : null,
    stream_options: conversation.isStream ? { include_usage: true } : null,
  });
}
