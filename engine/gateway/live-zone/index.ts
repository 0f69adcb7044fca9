import { hash as digest } from 'node:crypto';
import { existsSync } from 'node:fs';
import { formatId } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { Call } from '../server/call.ts';
import { type JsonEdit, listLongStrings } from '../server/json-members.ts';
import type { LiveZoneSettings } from '../settings.ts';
import { type ForwardedTexts, openForwarded } from './forwarded.ts';
import { forwardedPath } from './schema.ts';
import {
  findToolName,
  findToolOutputs,
  isModelMessage,
  listMessages,
  type Range,
  type ToolOutput,
} from './tool-outputs.ts';

/** What is left of an output, and what it is; null where it is to stay as it is. */
export type ShortenOutput = (
  whole: string,
  wish: { id: string; crushes: boolean; stores: boolean; idleMs: number },
) => { text: string; kind: string } | null;

/** Whether the outputs of a tool are left as they are. */
export type IsProtected = (tool: string, named: readonly string[]) => boolean;

/** The part of svc that knows what programs print, loaded when it is first needed. */
export interface OutputShortener {
  shortenOutput: ShortenOutput;
  isProtectedTool: IsProtected;
}

export interface LiveZoneDeps {
  data: string;
  now(): number;
  loadShortener(): Promise<OutputShortener>;
  log: Pick<Log, 'warn'>;
}

/** Puts shorter texts in the place of long outputs of tools, in requests on their way. */
export interface LiveZone {
  /** Resolves when it can do so; until then it leaves requests as they are. */
  configure(settings: LiveZoneSettings | null): Promise<void>;
  /** What is to be replaced in a request; every other byte stays. */
  edit(call: Pick<Call, 'body' | 'members' | 'route' | 'holder'>): JsonEdit[];
  close(): void;
}

/** The list of messages of each protocol, and what stands in each that a tool has answered, as it is written in JSON. */
const SHAPES = {
  chat: { list: 'messages', tool: '"tool"' },
  messages: { list: 'messages', tool: '"tool_result"' },
  responses: { list: 'input', tool: '_call_output"' },
  gemini: { list: 'contents', tool: '"functionResponse"' },
} as const;

/** Of an output; what is longer takes too long while a client waits. */
const MOST_BYTES = 4 * 1024 * 1024;
const SWEEP_MS = 5 * 60_000;

export function createLiveZone({ data, now, loadShortener, log }: LiveZoneDeps): LiveZone {
  let settings: LiveZoneSettings | null = null;
  let shortener: OutputShortener | null = null;
  let texts: ForwardedTexts | null = null;
  let sweeping: NodeJS.Timeout | null = null;
  const warn = (error: unknown, text: string): void =>
    log.warn({ error: error instanceof Error ? error.message : 'unknown' }, text);

  /** Something was forwarded by an earlier gateway. */
  const hasForwarded = existsSync(forwardedPath(data));

  function open(): ForwardedTexts {
    texts ??= openForwarded(data, now);
    sweeping ??= setInterval(() => {
      try {
        texts?.sweep(settings?.idleMs ?? 0);
      } catch (error) {
        warn(error, 'what was forwarded is not swept');
      }
    }, SWEEP_MS).unref();
    return texts;
  }

  function listEdits(
    { body, members, route, holder }: Pick<Call, 'body' | 'members' | 'route' | 'holder'>,
    forwarded: ForwardedTexts,
    /** Null where nothing is newly shortened; what was goes on as it is. */
    anew: { wish: LiveZoneSettings; by: OutputShortener } | null,
  ): JsonEdit[] {
    const shape = SHAPES[route.protocol];
    const list = members.findLast(({ key }) => key === shape.list);
    if (list === undefined || !body.subarray(list.start, list.end).includes(shape.tool)) return [];
    const conversation = holder.kind === 'run' ? formatId('s', holder.sessionId) : `person ${holder.name}`;
    const { tokens: known, shortest } = forwarded.findKnown(conversation);
    const longBytes = anew?.wish.longBytes ?? Number.POSITIVE_INFINITY;
    // What was shortened once may be shorter than what is long now.
    const long = listLongStrings(body.subarray(0, list.end), list.start, Math.min(longBytes, shortest) - 1);
    if (long.length === 0) return [];
    const hashes = new Map(
      long.map(({ start, end }) => [start, digest('sha256', body.subarray(start, end))]),
    );
    const messages = listMessages(body, list);
    const live = findLiveZone(messages);
    const edits: JsonEdit[] = [];
    const again: string[] = [];
    for (const [at, message] of messages.entries()) {
      const inside = long.filter(({ start }) => start > message.start && start < message.end);
      const isKnown = ({ start }: Range): boolean => known.has(hashes.get(start) ?? '');
      // Whatever is the same elsewhere, such as a file that was written, is no output of a tool.
      if (inside.length === 0 || (at < live && !inside.some(isKnown))) continue;
      for (const output of findToolOutputs(route.protocol, body, message)) {
        const hash = hashes.get(output.start);
        if (hash === undefined) continue;
        const token = known.get(hash);
        if (token !== undefined) {
          edits.push({ start: output.start, end: output.end, bytes: token });
          again.push(hash);
        } else if (anew !== null && at >= live) {
          const made = shorten(anew, output, hash, messages.slice(0, at));
          if (made !== null) edits.push({ start: output.start, end: output.end, bytes: made });
        }
      }
    }
    if (again.length > 0) forwarded.touch(conversation, again);
    return edits.sort((one, other) => one.start - other.start);

    /** From which message on outputs are newly shortened. */
    function findLiveZone(all: readonly Range[]): number {
      if (anew === null) return all.length;
      return anew.wish.onlyLast ? all.findLastIndex((each) => isModelMessage(body, each)) + 1 : 0;
    }

    function shorten(
      { wish, by }: NonNullable<typeof anew>,
      output: ToolOutput,
      hash: string,
      before: readonly Range[],
    ): string | null {
      const bytes = output.end - output.start;
      if (bytes < longBytes || bytes > MOST_BYTES) return null;
      const tool = output.name ?? (output.callId === null ? null : findToolName(body, before, output.callId));
      if (tool === null || by.isProtectedTool(tool, wish.protectedTools)) return null;
      const whole: unknown = JSON.parse(body.toString('utf8', output.start, output.end));
      if (typeof whole !== 'string' || Buffer.byteLength(whole) < longBytes) return null;
      const textHash = digest('sha256', whole);
      const made = by.shortenOutput(whole, { ...wish, id: nameForwarded(textHash) });
      if (made === null) return null;
      const token = JSON.stringify(made.text);
      forwarded.add({
        conversation,
        holder: holder.kind === 'run' ? formatId('t', holder.taskId) : 'chair',
        session: holder.kind === 'run' ? conversation : null,
        hash,
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
      // An engine of an earlier version says nothing of it.
      settings = next ?? null;
      if (settings === null || shortener !== null) return;
      try {
        shortener = await loadShortener();
      } catch (error) {
        warn(error, 'outputs are not shortened');
      }
    },
    edit(call) {
      const anew = settings === null || shortener === null ? null : { wish: settings, by: shortener };
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

/** Longer than ids of the engine, which knows of no text before it has looked here: two outputs never have the same. */
const nameForwarded = (hash: string): string => `c-${hash.slice(0, 16)}`;
