import { isJsonObject } from '../../../core/base/json-object.ts';
import {
  type ContentPart,
  type Conversation,
  type ConversationTurn,
  emptyConversation,
  type MediaPart,
  type TextPart,
  type ToolChoice,
  type ToolDefinition,
} from '../conversation.ts';
import {
  asFields,
  asFieldsList,
  asList,
  asText,
  numberOrNull,
  type RequestFields,
  textOrNull,
} from '../fields.ts';
import { readMediaUrl } from '../media.ts';
import { readEffort } from '../model-traits.ts';
import { readRelated } from '../openai/related-fields.ts';
import { readAnswerFormat } from '../openai/schemas.ts';
import { isReasoningSeal } from '../reasoning.ts';
import { refuseField, refuseIfSet } from '../refusal.ts';

const READ = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'text',
  'reasoning',
  'stream',
]);

const DROPPED = new Set([
  'previous_response_id',
  'conversation',
  'prompt',
  'include',
  'store',
  'metadata',
  'client_metadata',
  'stream_options',
  'truncation',
  'max_tool_calls',
  'context_management',
  'access_programs',
  'image',
  'moderation',
  'background',
  'top_logprobs',
]);

/** Reports whether a field of the protocol is read, refused or omitted; all others are related fields. */
export const isKnownField = (field: string): boolean => READ.has(field) || DROPPED.has(field);

/** Tools that OpenAI runs itself, and their output items, which are omitted from a conversation. */
const HOSTED_TOOL =
  /^(?:web_search|file_search|code_interpreter|image_generation|mcp|tool_search|programmatic_tool_calling)/;
const HOSTED_ITEM = /^(?:web_search|file_search|code_interpreter|image_generation|mcp|tool_search|program)/;

function readResponsesPart(part: RequestFields, field: string): ContentPart {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return { kind: 'text', text: asText(part.text).toWellFormed() };
    case 'refusal':
      return { kind: 'refusal', text: asText(part.refusal) };
    case 'input_image': {
      const url = textOrNull(part.image_url);
      if (url === null) throw refuseField(`${field}.file_id`, 'only its own provider knows a stored image');
      return readMediaUrl(url, { field, otherwise: 'image/*', detail: textOrNull(part.detail) });
    }
    case 'input_file': {
      const url = textOrNull(part.file_data) ?? textOrNull(part.file_url);
      if (url === null) throw refuseField(`${field}.file_id`, 'only its own provider knows a stored file');
      return readMediaUrl(url, { field, otherwise: 'application/pdf', name: textOrNull(part.filename) });
    }
    default:
      throw refuseField(field, `a part of type ${JSON.stringify(part.type ?? null)} cannot be translated`);
  }
}

function readResponsesContent(content: unknown, field: string): ContentPart[] {
  if (typeof content === 'string')
    return content === '' ? [] : [{ kind: 'text', text: content.toWellFormed() }];
  return asFieldsList(content).map((part, index) => readResponsesPart(part, `${field}[${index}]`));
}

function readResponsesMessage(item: RequestFields, field: string): ConversationTurn {
  const parts = readResponsesContent(item.content, `${field}.content`);
  switch (item.role) {
    case 'system':
    case 'developer':
      return { role: 'system', parts };
    case 'user':
    case 'assistant':
      return { role: item.role, parts };
    default:
      throw refuseField(`${field}.role`, `${JSON.stringify(item.role ?? null)} cannot be translated`);
  }
}

/** Reads a reasoning item. Only a record that we sealed is of use to another provider; text alone is not replayed. */
function readReasoning(item: RequestFields): ContentPart[] {
  const seal = asText(item.encrypted_content);
  if (!isReasoningSeal(seal)) return [];
  return [
    {
      kind: 'thinking',
      text: asFieldsList(item.summary)
        .map(({ text }) => asText(text))
        .join('\n\n'),
      seal,
    },
  ];
}

function readResponsesResult(item: RequestFields, field: string): ConversationTurn {
  const content = readResponsesContent(item.output, `${field}.output`).filter(
    (part): part is TextPart | MediaPart => part.kind === 'text' || part.kind === 'media',
  );
  const name = textOrNull(item.name);
  return {
    role: 'user',
    parts: [{ kind: 'result', callId: asText(item.call_id), name, content, isError: false }],
  };
}

/** Reads an item of the input as a turn; null for an omitted one. */
function readResponsesItem(item: RequestFields, field: string): ConversationTurn | null {
  const type = asText(item.type) || 'message';
  const isCustom = type === 'custom_tool_call';
  switch (type) {
    case 'message':
      return readResponsesMessage(item, field);
    case 'function_call':
    case 'custom_tool_call':
      return {
        role: 'assistant',
        parts: [
          {
            kind: 'call',
            id: asText(item.call_id),
            name: asText(item.name),
            namespace: textOrNull(item.namespace),
            takesText: isCustom,
            input: asText(isCustom ? item.input : item.arguments),
          },
        ],
      };
    case 'function_call_output':
    case 'custom_tool_call_output':
      return readResponsesResult(item, field);
    case 'reasoning':
      return { role: 'assistant', parts: readReasoning(item) };
    case 'additional_tools':
      return null;
    default:
      if (HOSTED_ITEM.test(type)) return null;
      throw refuseField(field, `an item of type ${JSON.stringify(type)} cannot be translated`);
  }
}

