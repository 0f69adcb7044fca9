import { createRecent, keptText } from './recent.ts';
import {
  type AgentEnd,
  END_CODES,
  type EndCode,
  NO_FACTS,
  type PlanEntry,
  type StreamFacts,
  type StreamReader,
} from './stream.ts';

/** How an answer to a request for leave is called in the protocol. */
export type PermissionOutcome = 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always' | 'cancelled';

export type AcpStop = 'end_turn' | 'max_tokens' | 'max_turn_requests' | 'refusal' | 'cancelled';

/** One line of what `svc acp run` prints: the log of a run on transport acp. */
export type AcpLine =
  | {
      acp: 'session';
      id: string;
      agent: { name: string; version: string | null };
      model: string | null;
    }
  | { acp: 'message' | 'thought'; text: string }
  | {
      acp: 'tool';
      id: string;
      kind: string;
      title: string;
      status: 'pending' | 'in_progress' | 'completed' | 'failed';
      /** Relative to the folder of the run where they are in it. */
      paths: string[];
    }
  | { acp: 'plan'; entries: PlanEntry[] }
  | {
      acp: 'permission';
      tool: string;
      kind: string;
      title: string;
      outcome: PermissionOutcome;
      /** `policy`, or who answered. */
      by: string;
    }
  | { acp: 'usage'; input: number; cached: number; output: number; cost_usd: number | null }
  | { acp: 'error'; code: EndCode; text: string }
  | {
      acp: 'end';
      stop_reason: AcpStop | null;
      error: { code: EndCode; text: string; reset_at: number | null } | null;
    };

const STOPS: Readonly<Record<string, { code: EndCode; text: string }>> = {
  max_tokens: { code: 'context_exceeded', text: 'the model reached its limit of tokens' },
  max_turn_requests: {
    code: 'turn_limit',
    text: 'the agent reached its limit of model requests in one turn',
  },
  refusal: { code: 'refused', text: 'the model declined to go on' },
  cancelled: { code: 'agent_error', text: 'cancelled' },
};

/** How a turn that ended so failed; null when it did not. */
export const failureOfStop = (stop: string): { code: EndCode; text: string } | null => STOPS[stop] ?? null;

const MARKS: Readonly<Record<PlanEntry['state'], string>> = { done: 'x', active: '>', pending: ' ' };
const OUTCOMES: Readonly<Record<PermissionOutcome, string>> = {
  allow_once: 'allowed',
  allow_always: 'allowed from now on',
  reject_once: 'refused',
  reject_always: 'refused from now on',
  cancelled: 'withdrawn',
};

const LONGEST_WORDS = 1000;

/** Reads the lines of `svc acp run`. What the agent wrote to its standard error stands between them as it is. */
export function acpReader(): StreamReader {
  let facts: StreamFacts = NO_FACTS;
  const tools = createRecent<string>();
  let toolCalls = 0;
  /** What was refused, as long as the agent has neither said nor done anything after it. */
  let refused: string | null = null;

  /** A call is told once it is known what it is, and again when it failed. */
  function tool(line: Extract<AcpLine, { acp: 'tool' }>): string | null {
    const words = keptText(wordsOf(line), LONGEST_WORDS);
    const before = tools.get(line.id);
    tools.set(line.id, words);
    if (before === undefined) toolCalls += 1;
    if (line.status === 'completed') refused = null;
    facts = { ...facts, activity: words, toolCalls, trouble: null };
    if (line.status === 'failed') return `${words} failed`;
    return before === words ? null : words;
  }

  function read(line: AcpLine): string | null {
    switch (line.acp) {
      case 'session': {
        const { id, agent, model } = line;
        facts = { ...facts, agentSession: id, model: model ?? facts.model };
        const version = agent.version === null ? '' : ` ${agent.version}`;
        return `${agent.name}${version}${model === null ? '' : `, model ${model}`}, session ${id}`;
      }
      case 'message':
        refused = null;
        facts = { ...facts, trouble: null };
        return line.text;
      case 'thought':
        return `thinks: ${line.text}`;
      case 'tool':
        return tool(line);
      case 'plan':
        facts = { ...facts, plan: line.entries };
        return ['plan', ...line.entries.map(({ text, state }) => `  [${MARKS[state]}] ${text}`)].join('\n');
      case 'permission': {
        const words = `${OUTCOMES[line.outcome]} by ${line.by}: ${line.kind} ${line.title}`;
        refused =
          line.outcome === 'reject_once' || line.outcome === 'reject_always'
            ? keptText(words, LONGEST_WORDS)
            : null;
        return words;
      }
      case 'usage': {
        const { input, cached, output, cost_usd: costUsd } = line;
        facts = { ...facts, usage: { input, cached, output, costUsd } };
        return null;
      }
      case 'error':
        facts = { ...facts, trouble: { ok: false, code: codeOf(line.code), text: line.text, resetAt: null } };
        return `error: ${line.text}`;
      case 'end':
        facts = { ...facts, end: endOf(line, refused), trouble: null };
        return line.error === null ? null : `ended: ${line.error.text}`;
    }
  }

  return {
    line(text) {
      const parsed = parse(text);
      if (parsed === null) return text;
      try {
        const words = read(parsed);
        facts = { ...facts, isStream: true };
        return words;
      } catch {
        // A line of ours that lacks something is no reason to lose the rest.
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
  'tool',
  'plan',
  'permission',
  'usage',
  'error',
  'end',
]);

function parse(text: string): AcpLine | null {
  if (!text.startsWith('{"acp":')) return null;
  try {
    const value = JSON.parse(text) as AcpLine;
    return KINDS.has(value.acp) ? value : null;
  } catch {
    return null;
  }
}

function wordsOf({ kind, title, paths }: Extract<AcpLine, { acp: 'tool' }>): string {
  const [first] = paths;
  const what = first === undefined || kind === 'execute' ? title : paths.length > 1 ? `${first} …` : first;
  return `${kind} ${what}`;
}

const codeOf = (code: string): EndCode =>
  (END_CODES as readonly string[]).includes(code) ? (code as EndCode) : 'agent_error';

/** Agents end their turn in good order where a person has refused a call: that is no work that was done. */
function endOf(
  { stop_reason: stop, error }: Extract<AcpLine, { acp: 'end' }>,
  refused: string | null,
): AgentEnd {
  const failure =
    error ?? (stop === null ? { code: 'agent_error', text: 'it ended without a reason' } : null);
  const why = failure ?? failureOfStop(stop ?? '');
  if (why === null)
    return refused === null
      ? { ok: true }
      : { ok: false, code: 'permission_denied', text: refused, resetAt: null };
  const resetAt = error?.reset_at ?? null;
  return { ok: false, code: codeOf(why.code), text: why.text, resetAt };
}
