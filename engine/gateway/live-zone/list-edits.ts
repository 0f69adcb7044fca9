import { hash as digest } from 'node:crypto';
import { formatId } from '../../core/base/ids.ts';
import type { CallRow } from '../books/schema.ts';
import { type JsonEdit, type JsonMember, listLongStrings, readJsonValue } from '../json-members.ts';
import type { ProtocolRoute } from '../protocols/index.ts';
import type { LiveZoneSettings } from '../settings.ts';
import {
  type ByteRange,
  type ConversationMessage,
  findToolCalls,
  findToolOutputs,
  isInstruction,
  isModelMessage,
  listMessages,
  listOfferedTools,
  readTexts,
  type ToolOutput,
} from '../tool-outputs.ts';
import type { ForwardedTexts, OutputPlace, RepeatedOutput } from './forwarded.ts';
import { isOwnTool, isProtectedTool, isRetrieval, readsStoredText } from './protected-tools.ts';

/** The shortened output and its type; null to leave it unchanged. */
export type ShortenOutput = (
  whole: string,
  wish: { id: string; crushes: boolean; stores: boolean; idleMs: number },
) => { text: string; kind: string } | null;

/** The part of svc that understands program output, loaded on first use. */
export interface OutputShortener {
  shortenOutput: ShortenOutput;
}

/** The parts of a call that its replacements depend on. */
export interface EditedCall {
  body: Buffer;
  members: readonly JsonMember[];
  route: Pick<ProtocolRoute, 'protocol'>;
  holder: { kind: 'run'; sessionId: number; taskId: number } | { kind: 'person'; name: string };
  row: Pick<CallRow, 'client_session'>;
}

/** The list of messages of each protocol, and the member that marks a tool result, as written in JSON. */
const SHAPES = {
  chat: { list: 'messages', tool: '"tool"' },
  messages: { list: 'messages', tool: '"tool_result"' },
  responses: { list: 'input', tool: '_call_output"' },
  gemini: { list: 'contents', tool: '"functionResponse"' },
} as const;

/** How outputs are newly shortened. */
interface Shortening {
  settings: LiveZoneSettings;
  shortener: OutputShortener;
}

/** Maximum length of an output; longer ones would take too long while a client waits. */
const MOST_BYTES = 4 * 1024 * 1024;

/** The long strings of a request by the byte where they start, and how many of them are equal. */
interface LongStrings {
  places: readonly ByteRange[];
  hashOf: ReadonlyMap<number, string>;
  countOf: ReadonlyMap<string, number>;
}

function hashLongStrings(body: Buffer, places: readonly ByteRange[]): LongStrings {
  const hashOf = new Map<number, string>();
  const countOf = new Map<string, number>();
  for (const { start, end } of places) {
    const hash = digest('sha256', body.subarray(start, end));
    hashOf.set(start, hash);
    countOf.set(hash, (countOf.get(hash) ?? 0) + 1);
  }
  return { places, hashOf, countOf };
}

/**
 * Returns the replacements for the tool outputs of a request.
 * @param shortening - null if nothing is newly shortened; earlier replacements continue
 * @param protectedTools - `context.guidance.protect_tools`; null if unknown
 */
export function listEdits(
  call: EditedCall,
  forwarded: ForwardedTexts,
  { shortening, protectedTools }: { shortening: Shortening | null; protectedTools: readonly string[] | null },
): JsonEdit[] {
  const { body, members, route, holder } = call;
  const shape = SHAPES[route.protocol];
  const list = members.findLast(({ key }) => key === shape.list);
  if (list === undefined || !body.subarray(list.start, list.end).includes(shape.tool)) return [];
  // A person's program has only the tools that svc offers to it, if any. Tools come before all messages in a
  // provider's cache, so a turn without them starts with different bytes anyway.
  if (holder.kind === 'person' && !offersRetrieval(body, members)) return [];
  const conversation = nameConversation(call, list);
  const { tokens: known, shortest } = forwarded.findKnown(conversation);
  const longBytes = shortening?.settings.longBytes ?? Number.POSITIVE_INFINITY;
  // An output that was shortened earlier may be below the current threshold.
  const found = listLongStrings(body.subarray(0, list.end), list.start, Math.min(longBytes, shortest) - 1);
  if (found.length === 0) return [];
  const long = hashLongStrings(body, found);
  const messages = listMessages(body, list);
  const live = findLiveZone(messages, shortening?.settings ?? null);
  const textHolder = holder.kind === 'run' ? formatId('t', holder.taskId) : 'chair';
  const shorten = shortening && createShortening(shortening, { call, conversation, textHolder, forwarded });
  const edits: JsonEdit[] = [];
  const again: RepeatedOutput[] = [];
  const nameCall = createCallNames();
  /** Reports whether an output was replaced before, or has equals: each of these is counted, even if it stays whole. */
  const isConcerned = ({ start }: ByteRange): boolean => {
    const hash = long.hashOf.get(start) ?? '';
    return known.has(hash) || (long.countOf.get(hash) ?? 0) > 1;
  };
  for (const [at, message] of messages.entries()) {
    const inside = long.places.filter(({ start }) => start > message.start && start < message.end);
    // The same text elsewhere, such as a written file, is not a tool output.
    if (inside.length === 0 || (at < live && !inside.some(isConcerned))) continue;
    for (const output of findToolOutputs(route.protocol, body, message)) {
      const hash = long.hashOf.get(output.start);
      if (hash === undefined) continue;
      const place = { call: nameCall(output, hash), hash };
      const token = known.get(hash)?.get(place.call);
      if (token === undefined && (shorten === null || at < live)) continue;
      if (staysWhole({ output, body, messages, at }, protectedTools)) continue;
      const made = token ?? shorten?.(output, place) ?? null;
      if (made !== null) edits.push({ start: output.start, end: output.end, bytes: made });
      if (token !== undefined) again.push({ ...place, readWhole: () => readString(body, output) });
    }
  }
  if (again.length > 0) forwarded.touch(conversation, again, textHolder);
  return edits.sort((one, other) => one.start - other.start);
}

