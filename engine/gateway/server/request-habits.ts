import { createHash } from 'node:crypto';
import type { CallRow } from '../books/schema.ts';
import { findFirstElement, type JsonMember, listLongStrings } from '../json-members.ts';
import type { Protocol } from '../protocol.ts';
import {
  findToolOutputs,
  isInstruction,
  isModelMessage,
  listMessages,
  readMessage,
} from '../tool-outputs.ts';
import type { GatewayCall } from './call.ts';

interface Shape {
  /** Members that every turn of a conversation repeats. */
  opening: readonly string[];
  /** The list of turns, which may start with the instructions. */
  turns: string;
  /** A string in every turn of the model, as written in JSON. */
  model: string;
}

const SHAPES: Readonly<Record<Protocol, Shape>> = {
  chat: { opening: ['tools'], turns: 'messages', model: '"assistant"' },
  responses: {
    opening: ['tools', 'instructions'],
    turns: 'input',
    model: '"function_call"',
  },
  messages: {
    opening: ['tools', 'system'],
    turns: 'messages',
    model: '"assistant"',
  },
  gemini: {
    opening: ['tools', 'systemInstruction', 'system_instruction'],
    turns: 'contents',
    model: '"model"',
  },
};

/** Longer values are not instructions and are skipped. */
const MOST_OPENING_BYTES = 256 * 1024;
/** A shortened text says so, see engine/knowledge/context. */
const SHORTENED = '[svc-crush: ';

/** Returns facts about how an agent works, derived from a request without its content: a hash and a size. */
export function readRequestHabits(
  { body, members, route }: Pick<GatewayCall, 'body' | 'members' | 'route'>,
  longBytes: number,
): Pick<CallRow, 'prefix_hash' | 'tool_bytes'> {
  const shape = SHAPES[route.protocol];
  return {
    prefix_hash: hashOpening(body, members, shape),
    tool_bytes: longBytes === 0 ? 0 : sumLongToolOutputs({ body, members, route }, longBytes),
  };
}

function hashOpening(body: Buffer, members: readonly JsonMember[], { opening, turns }: Shape): string | null {
  const parts: Pick<JsonMember, 'start' | 'end'>[] = members.filter(({ key }) => opening.includes(key));
  const list = members.findLast(({ key }) => key === turns);
  const first = list === undefined ? null : findFirstElement(body, list);
  // The first turn of a conversation stays; the others are repeated each time.
  const isShort = first !== null && first.end - first.start < MOST_OPENING_BYTES;
  if (isShort && isInstruction(readMessage(body, first))) parts.push(first);
  if (parts.length === 0) return null;
  const hash = createHash('sha1');
  for (const { start, end } of parts) hash.update(body.subarray(start, end));
  return hash.digest('base64url');
}

/** Sums what tools have answered since the model's last turn, in strings that are longer than that and that no one has shortened. */
function sumLongToolOutputs(
  { body, members, route: { protocol } }: Pick<GatewayCall, 'body' | 'members' | 'route'>,
  longBytes: number,
): number {
  const { turns, model } = SHAPES[protocol];
  const list = members.findLast(({ key }) => key === turns);
  if (list === undefined || list.end - list.start <= longBytes) return 0;
  // Few requests have a long string after the last of these strings, so the messages are rarely read.
  const from = Math.max(list.start, body.lastIndexOf(model, list.end));
  if (listLongStrings(body.subarray(0, list.end), from, longBytes).length === 0) return 0;
  const messages = listMessages(body, list);
  const last = messages.findLastIndex(isModelMessage);
  return messages
    .slice(last + 1)
    .flatMap((message) => findToolOutputs(protocol, body, message))
    .map(({ start, end }) => body.subarray(start, end))
    .filter((text) => text.length > longBytes && text.includes(' ') && !text.includes(SHORTENED))
    .reduce((sum, { length }) => sum + length, 0);
}
