import { isJsonObject } from '../../../core/base/json-object.ts';
import {
  type ContentPart,
  type Conversation,
  emptyConversation,
  type MediaPart,
  type TextPart,
  type ToolChoice,
  type ToolDefinition,
} from '../conversation.ts';
import { asFields, asFieldsList, asText, numberOrNull, type RequestFields, textOrNull } from '../fields.ts';
import { makeMedia, readMediaUrl } from '../media.ts';
import { readEffort } from '../model-traits.ts';
import { readRelated } from '../openai/related-fields.ts';
import { readAnswerFormat } from '../openai/schemas.ts';
import { refuseField, refuseIfSet } from '../refusal.ts';
import { readCallSignature } from './answer.ts';

const READ = new Set([
  'model',
  'messages',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop',
  'seed',
  'presence_penalty',
  'frequency_penalty',
  'response_format',
  'reasoning_effort',
  'reasoning',
  'thinking',
  'enable_thinking',
  'chat_template_kwargs',
  'stream',
  'verbosity',
]);

const DROPPED = new Set([
  'stream_options',
  'store',
  'metadata',
  'prediction',
  'modalities',
  'moderation',
  'web_search_options',
  'n',
  'logprobs',
  'top_logprobs',
  'logit_bias',
  'audio',
  'functions',
  'function_call',
]);

/** Reports whether a field of the protocol is read, refused or omitted; all others are related fields. */
export const isKnownField = (field: string): boolean => READ.has(field) || DROPPED.has(field);

function readChatPart(part: RequestFields, field: string): ContentPart {
  switch (part.type) {
    case 'text':
      return { kind: 'text', text: asText(part.text).toWellFormed() };
    case 'refusal':
      return { kind: 'refusal', text: asText(part.refusal) };
    case 'image_url': {
      const image = isJsonObject(part.image_url) ? part.image_url : { url: part.image_url };
      return readMediaUrl(asText(image.url), {
        field,
        otherwise: 'image/*',
        detail: textOrNull(image.detail),
      });
    }
    case 'input_audio': {
      const { data, format } = asFields(part.input_audio);
      return makeMedia(`audio/${asText(format) || 'wav'}`, { data: asText(data) });
    }
    case 'file': {
      const { file_data: data, filename } = asFields(part.file);
      if (typeof data !== 'string')
        throw refuseField(`${field}.file`, 'only its own provider knows a stored file');
      return readMediaUrl(data, { field, otherwise: 'application/pdf', name: textOrNull(filename) });
    }
    default:
      throw refuseField(field, `a part of type ${JSON.stringify(part.type ?? null)} cannot be translated`);
  }
}

function readChatContent(content: unknown, field: string): ContentPart[] {
  if (typeof content === 'string')
    return content === '' ? [] : [{ kind: 'text', text: content.toWellFormed() }];
  return asFieldsList(content).map((part, index) => readChatPart(part, `${field}[${index}]`));
}

function readCalls(message: RequestFields): ContentPart[] {
  const legacy = isJsonObject(message.function_call) ? [{ function: message.function_call }] : [];
  return [...asFieldsList(message.tool_calls), ...legacy].flatMap((call: RequestFields): ContentPart[] => {
    const custom = call.type === 'custom' ? asFields(call.custom) : null;
    const { name, arguments: input } = asFields(call.function);
    const seal = readCallSignature(call)?.signature ?? null;
    const part: ContentPart = {
      kind: 'call',
      id: asText(call.id),
      name: asText(custom === null ? name : custom.name),
      namespace: null,
      takesText: custom !== null,
      input: custom === null ? (isJsonObject(input) ? input : asText(input)) : asText(custom.input),
    };
    return seal !== null ? [{ kind: 'thinking', text: '', seal }, part] : [part];
  });
}

function readChatMessage(message: RequestFields, field: string): Conversation['turns'][number] {
  const content = readChatContent(message.content, `${field}.content`);
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts: content };
    case 'user':
      return { role: 'user', parts: content };
    case 'assistant': {
      const refusal = textOrNull(message.refusal);
      if (isJsonObject(message.audio))
        throw refuseField(`${field}.audio`, 'only its own provider knows a stored answer');
      const parts = refusal === null ? content : [...content, { kind: 'refusal' as const, text: refusal }];
      return { role: 'assistant', parts: [...parts, ...readCalls(message)] };
    }
    case 'tool': {
      const parts = content.filter(
        (part): part is TextPart | MediaPart => part.kind === 'text' || part.kind === 'media',
      );
      const callId = asText(message.tool_call_id);
      return {
        role: 'user',
        parts: [{ kind: 'result', callId, name: textOrNull(message.name), content: parts, isError: false }],
      };
    }
    default:
      throw refuseField(`${field}.role`, `${JSON.stringify(message.role ?? null)} cannot be translated`);
  }
}

