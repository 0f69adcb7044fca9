import { relative, resolve } from 'node:path';
import type { SessionNotification, ToolCall } from '@agentclientprotocol/sdk';
import { type AcpLine, isInsideFolder } from '../../engine/index.ts';
import { clipText, describeError } from './failure.ts';

type ToolLine = Extract<AcpLine, { acp: 'tool' }>;
type Spoken = 'message' | 'thought';

/** A tool call as far as it is known; agents report it in pieces. */
export type KnownCall = Partial<ToolCall> & { toolCallId: string };

export interface Transcript {
  /** Records a `session/update`. Updates of an unknown kind or an invalid form are ignored. */
  update(notification: unknown): void;
  /** Adds what a permission request reports about its call, and returns everything known about the call. */
  call(part: unknown): KnownCall;
  /** Prints the text received so far. */
  flush(): void;
  /** Tokens of the whole turn, from the last answer and the updates; null if they reported none. */
  /** Counts the usage of a turn that is not the last one. */
  endTurn(answer: unknown): void;
  usage(answer: unknown): Extract<AcpLine, { acp: 'usage' }> | null;
  /** When a reached limit of the plan ends, Unix ms. */
  limitedUntil(): number | null;
}

/** Text that a program prints in the name of its model, such as `Error: Authentication failed`. */
export interface OwnWords {
  notice: RegExp;
  error: RegExp;
}

/** Words without an end of line are buffered up to this size, or for this long. */
const HELD_CHARACTERS = 2000;
const HELD_MS = 5000;
const MOST_PATHS = 20;

/** Turns an agent's reports about its turn into lines of the log: whole lines of text, and each call as it changes. */
export function createTranscript({
  print,
  cwd,
  clean,
  ownWords = null,
}: {
  print(line: AcpLine): void;
  cwd: string;
  /** Removes secrets. */
  clean(text: string): string;
  ownWords?: OwnWords | null;
}): Transcript {
  const calls = new Map<string, KnownCall>();
  const printed = new Map<string, string>();
  let held = '';
  let speaking: Spoken = 'message';
  let timer: NodeJS.Timeout | undefined;
  let cost: number | null = null;
  let limited: number | null = null;
  const counted = { input: 0, cached: 0, output: 0 };
  /** The usage reported so far, and whether any was reported. */
  const told = { input: 0, cached: 0, output: 0, isKnown: false };

  function printHeld(upTo: number): void {
    const text = held.slice(0, upTo).replace(/^\n+|\n+$/g, '');
    held = held.slice(upTo);
    if (text.trim() !== '') print({ acp: speaking, text });
  }

  function flushHeld(): void {
    clearTimeout(timer);
    timer = undefined;
    printHeld(held.length);
  }

  function appendText(as: Spoken, text: string): void {
    if (as !== speaking) flushHeld();
    speaking = as;
    held += text;
    const end = held.lastIndexOf('\n');
    if (end !== -1) printHeld(end + 1);
    if (held.length > HELD_CHARACTERS) printHeld(held.lastIndexOf(' ') + 1 || held.length);
    if (held === '') {
      clearTimeout(timer);
      timer = undefined;
    } else {
      timer ??= setTimeout(flushHeld, HELD_MS);
    }
  }

  /** Each arrives as a separate piece. */
  function printOwnWord(text: string): boolean {
    if (ownWords === null) return false;
    if (ownWords.error.test(text)) {
      flushHeld();
      print({ acp: 'error', ...describeError({ message: text.replace(ownWords.error, '') }, clean) });
      return true;
    }
    if (!ownWords.notice.test(text)) return false;
    flushHeld();
    print({ acp: 'notice', text: clipText(clean(text)) });
    return true;
  }

  function rememberCall(part: unknown): KnownCall {
    const given = Object.entries(part ?? {}).filter(([, value]) => value !== undefined && value !== null);
    const id = String((part as KnownCall | undefined)?.toolCallId ?? '');
    const call: KnownCall = { ...calls.get(id), ...Object.fromEntries(given), toolCallId: id };
    calls.set(id, call);
    return call;
  }

  function printTool(call: KnownCall): void {
    const { toolCallId: id, kind = 'other', title = '', status = 'pending' } = call;
    const paths = listCallPaths(call)
      .slice(0, MOST_PATHS)
      .map((path) => shortenPath(cwd, path));
    const line: ToolLine = { acp: 'tool', id, kind, title: clipText(title), status, paths };
    const text = JSON.stringify(line);
    if (printed.get(id) === text) return;
    printed.set(id, text);
    flushHeld();
    print(line);
  }

  function readUpdate(notification: unknown): void {
    const update = (notification as Partial<SessionNotification> | undefined)?.update;
    switch (update?.sessionUpdate) {
      case 'agent_message_chunk':
      case 'agent_thought_chunk': {
        countUsage((update._meta as { usage?: unknown } | null | undefined)?.usage);
        const { content } = update;
        if (content?.type !== 'text' || content.text === '') return;
        if (update.sessionUpdate === 'agent_message_chunk' && printOwnWord(content.text)) return;
        appendText(update.sessionUpdate === 'agent_message_chunk' ? 'message' : 'thought', content.text);
        return;
      }
      case 'tool_call':
      case 'tool_call_update':
        printTool(rememberCall(update));
        return;
      case 'plan': {
        flushHeld();
        const entries = (update.entries ?? []).map(({ content, status }) => ({
          text: clipText(String(content)),
          state:
            status === 'completed'
              ? ('done' as const)
              : status === 'in_progress'
                ? ('active' as const)
                : ('pending' as const),
        }));
        print({ acp: 'plan', entries });
        return;
      }
      case 'usage_update': {
        if (update.cost?.currency === 'USD') cost = update.cost.amount;
        const limit = (update._meta as Record<string, unknown> | null | undefined)?.['_claude/rateLimit'];
        const { status, resetsAt } = (limit ?? {}) as { status?: unknown; resetsAt?: unknown };
        if (status !== undefined)
          limited = status === 'rejected' && typeof resetsAt === 'number' ? resetsAt * 1000 : null;
        return;
      }
      default:
        return;
    }
  }

  /** Some report the tokens of each model request, and none at the end. */
  function countUsage(usage: unknown): void {
    const { input, cached, output } = countTokens(usage);
    counted.input += input;
    counted.cached += cached;
    counted.output += output;
  }

  function countAnswer(answer: unknown): void {
    const { usage } = (answer ?? {}) as { usage?: unknown };
    if (!usage) return;
    const { input, cached, output } = countTokens(usage);
    told.input += input;
    told.cached += cached;
    told.output += output;
    told.isKnown = true;
  }

  return {
    update: readUpdate,
    call: rememberCall,
    flush: flushHeld,
    endTurn: countAnswer,
    usage(answer) {
      countAnswer(answer);
      const { input, cached, output } = told.isKnown ? told : counted;
      if (input + cached + output === 0 && cost === null) return null;
      return { acp: 'usage', input, cached, output, cost_usd: cost };
    },
    limitedUntil: () => limited,
  };
}

