import { isJsonObject } from '../../../core/base/json-object.ts';
import {
  type ContentPart,
  type Conversation,
  type ConversationTurn,
  emptyConversation,
  type TextPart,
  type ToolChoice,
  type ToolDefinition,
} from '../conversation.ts';
import {
  asFields,
  asFieldsList,
  asList,
  asText,
  lookUp,
  numberOrNull,
  type RequestFields,
  textOrNull,
} from '../fields.ts';
import { guessMediaType, makeMedia } from '../media.ts';
import { effortOfBudget, readEffort } from '../model-traits.ts';
import { isReasoningSeal } from '../reasoning.ts';
import { refuseField, refuseIfSet } from '../refusal.ts';
import { toJsonSchema } from './schema.ts';

const toSnake = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Reads a field by its name, in either spelling. */
const field = (fields: RequestFields, name: string): unknown => fields[name] ?? fields[toSnake(name)];

/** Output of tools that Google runs itself, which is omitted from a conversation, and annotations of a part. */
const HOSTED_PARTS = new Set([
  'executable_code',
  'code_execution_result',
  'tool_call',
  'tool_response',
  'thought',
  'thought_signature',
  'part_metadata',
]);

/** Files stored at Google, which no other provider can fetch. */
const STORED = /^(?:gs:|https:\/\/generativelanguage\.googleapis\.com\/)/;

/** Assigns ids to calls and results without them: results come in the order of the calls of the same name. */
function createCallIds() {
  let count = 0;
  const open: { id: string; name: string }[] = [];
  return {
    forCall(call: RequestFields): string {
      const id = textOrNull(call.id) ?? `call_${count}`;
      count += 1;
      open.push({ id, name: asText(call.name) });
      return id;
    },
    forResult(result: RequestFields): string {
      const given = textOrNull(result.id);
      const index = open.findIndex(({ id, name }) => (given === null ? name === result.name : id === given));
      const [found] = index < 0 ? [] : open.splice(index, 1);
      return given ?? found?.id ?? `call_of_${asText(result.name)}`;
    },
  };
}

type CallIds = ReturnType<typeof createCallIds>;

function readMedia(part: RequestFields, at: string): ContentPart | null {
  const inline = field(part, 'inlineData');
  if (isJsonObject(inline)) {
    const mediaType = asText(field(inline, 'mimeType'));
    const name = textOrNull(field(inline, 'displayName'));
    return makeMedia(mediaType, { data: asText(inline.data) }, { name });
  }
  const file = field(part, 'fileData');
  if (!isJsonObject(file)) return null;
  const url = asText(field(file, 'fileUri'));
  if (STORED.test(url)) throw refuseField(`${at}.fileData`, 'only its own provider knows a stored file');
  const mediaType = textOrNull(field(file, 'mimeType')) ?? guessMediaType(url, 'application/octet-stream');
  return makeMedia(mediaType, { url });
}

function readGeminiResult(response: RequestFields, at: string, ids: CallIds): ContentPart {
  const said = asFields(response.response);
  const keys = Object.keys(said);
  const only = keys.length === 1 ? said[keys[0]!] : undefined;
  const isError = keys.length === 1 && keys[0] === 'error';
  const isPlain = typeof only === 'string' && (isError || keys[0] === 'output' || keys[0] === 'result');
  const text: TextPart = { kind: 'text', text: (isPlain ? only : JSON.stringify(said)).toWellFormed() };
  const media = asFieldsList(response.parts).flatMap((part) => readMedia(part, at) ?? []);
  return {
    kind: 'result',
    callId: ids.forResult(response),
    name: textOrNull(response.name),
    content: [text, ...media.filter((part) => part.kind === 'media')],
    isError,
  };
}

function readGeminiPart(part: RequestFields, at: string, ids: CallIds): ContentPart[] {
  const seal = asText(field(part, 'thoughtSignature'));
  // Only a record that we sealed is of use to another provider.
  const thoughts: ContentPart[] = isReasoningSeal(seal) ? [{ kind: 'thinking', text: '', seal }] : [];
  const call = field(part, 'functionCall');
  if (isJsonObject(call)) {
    const base = { id: ids.forCall(call), name: asText(call.name), namespace: null, takesText: false };
    return [...thoughts, { kind: 'call', ...base, input: asFields(call.args) }];
  }
  const response = field(part, 'functionResponse');
  if (isJsonObject(response)) return [readGeminiResult(response, at, ids)];
  const media = readMedia(part, at);
  if (media !== null) return [media];
  if (part.thought === true) return thoughts;
  if (typeof part.text === 'string') return [...thoughts, { kind: 'text', text: part.text.toWellFormed() }];
  const strange = Object.keys(part).find((name) => !HOSTED_PARTS.has(toSnake(name)));
  if (strange !== undefined) throw refuseField(`${at}.${strange}`, 'this part cannot be translated');
  return thoughts;
}

