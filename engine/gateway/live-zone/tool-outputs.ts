import type { Protocol } from '../protocol.ts';
import { findJsonMembers, type JsonMember, listJsonElements, readJsonValue } from '../server/json-members.ts';

/** A part of a JSON text, in bytes. */
export type Range = Pick<JsonMember, 'start' | 'end'>;

/** A string that a tool has answered, with its quotes. */
export interface ToolOutput extends Range {
  /** Of the tool, where the message names it. */
  name: string | null;
  /** Of the call that it answers, which names the tool. */
  callId: string | null;
}

/** The elements of a list of messages in their order. */
export const listMessages = (body: Buffer, list: Range): Range[] => listJsonElements(body, list);

/** Whether a message is the model's own. */
export function isModelMessage(body: Buffer, message: Range): boolean {
  const { text } = readMembers(body, message);
  const role = text('role');
  const type = text('type') ?? '';
  return role === 'assistant' || role === 'model' || type === 'reasoning' || type.endsWith('_call');
}

/** Finds the texts of tools in a message; whatever else it says is not among them. */
export function findToolOutputs(protocol: Protocol, body: Buffer, message: Range): ToolOutput[] {
  const { member, text } = readMembers(body, message);
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

/** The name of the tool that was called under an id; null where no message before says it. */
export function findToolName(body: Buffer, messages: readonly Range[], callId: string): string | null {
  const named = Buffer.from(JSON.stringify(callId));
  for (const message of messages.toReversed()) {
    if (!body.subarray(message.start, message.end).includes(named)) continue;
    const name = findCallName(readJsonValue(body, message), callId);
    if (name !== null) return name;
  }
  return null;
}

/** A call is an object with the id, and with the name beside it or in its function. */
function findCallName(value: unknown, callId: string): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const { id, call_id: called, name, namespace, function: inner } = value as Record<string, unknown>;
  if (id === callId || called === callId) {
    const own = typeof name === 'string' ? name : (inner as { name?: unknown } | undefined)?.name;
    if (typeof own === 'string') return typeof namespace === 'string' ? `${namespace}__${own}` : own;
  }
  for (const each of Object.values(value)) {
    const found = findCallName(each, callId);
    if (found !== null) return found;
  }
  return null;
}

const QUOTE = 0x22;

/** An answer is a text, or a list of parts of which some are. */
function toOutputs(
  body: Buffer,
  value: Range | null,
  from: Pick<ToolOutput, 'name' | 'callId'>,
): ToolOutput[] {
  if (value === null) return [];
  if (body[value.start] === QUOTE) return [{ start: value.start, end: value.end, ...from }];
  return listParts(body, value).flatMap((part) => {
    const text = readMembers(body, part).member('text');
    return text === null || body[text.start] !== QUOTE ? [] : [{ start: text.start, end: text.end, ...from }];
  });
}

const listParts = (body: Buffer, list: Range | null): Range[] =>
  list === null ? [] : listJsonElements(body, list);

/** The members of an object by their keys, of which the last one counts; none for what is no object. */
function readMembers(body: Buffer, object: Range) {
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
