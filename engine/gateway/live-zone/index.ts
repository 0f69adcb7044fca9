import { hash as digest } from 'node:crypto';
import { existsSync } from 'node:fs';
import { formatId } from '../../core/base/ids.ts';
import type { Log } from '../../core/base/log.ts';
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
import { type ForwardedTexts, openForwarded, type RepeatedOutput } from './forwarded.ts';
import { isOwnTool, isProtectedTool, isRetrieval, readsStoredText } from './protected-tools.ts';
import { forwardedPath } from './schema.ts';

/** The shortened output and its type; null to leave it unchanged. */
export type ShortenOutput = (
  whole: string,
  wish: { id: string; crushes: boolean; stores: boolean; idleMs: number },
) => { text: string; kind: string } | null;

/** The part of svc that understands program output, loaded on first use. */
export interface OutputShortener {
  shortenOutput: ShortenOutput;
}

export interface LiveZoneDeps {
  data: string;
  now(): number;
  loadShortener(): Promise<OutputShortener>;
  log: Pick<Log, 'warn'>;
}

/** Replaces long tool outputs in passing requests with shorter texts. */
export interface LiveZone {
  /** Resolves once it is ready; until then requests are left unchanged. */
  configure(settings: LiveZoneSettings | null): Promise<void>;
  /** Returns the replacements for a request; every other byte stays. */
  edit(call: EditedCall): JsonEdit[];
  close(): void;
}

