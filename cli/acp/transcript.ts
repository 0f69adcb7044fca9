import { relative, resolve } from 'node:path';
import type { PlanEntry, SessionNotification, ToolCall } from '@agentclientprotocol/sdk';
import { isInsideFolder } from '../../engine/core/base/paths.ts';
import type { AcpLine } from '../../engine/index.ts';
import { clipText, describeError } from './failure.ts';
import { createHeldText } from './held-text.ts';
import { createUsageCount } from './usage-count.ts';

type ToolLine = Extract<AcpLine, { acp: 'tool' }>;

/** A tool call as far as it is known; agents report it in pieces. */
export type KnownCall = Partial<ToolCall> & { toolCallId: string };

export interface Transcript {
  /** Records a `session/update`. Updates of an unknown kind or an invalid form are ignored. */
  update(notification: unknown): void;
  /** Adds what a permission request reports about its call, and returns everything known about the call. */
  call(part: unknown): KnownCall;
  /** Prints the text received so far. */
  flush(): void;
  /** Counts the usage of a turn that is not the last one. */
  endTurn(answer: unknown): void;
  /** Tokens of the whole turn, from the last answer and the updates; null if they reported none. */
  usage(answer: unknown): Extract<AcpLine, { acp: 'usage' }> | null;
  /** When a reached limit of the plan ends, Unix ms. */
  limitedUntil(): number | null;
}

/** Text that a program prints in the name of its model, such as `Error: Authentication failed`. */
export interface OwnWords {
  notice: RegExp;
  error: RegExp;
}

const MOST_PATHS = 20;

interface TranscriptDeps {
  print(line: AcpLine): void;
  cwd: string;
  /** Removes secrets. */
  clean(text: string): string;
  ownWords?: OwnWords | null;
}

/** Turns an agent's reports about its turn into lines of the log: whole lines of text, and each call as it changes. */
export function createTranscript({ print, cwd, clean, ownWords = null }: TranscriptDeps): Transcript {
  const calls = new Map<string, KnownCall>();
  const printed = new Map<string, string>();
  const spoken = createHeldText(print);
  const usage = createUsageCount();
  let cost: number | null = null;
  let limited: number | null = null;

  /** Each arrives as a separate piece. */
  function printOwnWord(text: string): boolean {
    if (ownWords === null) return false;
    if (ownWords.error.test(text)) {
      spoken.flush();
      print({ acp: 'error', ...describeError({ message: text.replace(ownWords.error, '') }, clean) });
      return true;
    }
    if (!ownWords.notice.test(text)) return false;
    spoken.flush();
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
    spoken.flush();
    print(line);
  }

  function readUpdate(notification: unknown): void {
    const update = (notification as Partial<SessionNotification> | undefined)?.update;
    switch (update?.sessionUpdate) {
      case 'agent_message_chunk':
      case 'agent_thought_chunk': {
        usage.countRequest((update._meta as { usage?: unknown } | null | undefined)?.usage);
        const { content } = update;
        if (content?.type !== 'text' || content.text === '') return;
        if (update.sessionUpdate === 'agent_message_chunk' && printOwnWord(content.text)) return;
        spoken.append(update.sessionUpdate === 'agent_message_chunk' ? 'message' : 'thought', content.text);
        return;
      }
      case 'tool_call':
      case 'tool_call_update':
        printTool(rememberCall(update));
        return;
      case 'plan': {
        spoken.flush();
        print({ acp: 'plan', entries: (update.entries ?? []).map(toPlanEntry) });
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

  return {
    update: readUpdate,
    call: rememberCall,
    flush: spoken.flush,
    endTurn: usage.countAnswer,
    usage(answer) {
      usage.countAnswer(answer);
      const { input, cached, output } = usage.sum();
      if (input + cached + output === 0 && cost === null) return null;
      return { acp: 'usage', input, cached, output, cost_usd: cost };
    },
    limitedUntil: () => limited,
  };
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

const toPlanEntry = ({ content, status }: PlanEntry) => ({
  text: clipText(String(content)),
  state:
    status === 'completed'
      ? ('done' as const)
      : status === 'in_progress'
        ? ('active' as const)
        : ('pending' as const),
});