function readTurns(body: RequestFields): ConversationTurn[] {
  const ids = createCallIds();
  const read = (content: unknown, at: string): ContentPart[] =>
    asFieldsList(asFields(content).parts).flatMap((part, index) =>
      readGeminiPart(part, `${at}.parts[${index}]`, ids),
    );
  const instruction = field(body, 'systemInstruction');
  const system = typeof instruction === 'string' ? { parts: [{ text: instruction }] } : instruction;
  const contents = asFieldsList(body.contents).map((content, index): ConversationTurn => {
    const role = content.role === 'model' ? 'assistant' : 'user';
    return { role, parts: read(content, `contents[${index}]`) };
  });
  return isJsonObject(system)
    ? [{ role: 'system', parts: read(system, 'systemInstruction') }, ...contents]
    : contents;
}

function readDeclaration(declaration: RequestFields): ToolDefinition {
  const jsonSchema = field(declaration, 'parametersJsonSchema');
  const own = isJsonObject(declaration.parameters) ? toJsonSchema(declaration.parameters) : null;
  return {
    name: asText(declaration.name),
    namespace: null,
    description: textOrNull(declaration.description),
    schema: isJsonObject(jsonSchema) ? jsonSchema : own,
    isStrict: null,
    takesText: false,
    textFormat: null,
  };
}

function readGeminiTools(list: unknown): Pick<Conversation, 'tools' | 'hostedTools'> {
  const tools: ToolDefinition[] = [];
  const hostedTools: string[] = [];
  for (const [index, tool] of asFieldsList(list).entries()) {
    tools.push(...asFieldsList(field(tool, 'functionDeclarations')).map(readDeclaration));
    for (const name of Object.keys(tool))
      if (toSnake(name) !== 'function_declarations') hostedTools.push(`tools[${index}].${name}`);
  }
  return { tools, hostedTools };
}

function readGeminiToolChoice(config: RequestFields): Pick<Conversation, 'toolChoice' | 'allowedTools'> {
  const names = asList(field(config, 'allowedFunctionNames')).filter((name) => typeof name === 'string');
  const allowedTools = names.length === 0 ? null : names.map((name) => ({ name, namespace: null }));
  const kinds: Record<string, ToolChoice> = {
    AUTO: { kind: 'auto' },
    VALIDATED: { kind: 'auto' },
    NONE: { kind: 'none' },
    ANY: names.length === 1 ? { kind: 'tool', name: names[0]!, namespace: null } : { kind: 'required' },
  };
  return { toolChoice: lookUp(kinds, asText(config.mode).toUpperCase()) ?? null, allowedTools };
}

function readFormat(config: RequestFields): Conversation['format'] {
  const jsonSchema = field(config, 'responseJsonSchema');
  const own = field(config, 'responseSchema');
  const schema = isJsonObject(jsonSchema) ? jsonSchema : isJsonObject(own) ? toJsonSchema(own) : null;
  if (schema !== null) return { kind: 'schema', name: null, description: null, schema, isStrict: null };
  return field(config, 'responseMimeType') === 'application/json' ? { kind: 'json' } : null;
}

function refuseGeminiOnly(body: RequestFields, config: RequestFields): void {
  refuseIfSet(
    { cachedContent: field(body, 'cachedContent') },
    'cachedContent',
    'only its own provider knows cached content',
  );
  if ((numberOrNull(field(config, 'candidateCount')) ?? 1) > 1)
    throw refuseField('generationConfig.candidateCount', 'only one answer can be translated');
  if (field(config, 'responseLogprobs') === true)
    throw refuseField('generationConfig.responseLogprobs', 'probabilities of tokens cannot be translated');
  if (asList(field(config, 'responseModalities')).some((each) => asText(each).toUpperCase() !== 'TEXT'))
    throw refuseField('generationConfig.responseModalities', 'only answers of text can be translated');
}

/** Reads the body of `generateContent`. The path decides about streaming; the server repeats it as `stream` in the body. */
export function readRequest(body: RequestFields): Conversation {
  const config = asFields(field(body, 'generationConfig'));
  refuseGeminiOnly(body, config);
  const thinking = asFields(field(config, 'thinkingConfig'));
  const budget = numberOrNull(field(thinking, 'thinkingBudget'));
  const stop = asList(field(config, 'stopSequences'));
  return {
    ...emptyConversation(),
    turns: readTurns(body),
    ...readGeminiTools(body.tools),
    ...readGeminiToolChoice(asFields(field(asFields(field(body, 'toolConfig')), 'functionCallingConfig'))),
    maxTokens: numberOrNull(field(config, 'maxOutputTokens')),
    temperature: numberOrNull(config.temperature),
    topP: numberOrNull(field(config, 'topP')),
    topK: numberOrNull(field(config, 'topK')),
    stop: stop.filter((each) => typeof each === 'string'),
    seed: numberOrNull(config.seed),
    presencePenalty: numberOrNull(field(config, 'presencePenalty')),
    frequencyPenalty: numberOrNull(field(config, 'frequencyPenalty')),
    format: readFormat(config),
    effort: readEffort(field(thinking, 'thinkingLevel')) ?? (budget === null ? null : effortOfBudget(budget)),
    isStream: body.stream === true,
  };
}