/** The parts of a call that its replacements depend on. */
interface EditedCall {
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

/** Maximum length of an output; longer ones would take too long while a client waits. */
const MOST_BYTES = 4 * 1024 * 1024;
const SWEEP_MS = 5 * 60_000;

export function createLiveZone({ data, now, loadShortener, log }: LiveZoneDeps): LiveZone {
  let settings: LiveZoneSettings | null = null;
  let shortener: OutputShortener | null = null;
  let texts: ForwardedTexts | null = null;
  let sweeping: NodeJS.Timeout | null = null;
  const warn = (error: unknown, text: string): void =>
    log.warn({ error: error instanceof Error ? error.message : 'unknown' }, text);

  /** True if an earlier gateway forwarded replacements. */
  const hasForwarded = existsSync(forwardedPath(data));

  function open(): ForwardedTexts {
    texts ??= openForwarded(data, now);
    sweeping ??= setInterval(() => {
      try {
        texts?.sweep(settings?.idleMs ?? 0);
      } catch (error) {
        warn(error, 'old forwarded outputs were not removed');
      }
    }, SWEEP_MS).unref();
    return texts;
  }

  function listEdits(
    call: EditedCall,
    forwarded: ForwardedTexts,
    /** Null if nothing is newly shortened; earlier replacements continue. */
    anew: { wish: LiveZoneSettings; by: OutputShortener } | null,
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
    const longBytes = anew?.wish.longBytes ?? Number.POSITIVE_INFINITY;
    // An output that was shortened earlier may be below the current threshold.
    const long = listLongStrings(body.subarray(0, list.end), list.start, Math.min(longBytes, shortest) - 1);
    if (long.length === 0) return [];
    const hashes = new Map<number, string>();
    const counts = new Map<string, number>();
    for (const { start, end } of long) {
      const hash = digest('sha256', body.subarray(start, end));
      hashes.set(start, hash);
      counts.set(hash, (counts.get(hash) ?? 0) + 1);
    }
    const messages = listMessages(body, list);
    const live = findLiveZone(messages);
    const textHolder = holder.kind === 'run' ? formatId('t', holder.taskId) : 'chair';
    const edits: JsonEdit[] = [];
    const again: RepeatedOutput[] = [];
    const answered = new Map<string, number>();
    /** Reports whether an output was replaced before, or has equals: each of these is counted, even if it stays whole. */
    const isConcerned = ({ start }: ByteRange): boolean => {
      const hash = hashes.get(start) ?? '';
      return known.has(hash) || (counts.get(hash) ?? 0) > 1;
    };
    for (const [at, message] of messages.entries()) {
      const inside = long.filter(({ start }) => start > message.start && start < message.end);
      // The same text elsewhere, such as a written file, is not a tool output.
      if (inside.length === 0 || (at < live && !inside.some(isConcerned))) continue;
      for (const output of findToolOutputs(route.protocol, body, message)) {
        const hash = hashes.get(output.start);
        if (hash === undefined) continue;
        const place = { call: nameCall(output, hash), hash };
        const token = known.get(hash)?.get(place.call);
        if ((token === undefined && (anew === null || at < live)) || staysWhole(output, messages, at))
          continue;
        if (token !== undefined) {
          edits.push({ start: output.start, end: output.end, bytes: token });
          again.push({ ...place, readWhole: () => readString(output) });
        } else if (anew !== null) {
          const made = shorten(anew, output, place);
          if (made !== null) edits.push({ start: output.start, end: output.end, bytes: made });
        }
      }
    }
    if (again.length > 0) forwarded.touch(conversation, again, textHolder);
    return edits.sort((one, other) => one.start - other.start);

    /** Returns the id of the call that it answers (some clients reuse ids), preceded by the number of equal outputs before it. */
    function nameCall({ callId }: ToolOutput, hash: string): string {
      const key = `${hash} ${callId ?? ''}`;
      const before = answered.get(key) ?? 0;
      answered.set(key, before + 1);
      return `${before} ${callId ?? ''}`;
    }

    function staysWhole(output: ToolOutput, all: readonly ConversationMessage[], at: number): boolean {
      const calls = findToolCalls(body, all, at, output);
      const names = [...calls.map(({ name }) => name), ...(output.name === null ? [] : [output.name])];
      const isKept = (name: string): boolean =>
        settings === null ? isOwnTool(name) : isProtectedTool(name, settings.protectedTools);
      return calls.length === 0 || names.some(isKept) || calls.some((call) => readsStoredText(call.write()));
    }

    function readString({ start, end }: ByteRange): string {
      return JSON.parse(body.toString('utf8', start, end)) as string;
    }

    /** Returns the first message from which outputs are newly shortened. */
    function findLiveZone(all: readonly ConversationMessage[]): number {
      if (anew === null) return all.length;
      return anew.wish.onlyLast ? all.findLastIndex((each) => isModelMessage(each)) + 1 : 0;
    }

    function shorten(
      { wish, by }: NonNullable<typeof anew>,
      output: ToolOutput,
      place: { call: string; hash: string },
    ): string | null {
      const bytes = output.end - output.start;
      if (bytes < longBytes || bytes > MOST_BYTES) return null;
      const whole = readString(output);
      if (Buffer.byteLength(whole) < longBytes) return null;
      const textHash = digest('sha256', whole);
      const made = by.shortenOutput(whole, { ...wish, id: nameForwarded(textHash) });
      if (made === null) return null;
      const token = JSON.stringify(made.text);
      forwarded.add({
        conversation,
        holder: textHolder,
        session: holder.kind === 'run' ? conversation : null,
        ...place,
        bytes,
        token,
        text: wish.stores ? { whole, hash: textHash, kind: made.kind } : null,
        bytesIn: Buffer.byteLength(whole),
        bytesOut: Buffer.byteLength(made.text),
      });
      return token;
    }
  }

  return {
    async configure(next) {
      // An earlier engine does not send this.
      settings = next ?? null;
      if (settings === null || shortener !== null) return;
      try {
        shortener = await loadShortener();
      } catch (error) {
        warn(error, 'outputs are not shortened');
      }
    },
    edit(call) {
      // A text that a person's program cannot read back stays.
      const isLost = call.holder.kind === 'person' && settings?.stores === false;
      const anew =
        settings === null || shortener === null || isLost ? null : { wish: settings, by: shortener };
      if (anew === null && texts === null && !hasForwarded) return [];
      try {
        return listEdits(call, open(), anew);
      } catch (error) {
        warn(error, 'the outputs of a request were not shortened');
        return [];
      }
    },
    close() {
      if (sweeping !== null) clearInterval(sweeping);
      texts?.close();
      texts = null;
    },
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
