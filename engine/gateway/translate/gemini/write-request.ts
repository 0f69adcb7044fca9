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
import { asText, dropUnset } from '../fields.ts';
import { BUDGETS, hasThinkingBudget, leastThinking, needsThoughtSignature } from '../model-traits.ts';
import { describeTextTool, offeredTools } from '../offer-tools.ts';
import { orderTurns, startWithUser } from '../order-turns.ts';
import { joinTexts } from '../part-texts.ts';
import { openReasoning } from '../reasoning.ts';
import { NO_SIGNATURE } from './signature.ts';

type Item = Record<string, unknown>;

const writeGeminiMedia = ({ source, mediaType }: MediaPart): Item =>
  'url' in source
    ? { fileData: { fileUri: source.url, ...(mediaType.endsWith('*') ? {} : { mimeType: mediaType }) } }
    : { inlineData: { mimeType: mediaType, data: source.data } };

function writeGeminiResult(result: ResultPart, calls: ReadonlyMap<string, string>): Item {
  const { callId, name, content, isError } = result;
  const called = calls.get(callId) ?? name;
  const text = joinTexts(content);
  return {
    functionResponse: { id: callId, name: called, response: isError ? { error: text } : { output: text } },
  };
}

function writeGeminiUser(parts: readonly ContentPart[], calls: ReadonlyMap<string, string>): Item[] {
  const results = parts.filter((part) => part.kind === 'result');
  // Only newer models accept media inside a response; next to it, all do.
  const media = results.flatMap(({ content }) => content.filter((part) => part.kind === 'media'));
  const others = parts.flatMap((part): Item[] => {
    if (part.kind === 'media') return [writeGeminiMedia(part)];
    return part.kind === 'text' && part.text !== '' ? [{ text: part.text }] : [];
  });
  return [
    ...results.map((result) => writeGeminiResult(result, calls)),
    ...media.map(writeGeminiMedia),
    ...others,
  ];
}

/** Writes a model turn. A signature is returned with its text or call; newer models require it for the first call of a turn. */
function writeModel(parts: readonly ContentPart[], { model, names }: TranslatedExchange): Item[] {
  let signature = '';
  let hasCalls = false;
  const sign = (part: Item, otherwise = ''): Item => {
    const thoughtSignature = signature || otherwise;
    signature = '';
    return thoughtSignature === '' ? part : { ...part, thoughtSignature };
  };
  const written = parts.flatMap((part): Item[] => {
    if (part.kind === 'thinking') {
      for (const record of openReasoning(part.seal, 'gemini', model))
        signature = asText(record.signature) || signature;
      return [];
    }
    if (part.kind === 'text' || part.kind === 'refusal')
      return part.text === '' ? [] : [sign({ text: part.text })];
    if (part.kind !== 'call') return [];
    const needed = !hasCalls && needsThoughtSignature(model) ? NO_SIGNATURE : '';
    hasCalls = true;
    return [
      sign(
        { functionCall: { id: part.id, name: names.toProvider(part), args: readArguments(part) } },
        needed,
      ),
    ];
  });
  return signature === '' ? written : [...written, sign({ text: '' })];
}

function writeGeminiTurn(
  { role, parts }: ConversationTurn,
  calls: ReadonlyMap<string, string>,
  exchange: TranslatedExchange,
): Item[] {
  const written = role === 'assistant' ? writeModel(parts, exchange) : writeGeminiUser(parts, calls);
  return written.length === 0 ? [] : [{ role: role === 'assistant' ? 'model' : 'user', parts: written }];
}

function writeGeminiTool(tool: ToolDefinition, { names }: TranslatedExchange): Item {
  return dropUnset({
    name: names.toProvider(tool),
    description: tool.takesText ? describeTextTool(tool) : tool.description,
    parametersJsonSchema: tool.takesText ? TEXT_SCHEMA : tool.schema,
  });
}

function writeGeminiToolChoice({ toolChoice }: Conversation, { names }: TranslatedExchange): Item | null {
  if (toolChoice === null) return null;
  const modes = { auto: 'AUTO', none: 'NONE', required: 'ANY', tool: 'ANY' } as const;
  const mode = modes[toolChoice.kind];
  if (toolChoice.kind !== 'tool') return { functionCallingConfig: { mode } };
  const name = names.toProvider({ ...toolChoice, takesText: false });
  return { functionCallingConfig: { mode, allowedFunctionNames: [name] } };
}

function writeGeminiThinking({ effort }: Conversation, { model }: TranslatedExchange): Item | null {
  if (effort === null) return null;
  if (effort === 'none') return leastThinking(model);
  if (hasThinkingBudget(model)) return { includeThoughts: true, thinkingBudget: BUDGETS[effort] };
  if (!needsThoughtSignature(model)) return null;
  // The levels that all of these models know.
  const level = { minimal: 'low', xhigh: 'high', max: 'high', low: 'low', medium: 'medium', high: 'high' }[
    effort
  ];
  return { includeThoughts: true, thinkingLevel: level.toUpperCase() };
}

function writeGeminiConfig(conversation: Conversation, exchange: TranslatedExchange): Item {
  const { format } = conversation;
  return dropUnset({
    maxOutputTokens: conversation.maxTokens,
    temperature: conversation.temperature,
    topP: conversation.topP,
    topK: conversation.topK,
    stopSequences: conversation.stop.length === 0 ? null : conversation.stop,
    seed: conversation.seed,
    presencePenalty: conversation.presencePenalty,
    frequencyPenalty: conversation.frequencyPenalty,
    responseMimeType: format === null ? null : 'application/json',
    responseJsonSchema: format?.kind === 'schema' ? format.schema : null,
    thinkingConfig: writeGeminiThinking(conversation, exchange),
  });
}

/** Writes the body of `generateContent`; the model is in the path of the request. */
export function writeRequest(conversation: Conversation, exchange: TranslatedExchange): Item {
  const declarations = offeredTools(conversation).map((tool) => writeGeminiTool(tool, exchange));
  const { system, turns } = startWithUser(orderTurns(conversation, exchange, { keepsSystem: false }));
  const calls = new Map(
    turns.flatMap(({ parts }) =>
      parts.flatMap((part) =>
        part.kind === 'call' ? [[part.id, exchange.names.toProvider(part)] as const] : [],
      ),
    ),
  );
  const config = writeGeminiConfig(conversation, exchange);
  return dropUnset({
    systemInstruction: system.length === 0 ? null : { parts: system.map(({ text }) => ({ text })) },
    contents: turns.flatMap((turn) => writeGeminiTurn(turn, calls, exchange)),
    tools: declarations.length === 0 ? null : [{ functionDeclarations: declarations }],
    toolConfig: declarations.length === 0 ? null : writeGeminiToolChoice(conversation, exchange),
    generationConfig: Object.keys(config).length === 0 ? null : config,
  });
}
