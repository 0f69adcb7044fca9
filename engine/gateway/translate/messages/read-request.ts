import { isJsonObject } from '../../../core/base/json-object.ts';
import {
  type ContentPart,
  type Conversation,
  type ConversationTurn,
  emptyConversation,
  type MediaPart,
  type ResultPart,
  type TextPart,
  type ToolChoice,
  type ToolDefinition,
} from '../conversation.ts';
import { asFields, asFieldsList, asText, numberOrNull, type RequestFields, textOrNull } from '../fields.ts';
import { guessMediaType, makeMedia } from '../media.ts';
import { effortOfBudget, readEffort } from '../model-traits.ts';
import { isReasoningSeal } from '../reasoning.ts';
import { refuseField, refuseIfSet } from '../refusal.ts';

/** Tools that Anthropic runs itself. */
const HOSTED_TOOL = /^(?:web_search|web_fetch|code_execution|tool_search_tool|advisor|mcp_toolset)/;

/** The output of those tools, which is omitted from a conversation. */
const HOSTED_BLOCK = /^(?:server_tool_use|mcp_tool_(?:use|result)|\w+_tool_result|compaction)$/;

/**
 * A line for Anthropic's accounting in the system prompt of Claude Code. It differs in each request, so a prompt
 * cache would never hit.
 */
const BOOKKEEPING = 'x-anthropic-billing-header:';

const makeTextPart = (text: string): TextPart => ({ kind: 'text', text: text.toWellFormed() });

function readMessagesSource(
  block: RequestFields,
  otherwise: string,
  field: string,
): (TextPart | MediaPart)[] {
  const source = asFields(block.source);
  const name = textOrNull(block.title);
  switch (source.type) {
    case 'base64':
      return [makeMedia(asText(source.media_type) || otherwise, { data: asText(source.data) }, { name })];
    case 'url': {
      const url = asText(source.url);
      return [makeMedia(guessMediaType(url, otherwise), { url }, { name })];
    }
    case 'text':
      return [makeTextPart([name ?? '', asText(source.data)].filter((text) => text !== '').join('\n'))];
    case 'content':
      return readMessagesContent(source.content, field).filter(isContent);
    default:
      throw refuseField(`${field}.source`, 'only its own provider knows a stored file');
  }
}

const isContent = (part: ContentPart): part is TextPart | MediaPart =>
  part.kind === 'text' || part.kind === 'media';

function readMessagesResult(block: RequestFields, field: string): ResultPart {
  return {
    kind: 'result',
    callId: asText(block.tool_use_id),
    name: null,
    content: readMessagesContent(block.content, `${field}.content`).filter(isContent),
    isError: block.is_error === true,
  };
}

function readMessagesBlock(block: RequestFields, field: string): ContentPart[] {
  const type = asText(block.type);
  switch (type) {
    case 'text':
      return [makeTextPart(asText(block.text))];
    case 'image':
      return readMessagesSource(block, 'image/*', field);
    case 'document':
      return readMessagesSource(block, 'application/pdf', field);
    case 'search_result':
      return [
        makeTextPart([block.title, block.source].map(asText).join('\n')),
        ...readMessagesContent(block.content, field),
      ];
    // The tools themselves are among the tools of the request.
    case 'tool_reference':
      return [makeTextPart(`The tool ${asText(block.tool_name)} can be called now.`)];
    // Only a record that we sealed is of use to another provider.
    case 'thinking': {
      const seal = asText(block.signature);
      return isReasoningSeal(seal) ? [{ kind: 'thinking', text: asText(block.thinking), seal }] : [];
    }
    case 'redacted_thinking':
      return [];
    case 'tool_use': {
      const { id, name, input } = block;
      const call = { id: asText(id), name: asText(name), namespace: null, takesText: false };
      return [{ kind: 'call', ...call, input: isJsonObject(input) ? input : asText(input) }];
    }
    case 'tool_result':
      return [readMessagesResult(block, field)];
    default:
      if (HOSTED_BLOCK.test(type)) return [];
      throw refuseField(field, `a block of type ${JSON.stringify(type)} cannot be translated`);
  }
}