/** Returns a function that names the call of an output: its id, after the number of equal outputs before it, since some clients reuse ids. */
function createCallNames(): (output: ToolOutput, hash: string) => string {
  const answered = new Map<string, number>();
  return ({ callId }, hash) => {
    const key = `${hash} ${callId ?? ''}`;
    const before = answered.get(key) ?? 0;
    answered.set(key, before + 1);
    return `${before} ${callId ?? ''}`;
  };
}

/** Reports whether an output is passed on unchanged: its call is unknown, of a protected tool, or asked for a stored text. */
function staysWhole(
  {
    output,
    body,
    messages,
    at,
  }: { output: ToolOutput; body: Buffer; messages: readonly ConversationMessage[]; at: number },
  protectedTools: readonly string[] | null,
): boolean {
  const calls = findToolCalls(body, messages, at, output);
  const names = [...calls.map(({ name }) => name), ...(output.name === null ? [] : [output.name])];
  const isKept = (name: string): boolean =>
    protectedTools === null ? isOwnTool(name) : isProtectedTool(name, protectedTools);
  return calls.length === 0 || names.some(isKept) || calls.some((call) => readsStoredText(call.write()));
}

const readString = (body: Buffer, { start, end }: ByteRange): string =>
  JSON.parse(body.toString('utf8', start, end)) as string;

/** Returns the first message from which outputs are newly shortened. */
function findLiveZone(all: readonly ConversationMessage[], settings: LiveZoneSettings | null): number {
  if (settings === null) return all.length;
  return settings.onlyLast ? all.findLastIndex(isModelMessage) + 1 : 0;
}

/** Returns a function that shortens an output and stores it; null if it stays whole. */
function createShortening(
  { settings, shortener }: Shortening,
  {
    call: { body, holder },
    conversation,
    textHolder,
    forwarded,
  }: { call: EditedCall; conversation: string; textHolder: string; forwarded: ForwardedTexts },
): (output: ToolOutput, place: OutputPlace) => string | null {
  return (output, place) => {
    const bytes = output.end - output.start;
    if (bytes < settings.longBytes || bytes > MOST_BYTES) return null;
    const whole = readString(body, output);
    if (Buffer.byteLength(whole) < settings.longBytes) return null;
    const textHash = digest('sha256', whole);
    const made = shortener.shortenOutput(whole, { ...settings, id: nameForwarded(textHash) });
    if (made === null) return null;
    const token = JSON.stringify(made.text);
    forwarded.add({
      conversation,
      holder: textHolder,
      session: holder.kind === 'run' ? conversation : null,
      ...place,
      bytes,
      token,
      text: settings.stores ? { whole, hash: textHash, kind: made.kind } : null,
      bytesIn: Buffer.byteLength(whole),
      bytesOut: Buffer.byteLength(made.text),
    });
    return token;
  };
}

/** Returns an id longer than the engine's ids, because the engine learns of texts only here: two outputs never share an id. */
const nameForwarded = (hash: string): string => `c-${hash.slice(0, 16)}`;

/** Reports whether a request offers a tool that returns stored texts, including one that is loaded on demand. */
function offersRetrieval(body: Buffer, members: EditedCall['members']): boolean {
  if (!body.includes('etrieve')) return false;
  const tools = members.findLast(({ key }) => key === 'tools');
  const offered = tools === undefined ? [] : listOfferedTools(readJsonValue(body, tools));
  return offered.some(isRetrieval) || (offered.includes(TOOL_SEARCH) && body.includes(DEFERRED_RETRIEVAL));
}

/** Claude lists the names of tools that it loads later. */
const TOOL_SEARCH = 'ToolSearch';
const DEFERRED_RETRIEVAL = '__context_retrieve';

/** Returns a session; for a person, the conversation as named by its program, or identified by its start. */
function nameConversation({ body, holder, row }: EditedCall, list: ByteRange): string {
  if (holder.kind === 'run') return formatId('s', holder.sessionId);
  if (row.client_session !== null) return `person ${holder.name} ${row.client_session}`;
  const first = listMessages(body, list).find((message) => !isInstruction(message));
  const texts = first === undefined ? [] : readTexts(body, first);
  return `person ${holder.name} ${digest('sha256', JSON.stringify(texts))}`;
}
