import { isJsonObject } from '../core/base/json-object.ts';
import { findJsonMembers, type JsonMember, listJsonElements, readJsonValue } from './json-members.ts';
import type { Protocol } from './protocol.ts';

/** A part of a JSON text, in bytes. */
export type ByteRange = Pick<JsonMember, 'start' | 'end'>;

/** A string of a tool result, with its quotes. */
export interface ToolOutput extends ByteRange {
  /** The name of the tool, if the message gives it. */
  name: string | null;
  /** The id of the call that it answers, which names the tool. */
  callId: string | null;
}

/** A message of a conversation, whose members are found when they are first needed. */
export interface ConversationMessage extends ByteRange {
  members(): Members;
}

/** Reads a message without parsing it. */
export function readMessage(body: Buffer, { start, end }: ByteRange): ConversationMessage {
  let found: Members | null = null;
  return {
    start,
    end,
    members() {
      found ??= readMembers(body, { start, end });
      return found;
    },
  };
}

/** Returns the elements of a list of messages in their order. */
export const listMessages = (body: Buffer, list: ByteRange): ConversationMessage[] =>
  listJsonElements(body, list).map((element) => readMessage(body, element));

/** Reports whether a message is an instruction at the start of a conversation. */
export function isInstruction(message: ConversationMessage): boolean {
  const role = message.members().text('role');
  return role === 'system' || role === 'developer';
}

/** Reports whether the model wrote a message. */
export function isModelMessage(message: ConversationMessage): boolean {
  const { text } = message.members();
  const role = text('role');
  const type = text('type') ?? '';
  return role === 'assistant' || role === 'model' || type === 'reasoning' || type.endsWith('_call');
}

/** Finds the tool texts in a message and skips its other content. */
export function findToolOutputs(
  protocol: Protocol,
  body: Buffer,
  message: ConversationMessage,
): ToolOutput[] {
  const { member, text } = message.members();
  switch (protocol) {
    case 'chat':
      if (text('role') !== 'tool') return [];
      return toOutputs(body, member('content'), { name: text('name'), callId: text('tool_call_id') });
    case 'responses':
      if (!(text('type') ?? '').endsWith('_call_output')) return [];
      return toOutputs(body, member('output'), { name: null, callId: text('call_id') });
    case 'messages':
      return listParts(body, member('content')).flatMap((part) => {
        const block = readMembers(body, part);
        if (block.text('type') !== 'tool_result') return [];
        return toOutputs(body, block.member('content'), { name: null, callId: block.text('tool_use_id') });
      });
    case 'gemini':
      return listParts(body, member('parts')).flatMap((part) => {
        const answer = readMembers(body, part).member('functionResponse');
        if (answer === null) return [];
        const inner = readMembers(body, answer);
        const response = inner.member('response');
        if (response === null) return [];
        const from = { name: inner.text('name'), callId: inner.text('id') };
        return readMembers(body, response).all.flatMap((each) => toOutputs(body, each, from));
      });
  }
}

/** A tool call: its name, and all of it as JSON. */
export interface ToolCall {
  name: string;
  /** Returns the whole call as JSON. */
  write(): string;
}

/**
 * Finds the call that an output of the message at an index answers: by its id, or without ids by name among the calls
 * of the last turn. Several if they are indistinguishable; none if no message has it.
 */
export function findToolCalls(
  body: Buffer,
  messages: readonly ConversationMessage[],
  at: number,
  { callId, name }: Pick<ToolOutput, 'callId' | 'name'>,
): ToolCall[] {
  const findLast = (
    mayHold: (message: ConversationMessage) => boolean,
    isWanted: (call: FoundCall) => boolean,
  ): ToolCall[] => {
    for (let index = at - 1; index >= 0; index -= 1) {
      const message = messages[index] as ConversationMessage;
      const calls = mayHold(message) ? listCalls(readJsonValue(body, message)).filter(isWanted) : [];
      if (calls.length > 0) return calls;
    }
    return [];
  };
  const named = callId === null ? null : Buffer.from(JSON.stringify(callId));
  const called =
    named === null
      ? []
      : findLast(
          ({ start, end }) => body.subarray(start, end).includes(named),
          ({ id }) => id === callId,
        );
  if (called.length > 0 || name === null) return called;
  return findLast(isModelMessage, (call) => call.name === name);
}