function readMessagesContent(content: unknown, field: string): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [makeTextPart(content)];
  return asFieldsList(content).flatMap((block, index) => readMessagesBlock(block, `${field}[${index}]`));
}

function readMessagesTurn({ role, content }: RequestFields, field: string): ConversationTurn {
  if (role !== 'user' && role !== 'assistant' && role !== 'system')
    throw refuseField(`${field}.role`, `${JSON.stringify(role ?? null)} cannot be translated`);
  return { role, parts: readMessagesContent(content, `${field}.content`) };
}

function readMessagesSystem(system: unknown): ConversationTurn[] {
  const parts = readMessagesContent(system, 'system').filter(
    (part) => part.kind === 'text' && !part.text.startsWith(BOOKKEEPING),
  );
  return parts.length === 0 ? [] : [{ role: 'system', parts }];
}

function readMessagesTool(tool: RequestFields, field: string): ToolDefinition {
  if (!isJsonObject(tool.input_schema))
    throw refuseField(
      field,
      `only models of the same provider know a tool of type ${JSON.stringify(tool.type ?? null)}`,
    );
  return {
    name: asText(tool.name),
    namespace: null,
    description: textOrNull(tool.description),
    schema: tool.input_schema,
    isStrict: typeof tool.strict === 'boolean' ? tool.strict : null,
    takesText: false,
    textFormat: null,
  };
}

function readMessagesTools(list: unknown): Pick<Conversation, 'tools' | 'hostedTools'> {
  const tools: ToolDefinition[] = [];
  const hostedTools: string[] = [];
  for (const [index, tool] of asFieldsList(list).entries()) {
    const field = `tools[${index}]`;
    if (HOSTED_TOOL.test(asText(tool.type))) hostedTools.push(field);
    else tools.push(readMessagesTool(tool, field));
  }
  return { tools, hostedTools };
}

function readMessagesToolChoice({ type, name }: RequestFields): ToolChoice | null {
  switch (type) {
    case 'auto':
    case 'none':
      return { kind: type };
    case 'any':
      return { kind: 'required' };
    case 'tool':
      return { kind: 'tool', name: asText(name), namespace: null };
    default:
      return null;
  }
}

/** Reads the thinking options. A model with thinking disabled has no other effort either. */
function readThinking(
  { type, budget_tokens: budget }: RequestFields,
  effort: Conversation['effort'],
): Conversation['effort'] {
  if (type === 'disabled') return 'none';
  return effort ?? (type === 'enabled' ? effortOfBudget(numberOrNull(budget) ?? -1) : null);
}

/** Reads the body of `POST /v1/messages`. Cache marks are omitted: other protocols cache automatically. */
export function readRequest(body: RequestFields): Conversation {
  if (body.max_tokens === 0)
    throw refuseField('max_tokens', 'filling a cache without an answer cannot be translated');
  refuseIfSet(body, 'container', 'only its own provider knows a container');
  if (asFieldsList(body.mcp_servers).length > 0)
    throw refuseField('mcp_servers', 'only the provider of that protocol can call these servers');
  const output = asFields(body.output_config);
  const format = asFields(output.format);
  const choice = asFields(body.tool_choice);
  return {
    ...emptyConversation(),
    turns: [
      ...readMessagesSystem(body.system),
      ...asFieldsList(body.messages).map((message, index) => readMessagesTurn(message, `messages[${index}]`)),
    ],
    ...readMessagesTools(body.tools),
    toolChoice: readMessagesToolChoice(choice),
    isParallel:
      typeof choice.disable_parallel_tool_use === 'boolean' ? !choice.disable_parallel_tool_use : null,
    maxTokens: numberOrNull(body.max_tokens),
    temperature: numberOrNull(body.temperature),
    topP: numberOrNull(body.top_p),
    topK: numberOrNull(body.top_k),
    stop: Array.isArray(body.stop_sequences)
      ? body.stop_sequences.filter((each) => typeof each === 'string')
      : [],
    format: isJsonObject(format.schema)
      ? { kind: 'schema', name: null, description: null, schema: format.schema, isStrict: true }
      : null,
    effort: readThinking(asFields(body.thinking), readEffort(output.effort)),
    isStream: body.stream === true,
  };
}