/**
 * `input` includes tokens read from or written to a cache. Some agents include them in their input, others list them
 * separately: if the total equals input plus output, they are included.
 */
function countTokens(usage: unknown): { input: number; cached: number; output: number } {
  const given = (usage ?? {}) as Record<string, unknown>;
  const readNumber = (name: string): number => (typeof given[name] === 'number' ? given[name] : 0);
  const [input, output] = [readNumber('inputTokens'), readNumber('outputTokens')];
  const cached = readNumber('cachedReadTokens');
  const apart = cached + readNumber('cachedWriteTokens');
  const total = readNumber('totalTokens');
  const isInside = total > 0 && total < input + apart + output;
  return { input: isInside ? input : input + apart, cached, output };
}

/** Names that different agents use for the path given to a tool. */
const PATH_NAMES =
  /^(?:abs_?path|(?:abs|absolute|relative|target|source|destination|old|new|notebook)?_?(?:file|path|file_?path|file_?name|folder|dir|directory)|destination|source)s?$/i;

/** Patches keyed by file. */
const BY_PATH = /^(?:file_?)?changes$/i;
/** Limits for the input of a tool; anything deeper or larger is not searched. */
const MOST_DEPTH = 4;
const MOST_PARTS = 5000;

/** Lists every path that a call names: its location, the files it would change, and the input of its tool. */
export function listCallPaths({ locations, content, rawInput }: KnownCall): string[] {
  const found: unknown[] = (locations ?? []).map(({ path }) => path);
  for (const each of content ?? []) if (each.type === 'diff') found.push(each.path);
  found.push(...findPaths(rawInput));
  return [...new Set(found.filter((path): path is string => typeof path === 'string' && path !== ''))];
}

function findPaths(input: unknown): unknown[] {
  const found: unknown[] = [];
  const left = [{ value: input, depth: 0 }];
  for (let parts = 0; left.length > 0 && parts < MOST_PARTS; parts += 1) {
    const { value, depth } = left.pop()!;
    if (typeof value !== 'object' || value === null || depth > MOST_DEPTH) continue;
    for (const [name, inner] of Object.entries(value)) {
      if (PATH_NAMES.test(name)) found.push(...[inner].flat());
      if (BY_PATH.test(name) && typeof inner === 'object' && inner !== null && !Array.isArray(inner))
        found.push(...Object.keys(inner));
      left.push({ value: inner, depth: depth + 1 });
    }
  }
  return found;
}

function shortenPath(cwd: string, path: string): string {
  const absolute = resolve(cwd, path);
  return isInsideFolder(cwd, absolute) ? relative(cwd, absolute) || '.' : path;
}
