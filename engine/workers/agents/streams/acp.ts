import { classifyError, createFailure, findHttpStatus, type StreamFailure } from './failure.ts';
import { asJson, asNumber, asString } from './json-lines.ts';
import { createRecent, cutToKeep } from './recent.ts';
import { findResetTime } from './reset-time.ts';
import {
  type AgentEnd,
  END_CODES,
  type EndCode,
  NO_FACTS,
  type PlanEntry,
  type StreamFacts,
  type StreamReader,
} from './stream.ts';

/** Answers to a permission request, in the protocol's terms. */
export type PermissionOutcome = 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always' | 'cancelled';

export type AcpStop = 'end_turn' | 'max_tokens' | 'max_turn_requests' | 'refusal' | 'cancelled';

/** An agent's error answer: shortened, without secrets, and not yet interpreted. */
export interface AgentError {
  /** The code of JSON-RPC, or the HTTP status that some pass on. */
  code: number;
  message: string;
  /** As JSON. */
  data?: string;
  /** When a plan's limit ends, Unix ms, if the agent reported it; and the time of that answer. */
  reset_at: number | null;
  at: number;
}

/** An error found by `svc acp run` itself. The previous version also reported agents' errors in this form. */
export interface FoundError {
  code: EndCode;
  text: string;
  reset_at?: number | null;
}

export type AcpError = AgentError | FoundError;

/** One line of the output of `svc acp run`: the log of a run on transport acp. */
export type AcpLine =
  | {
      acp: 'session';
      id: string;
      agent: { name: string; version: string | null };
      model: string | null;
    }
  | { acp: 'message' | 'thought' | 'notice'; text: string }
  | {
      acp: 'tool';
      id: string;
      kind: string;
      title: string;
      status: 'pending' | 'in_progress' | 'completed' | 'failed';
      /** Relative to the folder of the run if they are in it. */
      paths: string[];
    }
  | { acp: 'plan'; entries: PlanEntry[] }
  | {
      acp: 'permission';
      tool: string;
      kind: string;
      title: string;
      outcome: PermissionOutcome;
      /** `policy`, or the person who answered. */
      by: string;
    }
  | { acp: 'usage'; input: number; cached: number; output: number; cost_usd: number | null }
  | ({ acp: 'error' } & AcpError)
  | { acp: 'end'; stop_reason: AcpStop | null; error: AcpError | null };

const STOPS: Readonly<Record<string, FoundError>> = {
  max_tokens: { code: 'context_exceeded', text: 'the model reached its token limit' },
  max_turn_requests: {
    code: 'turn_limit',
    text: 'the agent reached its limit of model requests in one turn',
  },
  refusal: { code: 'refused', text: 'the model refused to continue' },
  cancelled: { code: 'agent_error', text: 'cancelled' },
};

/** Returns the failure of a stop reason; null for none. */
export const findStopFailure = (stop: string): FoundError | null => STOPS[stop] ?? null;

const MARKS: Readonly<Record<PlanEntry['state'], string>> = { done: 'x', active: '>', pending: ' ' };
const OUTCOMES: Readonly<Record<PermissionOutcome, string>> = {
  allow_once: 'allowed',
  allow_always: 'allowed from now on',
  reject_once: 'refused',
  reject_always: 'refused from now on',
  cancelled: 'withdrawn',
};

const LONGEST_WORDS = 1000;

/** Reads the lines of `svc acp run`. The agent's standard error is between them, unchanged. */
export function createAcpReader(): StreamReader {
  let facts: StreamFacts = NO_FACTS;
  const tools = createRecent<string>();
  let toolCalls = 0;
  /** The refused call, until the agent prints or does something after it. */
  let refused: string | null = null;
  let hasSpoken = false;

  /** Reports a call once its kind is known, and again if it failed. */
  function readTool(line: Extract<AcpLine, { acp: 'tool' }>): string | null {
    const words = cutToKeep(describeTool(line), LONGEST_WORDS);
    const before = tools.get(line.id);
    tools.set(line.id, words);
    if (before === undefined) toolCalls += 1;
    if (line.status === 'completed') refused = null;
    facts = { ...facts, activity: words, toolCalls, trouble: null };
    if (line.status === 'failed') return `${words} failed`;
    return before === words ? null : words;
  }

  function readLine(line: AcpLine): string | null {
    switch (line.acp) {
      case 'session': {
        const { id, agent, model } = line;
        facts = { ...facts, agentSession: id, model: model ?? facts.model };
        const version = agent.version === null ? '' : ` ${agent.version}`;
        return `${agent.name}${version}${model === null ? '' : `, model ${model}`}, session ${id}`;
      }
      case 'message':
        refused = null;
        hasSpoken = true;
        facts = { ...facts, trouble: null };
        return line.text;
      case 'thought':
        return `thinks: ${line.text}`;
      case 'notice':
        return `! ${line.text}`;
      case 'tool':
        return readTool(line);
      case 'plan':
        facts = { ...facts, plan: line.entries };
        return ['plan', ...line.entries.map(({ text, state }) => `  [${MARKS[state]}] ${text}`)].join('\n');
      case 'permission': {
        const words = `${OUTCOMES[line.outcome]} by ${line.by}: ${line.kind} ${line.title}`;
        refused =
          line.outcome === 'reject_once' || line.outcome === 'reject_always'
            ? cutToKeep(words, LONGEST_WORDS)
            : null;
        return words;
      }
      case 'usage': {
        const { input, cached, output, cost_usd: costUsd } = line;
        facts = { ...facts, usage: { input, cached, output, costUsd } };
        return null;
      }
      case 'error': {
        const trouble = toFailure(line);
        facts = { ...facts, trouble };
        return `error: ${trouble.text}`;
      }
      case 'end': {
        const end = judgeEnd(line, {
          refused,
          trouble: facts.trouble,
          isSilent: !hasSpoken && toolCalls === 0,
        });
        facts = { ...facts, end, trouble: null };
        return line.error === null || end.ok ? null : `ended: ${end.text}`;
      }
    }
  }

  return {
    readLine(text) {
      const parsed = parseAcpLine(text);
      if (parsed === null) return text;
      try {
        const words = readLine(parsed);
        facts = { ...facts, isStream: true };
        return words;
      } catch {
        // An incomplete line of ours must not lose the rest.
        return text;
      }
    },
    facts: () => facts,
  };
}