function readChatTool(tool: RequestFields, field: string): ToolDefinition {
  if (tool.type === 'custom') {
    const { name, description, format } = asFields(tool.custom);
    const { grammar } = asFields(format);
    return {
      name: asText(name),
      namespace: null,
      description: textOrNull(description),
      schema: null,
      isStrict: null,
      takesText: true,
      textFormat: isJsonObject(grammar) ? { type: 'grammar', ...grammar } : null,
    };
  }
  if (!isJsonObject(tool.function))
    throw refuseField(field, `a tool of type ${JSON.stringify(tool.type ?? null)} cannot be translated`);
  const { name, description, parameters, strict } = tool.function;
  return {
    name: asText(name),
    namespace: null,
    description: textOrNull(description),
    schema: isJsonObject(parameters) ? parameters : null,
    isStrict: typeof strict === 'boolean' ? strict : null,
    takesText: false,
    textFormat: null,
  };
}

/** Returns the tool name in a tool choice of any type. */
const findChosenTool = (tool: RequestFields): string => asText(asFields(tool[asText(tool.type)]).name);

function readChatToolChoice(choice: unknown): Pick<Conversation, 'toolChoice' | 'allowedTools'> {
  const plain = (kind: unknown): ToolChoice | null =>
    kind === 'auto' || kind === 'none' || kind === 'required' ? { kind } : null;
  if (!isJsonObject(choice)) return { toolChoice: plain(choice), allowedTools: null };
  if (choice.type !== 'allowed_tools')
    return {
      toolChoice: { kind: 'tool', name: findChosenTool(choice), namespace: null },
      allowedTools: null,
    };
  const { mode, tools } = asFields(choice.allowed_tools);
  const allowedTools = asFieldsList(tools).map((tool) => ({ name: findChosenTool(tool), namespace: null }));
  return { toolChoice: plain(mode), allowedTools };
}

function refuseChatOnly(body: RequestFields): void {
  if ((numberOrNull(body.n) ?? 1) > 1) throw refuseField('n', 'only one answer can be translated');
  refuseIfSet(body, 'logprobs', 'probabilities of tokens cannot be translated');
  refuseIfSet(body, 'logit_bias', 'token numbers differ between models');
  refuseIfSet(body, 'audio', 'a spoken answer cannot be translated');
  refuseIfSet(body, 'functions', 'use tools instead');
}

/** Returns the effort of thinking, by OpenAI's field or by other servers' fields for disabling thinking. */
function readBodyEffort(body: RequestFields): Conversation['effort'] {
  const reasoning = asFields(body.reasoning);
  const template = asFields(body.chat_template_kwargs);
  const isOff =
    asFields(body.thinking).type === 'disabled' ||
    [body.enable_thinking, template.enable_thinking, template.thinking, reasoning.enabled].includes(false);
  return isOff ? 'none' : (readEffort(body.reasoning_effort) ?? readEffort(reasoning.effort));
}

/** Reads the body of `POST /v1/chat/completions`. */
export function readRequest(body: RequestFields): Conversation {
  refuseChatOnly(body);
  const { stop, verbosity } = body;
  return {
    ...emptyConversation(),
    turns: asFieldsList(body.messages).map((message, index) =>
      readChatMessage(message, `messages[${index}]`),
    ),
    tools: asFieldsList(body.tools).map((tool, index) => readChatTool(tool, `tools[${index}]`)),
    hostedTools: isJsonObject(body.web_search_options) ? ['web_search_options'] : [],
    ...readChatToolChoice(body.tool_choice),
    isParallel: typeof body.parallel_tool_calls === 'boolean' ? body.parallel_tool_calls : null,
    maxTokens: numberOrNull(body.max_completion_tokens) ?? numberOrNull(body.max_tokens),
    temperature: numberOrNull(body.temperature),
    topP: numberOrNull(body.top_p),
    topK: numberOrNull(body.top_k),
    stop: (Array.isArray(stop) ? stop : [stop]).filter(
      (each): each is string => typeof each === 'string' && each !== '',
    ),
    seed: numberOrNull(body.seed),
    presencePenalty: numberOrNull(body.presence_penalty),
    frequencyPenalty: numberOrNull(body.frequency_penalty),
    format: readAnswerFormat(body.response_format, (format) => asFields(format.json_schema)),
    effort: readBodyEffort(body),
    isStream: body.stream === true,
    related: {
      ...readRelated(body, isKnownField),
      ...(typeof verbosity === 'string' ? { verbosity } : {}),
    },
  };
}