interface Tools {
  tools: ToolDefinition[];
  hostedTools: string[];
}

function readResponsesTool(tool: RequestFields, namespace: string | null, field: string): Tools {
  const type = asText(tool.type);
  const base = { name: asText(tool.name), namespace, description: textOrNull(tool.description) };
  if (type === 'function') {
    const schema = isJsonObject(tool.parameters) ? tool.parameters : null;
    const isStrict = typeof tool.strict === 'boolean' ? tool.strict : null;
    return { tools: [{ ...base, schema, isStrict, takesText: false, textFormat: null }], hostedTools: [] };
  }
  if (type === 'custom') {
    const textFormat = isJsonObject(tool.format) && tool.format.type === 'grammar' ? tool.format : null;
    return {
      tools: [{ ...base, schema: null, isStrict: null, takesText: true, textFormat }],
      hostedTools: [],
    };
  }
  if (type === 'namespace') return readResponsesTools(tool.tools, base.name, `${field}.tools`);
  if (HOSTED_TOOL.test(type)) return { tools: [], hostedTools: [field] };
  throw refuseField(field, `a tool of type ${JSON.stringify(type)} cannot be translated`);
}

function readResponsesTools(list: unknown, namespace: string | null, field: string): Tools {
  const read = asFieldsList(list).map((tool, index) =>
    readResponsesTool(tool, namespace, `${field}[${index}]`),
  );
  return {
    tools: read.flatMap(({ tools }) => tools),
    hostedTools: read.flatMap(({ hostedTools }) => hostedTools),
  };
}

function readNamed(tool: RequestFields, field: string): { name: string; namespace: string | null } {
  if (tool.type !== 'function' && tool.type !== 'custom')
    throw refuseField(field, `a tool of type ${JSON.stringify(tool.type ?? null)} cannot be chosen`);
  return { name: asText(tool.name), namespace: textOrNull(tool.namespace) };
}

function readResponsesToolChoice(choice: unknown): Pick<Conversation, 'toolChoice' | 'allowedTools'> {
  const plain = (kind: unknown): ToolChoice | null =>
    kind === 'auto' || kind === 'none' || kind === 'required' ? { kind } : null;
  if (!isJsonObject(choice)) return { toolChoice: plain(choice), allowedTools: null };
  if (choice.type !== 'allowed_tools')
    return { toolChoice: { kind: 'tool', ...readNamed(choice, 'tool_choice') }, allowedTools: null };
  const allowed = asFieldsList(choice.tools).filter(({ type }) => !HOSTED_TOOL.test(asText(type)));
  return {
    toolChoice: plain(choice.mode),
    allowedTools: allowed.map((tool) => readNamed(tool, 'tool_choice.tools')),
  };
}

function refuseResponsesOnly(body: RequestFields): void {
  refuseIfSet(
    body,
    'previous_response_id',
    'earlier responses are not stored here: send the whole conversation as input',
  );
  refuseIfSet(
    body,
    'conversation',
    'conversations are not stored here: send the whole conversation as input',
  );
  refuseIfSet(body, 'prompt', 'only its own provider knows a stored prompt');
  refuseIfSet(body, 'background', 'a background answer cannot be translated');
  if ((numberOrNull(body.top_logprobs) ?? 0) > 0)
    throw refuseField('top_logprobs', 'probabilities of tokens cannot be translated');
  if (asList(body.include).includes('message.output_text.logprobs'))
    throw refuseField('include', 'probabilities of tokens cannot be translated');
}

/** Reads the body of `POST /v1/responses`. */
export function readRequest(body: RequestFields): Conversation {
  refuseResponsesOnly(body);
  const items =
    typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : asFieldsList(body.input);
  const instructions = textOrNull(body.instructions);
  const turns = items.flatMap((item, index) => readResponsesItem(item, `input[${index}]`) ?? []);
  const later = items.filter(({ type }) => type === 'additional_tools').flatMap(({ tools }) => asList(tools));
  const text = asFields(body.text);
  return {
    ...emptyConversation(),
    turns:
      instructions === null
        ? turns
        : [{ role: 'system', parts: [{ kind: 'text', text: instructions }] }, ...turns],
    ...readResponsesTools([...asList(body.tools), ...later], null, 'tools'),
    ...readResponsesToolChoice(body.tool_choice),
    isParallel: typeof body.parallel_tool_calls === 'boolean' ? body.parallel_tool_calls : null,
    maxTokens: numberOrNull(body.max_output_tokens),
    temperature: numberOrNull(body.temperature),
    topP: numberOrNull(body.top_p),
    format: readAnswerFormat(text.format, (format) => format),
    effort: readEffort(asFields(body.reasoning).effort),
    isStream: body.stream === true,
    related: {
      ...readRelated(body, isKnownField),
      ...(typeof text.verbosity === 'string' ? { verbosity: text.verbosity } : {}),
    },
  };
}
