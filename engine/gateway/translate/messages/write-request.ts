import { readArguments, TEXT_SCHEMA } from '../call-input.ts';
import type {
  ContentPart,
  Conversation,
  ConversationTurn,
  MediaPart,
  ResultPart,
  ToolDefinition,
  TranslatedExchange,
} from '../conversation.ts';
import { dropUnset, type RequestFields } from '../fields.ts';
import { isImage, refuseMedia } from '../media.ts';
import {
  acceptsSampling,
  BUDGETS,
  continuesAnswers,
  hasAdaptiveThinking,
  isClaude,
  knowsHighestEffort,
} from '../model-traits.ts';
import { describeTextTool, offeredTools } from '../offer-tools.ts';
import { NO_CONTENT, orderTurns, startWithUser } from '../order-turns.ts';
import { openReasoning } from '../reasoning.ts';
import { FIELD_NAMES, refuseField } from '../refusal.ts';
import { fitAnthropicSchema, fitToolSchema, isClosable } from '../schemas.ts';

type Block = Record<string, unknown>;

/** The protocol requires a limit; this is the minimum that its models support. */
const DEFAULT_MAX_TOKENS = 32_000;

const IMAGE_TYPES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

function writeMessagesMedia(part: MediaPart, exchange: TranslatedExchange): Block {
  const { source, mediaType, name } = part;
  const isUrl = 'url' in source;
  if (isImage(part)) {
    if (isUrl) return { type: 'image', source: { type: 'url', url: source.url } };
    if (!IMAGE_TYPES.has(mediaType)) return refuseMedia(part, exchange);
    return { type: 'image', source: { type: 'base64', media_type: mediaType, data: source.data } };
  }
  if (mediaType !== 'application/pdf') return refuseMedia(part, exchange);
  const document = isUrl
    ? { type: 'url', url: source.url }
    : { type: 'base64', media_type: mediaType, data: source.data };
  return { type: 'document', source: document, ...(name === null ? {} : { title: name }) };
}

/** Writes a text, except whitespace only, which the protocol refuses. */
const writeMessagesText = (text: string): Block[] => (text.trim() === '' ? [] : [{ type: 'text', text }]);

function writeMessagesContent(parts: readonly ContentPart[], exchange: TranslatedExchange): Block[] {
  return parts.flatMap((part): Block[] => {
    if (part.kind === 'media') return [writeMessagesMedia(part, exchange)];
    return part.kind === 'text' ? writeMessagesText(part.text) : [];
  });
}

function writeMessagesResult({ callId, content, isError }: ResultPart, exchange: TranslatedExchange): Block {
  const [first] = content;
  const isText = content.length === 1 && first?.kind === 'text';
  return {
    type: 'tool_result',
    tool_use_id: callId,
    ...(content.length === 0
      ? {}
      : { content: isText ? first.text : writeMessagesContent(content, exchange) }),
    ...(isError ? { is_error: true } : {}),
  };
}

function writeMessagesAssistantPart(
  part: ContentPart,
  isThinking: boolean,
  { model, names }: TranslatedExchange,
): Block[] {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return writeMessagesText(part.text);
    case 'thinking':
      return isThinking ? openReasoning(part.seal, 'messages', model).map((record) => ({ ...record })) : [];
    case 'call':
      return [
        {
          type: 'tool_use',
          id: part.id,
          name: names.toProvider(part),
          input: readArguments(part),
        },
      ];
    default:
      return [];
  }
}

function writeMessagesTurn(
  { role, parts }: ConversationTurn,
  isThinking: boolean,
  exchange: TranslatedExchange,
): Block[] {
  const content =
    role === 'assistant'
      ? parts.flatMap((part) => writeMessagesAssistantPart(part, isThinking, exchange))
      : [
          ...parts
            .filter((part) => part.kind === 'result')
            .map((result) => writeMessagesResult(result, exchange)),
          ...writeMessagesContent(parts, exchange),
        ];
  if (content.length > 0) return [{ role, content }];
  // An empty answer is omitted; a conversation that the user ended must end with the user.
  return role === 'assistant' ? [] : [{ role, content: writeMessagesText(NO_CONTENT.text) }];
}

/** Returns the last answer, which the model continues: the protocol refuses one that ends with whitespace. */
function trimLast(messages: Block[]): Block[] {
  const last = messages.at(-1);
  const block = (last?.content as Block[] | undefined)?.at(-1);
  if (last?.role === 'assistant' && typeof block?.text === 'string') block.text = block.text.trimEnd();
  return messages;
}

function writeMessagesTool(tool: ToolDefinition, { names }: TranslatedExchange): Block {
  const schema = tool.takesText ? TEXT_SCHEMA : fitToolSchema(tool.schema);
  const isStrict = tool.isStrict === true && isClosable(schema);
  return dropUnset({
    name: names.toProvider(tool),
    description: tool.takesText ? describeTextTool(tool) : tool.description,
    input_schema: isStrict ? fitAnthropicSchema(schema) : schema,
    strict: isStrict ? true : null,
  });
}