const KINDS: ReadonlySet<unknown> = new Set<AcpLine['acp']>([
  'session',
  'message',
  'thought',
  'notice',
  'tool',
  'plan',
  'permission',
  'usage',
  'error',
  'end',
]);

function parseAcpLine(text: string): AcpLine | null {
  if (!text.startsWith('{"acp":')) return null;
  try {
    const value = JSON.parse(text) as AcpLine;
    return KINDS.has(value.acp) ? value : null;
  } catch {
    return null;
  }
}

function describeTool({ kind, title, paths }: Extract<AcpLine, { acp: 'tool' }>): string {
  const [first] = paths;
  const what = first === undefined || kind === 'execute' ? title : paths.length > 1 ? `${first} …` : first;
  return `${kind} ${what}`;
}

/** `RequestError.authRequired` of the protocol. */
const AUTH_REQUIRED = -32_000;

/** Interprets an agent's error. */
export function judgeAcpError(error: AgentError): StreamFailure {
  const { code, reset_at: limitedUntil = null } = error;
  const [message, data] = [asString(error.message), asString(error.data)];
  const text = extractMessage(message, data);
  const told = `${text} ${message} ${data}`;
  const now = asNumber(error.at) || Date.now();
  if (code === AUTH_REQUIRED) return createFailure('auth_failed', text);
  const found = classifyError(code >= 400 && code < 600 ? code : findHttpStatus(told), told) ?? 'agent_error';
  // A known end of the limit makes it a usage limit, even if the agent calls it a rate limit.
  const meant = found === 'rate_limited' && limitedUntil !== null ? 'usage_limit' : found;
  const isLimit = meant === 'rate_limited' || meant === 'usage_limit';
  return createFailure(meant, text, {
    resetAt: isLimit ? (limitedUntil ?? findResetTime(told, now)) : null,
    now,
  });
}

/** Extracts the message: without the library's prefix, and from the JSON that some agents pass on. */
function extractMessage(message: string, data: string): string {
  const text = message.replace(/^Internal error: /, '');
  // Then its reason is next to it.
  if (text === 'Internal error') return `${text} ${data}`.trim();
  try {
    return asString(asJson(asJson(JSON.parse(text)).error).message) || text;
  } catch {
    // A plain sentence.
    return text;
  }
}

function toFailure(error: AcpError): StreamFailure {
  if (!('text' in error)) return judgeAcpError(error);
  const { code, text, reset_at: resetAt = null } = error;
  return { ok: false, code: isEndCode(code) ? code : 'agent_error', text, resetAt };
}

const isEndCode = (code: string): code is EndCode => (END_CODES as readonly string[]).includes(code);

/**
 * Judges the end of a turn. Agents end it normally even after a refused call, an unreachable model, or no output; no
 * work was done then.
 */
function judgeEnd(
  { stop_reason: stop, error }: Extract<AcpLine, { acp: 'end' }>,
  {
    refused,
    trouble,
    isSilent,
  }: { refused: string | null; trouble: StreamFailure | null; isSilent: boolean },
): AgentEnd {
  const nothing = stop === null ? { code: 'agent_error' as const, text: 'it ended without a reason' } : null;
  const why = error ?? nothing ?? findStopFailure(stop ?? '');
  if (why !== null) return toFailure(why);
  if (refused !== null) return createFailure('permission_denied', refused, { resetAt: null });
  if (trouble !== null) return trouble;
  return isSilent
    ? createFailure('agent_error', 'it ended its turn without a message or a tool call')
    : { ok: true };
}