type FoundCall = ToolCall & { id: unknown };

/** Lists calls: objects with a name and an input, or with both inside their function. */
function listCalls(value: unknown): FoundCall[] {
  const found: FoundCall[] = [];
  collectCalls(value, '', found);
  return found;
}

function collectCalls(value: unknown, key: string, found: FoundCall[]): void {
  if (typeof value !== 'object' || value === null) return;
  const fields = value as Record<string, unknown>;
  const inner = (isJsonObject(fields.function) ? fields.function : fields) as Record<string, unknown>;
  const { name } = inner;
  if (typeof name !== 'string' || (key !== 'functionCall' && !INPUTS.some((each) => each in inner))) {
    for (const inside of Object.keys(fields)) collectCalls(fields[inside], inside, found);
    return;
  }
  const { namespace } = fields;
  found.push({
    id: fields.call_id ?? fields.id,
    name: typeof namespace === 'string' ? `${namespace}__${name}` : name,
    write: () => JSON.stringify(value),
  });
}

const INPUTS = ['input', 'arguments', 'args'];

/** Returns the names of all tools that a request offers, in any protocol's nesting. */
export function listOfferedTools(tools: unknown): string[] {
  if (typeof tools !== 'object' || tools === null) return [];
  if (Array.isArray(tools)) return tools.flatMap(listOfferedTools);
  const {
    name,
    function: inner,
    tools: nested,
    functionDeclarations,
    function_declarations,
  } = tools as Record<string, unknown>;
  return [
    ...(typeof name === 'string' ? [name] : []),
    ...[inner, nested, functionDeclarations, function_declarations].flatMap(listOfferedTools),
  ];
}

/** Returns the texts of a message, in any form of its parts. */
export function readTexts(body: Buffer, message: ByteRange): string[] {
  const collect = (value: unknown, key: string): string[] => {
    if (typeof value === 'string') return key === 'text' || key === 'content' ? [value] : [];
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([inner, each]) =>
      collect(each, Array.isArray(value) ? key : inner),
    );
  };
  return collect(readJsonValue(body, message), '');
}

const QUOTE = 0x22;

/** Lists the texts of a result, which is a text, or a list of parts of which some are texts. */
function toOutputs(
  body: Buffer,
  value: ByteRange | null,
  from: Pick<ToolOutput, 'name' | 'callId'>,
): ToolOutput[] {
  if (value === null) return [];
  if (body[value.start] === QUOTE) return [{ start: value.start, end: value.end, ...from }];
  return listParts(body, value).flatMap((part) => {
    const text = readMembers(body, part).member('text');
    return text === null || body[text.start] !== QUOTE ? [] : [{ start: text.start, end: text.end, ...from }];
  });
}

const listParts = (body: Buffer, list: ByteRange | null): ByteRange[] =>
  list === null ? [] : listJsonElements(body, list);

/** The members of an object by their keys, of which the last one applies; none for a value that is not an object. */
interface Members {
  all: readonly JsonMember[];
  member(key: string): JsonMember | null;
  text(key: string): string | null;
}

function readMembers(body: Buffer, object: ByteRange): Members {
  const all = (findJsonMembers(body.subarray(object.start, object.end)) ?? []).map(({ key, start, end }) => ({
    key,
    start: start + object.start,
    end: end + object.start,
  }));
  const member = (key: string): JsonMember | null => all.findLast((each) => each.key === key) ?? null;
  return {
    all,
    member,
    text(key: string): string | null {
      const found = member(key);
      const value = found === null ? null : readJsonValue(body, found);
      return typeof value === 'string' ? value : null;
    },
  };
}