function writeMessagesToolChoice(
  { toolChoice, tools, isParallel }: Conversation,
  { names }: TranslatedExchange,
): Block | null {
  const single = isParallel === false ? { disable_parallel_tool_use: true } : {};
  if (toolChoice === null) return isParallel === false ? { type: 'auto', ...single } : null;
  if (toolChoice.kind === 'none') return { type: 'none' };
  if (toolChoice.kind !== 'tool') return { type: toolChoice.kind === 'required' ? 'any' : 'auto', ...single };
  const { name, namespace } = toolChoice;
  const takesText = tools.some((tool) => tool.name === name && tool.takesText);
  return { type: 'tool', name: names.toProvider({ name, namespace, takesText }), ...single };
}

/**
 * Reports whether thinking can be requested. It cannot with a forced call, if the model continues an answer, or in
 * the middle of calls whose thoughts are missing: the protocol requires the model's last answer to start with them.
 */
function canThink(
  { toolChoice }: Conversation,
  turns: readonly ConversationTurn[],
  { model }: TranslatedExchange,
): boolean {
  if (toolChoice?.kind === 'required' || toolChoice?.kind === 'tool') return false;
  const last = turns.at(-1);
  if (last?.role === 'assistant') return false;
  if (last?.parts[0]?.kind !== 'result') return true;
  const parts = turns.at(-2)?.parts ?? [];
  return parts.some(
    (part) => part.kind === 'thinking' && openReasoning(part.seal, 'messages', model).length > 0,
  );
}

function writeMessagesThinking(
  { effort }: Conversation,
  maxTokens: number,
  { model }: TranslatedExchange,
): Block {
  if (effort === null) return {};
  // Anthropic's models only think on request; others behind this protocol think by default.
  if (effort === 'none') return isClaude(model) ? {} : { thinking: { type: 'disabled' } };
  if (hasAdaptiveThinking(model)) {
    const most = effort === 'xhigh' && !knowsHighestEffort(model) ? 'high' : effort;
    const word = most === 'minimal' ? 'low' : most;
    return { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: word } };
  }
  const budget = Math.min(BUDGETS[effort], maxTokens - 1024);
  return budget < 1024 ? {} : { thinking: { type: 'enabled', budget_tokens: budget } };
}

function writeMessagesSampling(
  { temperature, topP, topK }: Conversation,
  isThinking: boolean,
  { model }: TranslatedExchange,
): Block {
  if (isThinking || !acceptsSampling(model)) return {};
  // The scale ends at 1 here and at 2 elsewhere; only one of the two fields is accepted.
  if (temperature !== null) return { temperature: Math.min(1, temperature), top_k: topK };
  return { top_p: topP, top_k: topK };
}

const JSON_ONLY = 'Answer with one JSON object and nothing else.';

/** Writes the body of `POST /v1/messages`. */
export function writeRequest(conversation: Conversation, exchange: TranslatedExchange): Block {
  const { format, stop } = conversation;
  if (stop.some((each) => each.trim() === ''))
    throw refuseField(
      FIELD_NAMES[exchange.from].stop,
      'the messages protocol does not support a stop sequence of whitespace only',
    );
  const tools = offeredTools(conversation).map((tool) => writeMessagesTool(tool, exchange));
  const { system, turns } = startWithUser(orderTurns(conversation, exchange, { keepsSystem: false }));
  if (turns.at(-1)?.role === 'assistant' && !continuesAnswers(exchange.model))
    turns.push({ role: 'user', parts: [{ kind: 'text', text: 'Continue.' }] });
  const texts = system.flatMap(({ text }) => writeMessagesText(text));
  if (format?.kind === 'json') texts.push({ type: 'text', text: JSON_ONLY });
  const { mostOutput } = exchange;
  const maxTokens = conversation.maxTokens ?? Math.min(DEFAULT_MAX_TOKENS, mostOutput ?? DEFAULT_MAX_TOKENS);
  const mayThink = canThink(conversation, turns, exchange);
  const { output_config: effort, ...thinking } = mayThink
    ? writeMessagesThinking(conversation, maxTokens, exchange)
    : {};
  const isThinking = 'thinking' in thinking && conversation.effort !== 'none';
  const schema =
    format?.kind === 'schema'
      ? { format: { type: 'json_schema', schema: fitAnthropicSchema(format.schema as RequestFields) } }
      : {};
  const output = { ...(effort as object | undefined), ...schema };
  return dropUnset({
    model: exchange.model,
    max_tokens: maxTokens,
    system: texts.length === 0 ? null : texts,
    messages: trimLast(turns.flatMap((turn) => writeMessagesTurn(turn, mayThink, exchange))),
    tools: tools.length === 0 ? null : tools,
    tool_choice: tools.length === 0 ? null : writeMessagesToolChoice(conversation, exchange),
    ...thinking,
    output_config: Object.keys(output).length === 0 ? null : output,
    ...writeMessagesSampling(conversation, isThinking, exchange),
    stop_sequences: stop.length === 0 ? null : stop,
    // The other protocols cache repeated content automatically; here it must be requested, and pays off in the loop of an agent.
    cache_control: tools.length > 0 && isClaude(exchange.model) ? { type: 'ephemeral' } : null,
    stream: conversation.isStream ? true : null,
  });
}
