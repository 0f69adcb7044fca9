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

/** Maximum length of an output; longer ones would occupy the thread for too long. */
const MOST_BYTES = 4 * 1024 * 1024;

/** An output that may be shortened for the first time. */
export interface NewOutput extends OutputPlace, ByteRange {
  conversation: string;
  /** Its replacement, if it has been shortened since an earlier request. */
  running: Promise<string | null> | null;
  /** The owner of the text. */
  holder: string;
  /** Null for a person. */
  session: string | null;
}

/** The replacements that are known for a request, and the outputs that may get one. */
export interface ListedEdits {
  edits: JsonEdit[];
  fresh: NewOutput[];
}

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
 * Lists the tool outputs of a request that have a replacement or may get one.
 * @param settings - null if nothing is newly shortened; earlier replacements continue
 * @param protectedTools - `context.guidance.protect_tools`; null if unknown
 */
export function listEdits(
  call: EditedCall,
  forwarded: ForwardedTexts,
  {
    settings,
    protectedTools,
  }: { settings: LiveZoneSettings | null; protectedTools: readonly string[] | null },
): ListedEdits {
  const { body, members, route, holder } = call;
  const listed: ListedEdits = { edits: [], fresh: [] };
  const shape = SHAPES[route.protocol];
  const list = members.findLast(({ key }) => key === shape.list);
  if (list === undefined || !body.subarray(list.start, list.end).includes(shape.tool)) return listed;
  // A person's program has only the tools that svc offers to it, if any. Tools come before all messages in a
  // provider's cache, so a turn without them starts with different bytes anyway.
  if (holder.kind === 'person' && !offersRetrieval(body, members)) return listed;
  const conversation = nameConversation(call, list);
  const { tokens: known, shortest } = forwarded.findKnown(conversation);
  const longBytes = settings?.longBytes ?? Number.POSITIVE_INFINITY;
  // An output that was shortened earlier may be below the current threshold.
  const found = listLongStrings(body.subarray(0, list.end), list.start, Math.min(longBytes, shortest) - 1);
  if (found.length === 0) return listed;
  const long = hashLongStrings(body, found);
  const messages = listMessages(body, list);
  const live = findLiveZone(messages, settings);
  const owner = {
    conversation,
    holder: holder.kind === 'run' ? formatId('t', holder.taskId) : 'chair',
    session: holder.kind === 'run' ? conversation : null,
  };
  const again: RepeatedOutput[] = [];
  const nameCall = createCallNames();
  /** Reports whether an output was replaced before, or has equals: each of these is counted, even if it stays whole. */
  const isConcerned = ({ start }: ByteRange): boolean => {
    const hash = long.hashOf.get(start) ?? '';
    return known.has(hash) || (long.countOf.get(hash) ?? 0) > 1;
  };
  const isNew = ({ start, end }: ByteRange, at: number): boolean =>
    at >= live && end - start >= longBytes && end - start <= MOST_BYTES;
  for (const [at, message] of messages.entries()) {
    const inside = long.places.filter(({ start }) => start > message.start && start < message.end);
    // The same text elsewhere, such as a written file, is not a tool output.
    if (inside.length === 0 || (at < live && !inside.some(isConcerned))) continue;
    for (const output of findToolOutputs(route.protocol, body, message)) {
      const { start, end } = output;
      const hash = long.hashOf.get(start);
      if (hash === undefined) continue;
      const place = { call: nameCall(output, hash), hash };
      const token = known.get(hash)?.get(place.call);
      if (token === undefined && !isNew(output, at)) continue;
      if (staysWhole({ output, body, messages, at }, protectedTools)) continue;
      if (typeof token === 'string') {
        listed.edits.push({ start, end, bytes: token });
        again.push({ ...place, readWhole: () => readString(body, output) });
      } else listed.fresh.push({ ...owner, ...place, start, end, running: token ?? null });
    }
  }
  if (again.length > 0) forwarded.touch(conversation, again, owner.holder);
  return listed;
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
