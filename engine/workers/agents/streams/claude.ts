import { createClaudeCalls, indentForSubagent } from './claude-calls.ts';
import { createMessageSum, readClaudeUsage, sumUsage, sumUsageByModel } from './claude-usage.ts';
import { classifyError, createFailure, findHttpStatus, type StreamFailure } from './failure.ts';
import {
  asJson,
  asJsonList,
  asNumber,
  asString,
  createJsonReader,
  type JsonRecord,
  type RunFacts,
  toOneLine,
} from './json-lines.ts';
import type { AgentEnd, EndCode, StreamReader, StreamUsage } from './stream.ts';

/** Claude's error names. */
const ERRORS: Record<string, EndCode> = {
  error_max_turns: 'turn_limit',
  max_turns: 'turn_limit',
  error_max_budget_usd: 'budget_exceeded',
  budget_exhausted: 'budget_exceeded',
  prompt_too_long: 'context_exceeded',
  usage_limit_reached: 'usage_limit',
  billing_error: 'usage_limit',
  refusal: 'refused',
  authentication_failed: 'auth_failed',
  rate_limit: 'rate_limited',
  overloaded: 'rate_limited',
  invalid_request: 'model_error',
  server_error: 'model_error',
  max_output_tokens: 'model_error',
};

const LIMITS: readonly (readonly [RegExp, EndCode])[] = [
  [/^Reached max session turns/, 'turn_limit'],
  [/^Run aborted: .* budget of .* exceeded/, 'budget_exceeded'],
];
/** Its guard against a model that loops. */
const LOOP = /^Loop detect/;

/** Reads the stream of `--output-format stream-json` of claude and, similarly, qwen. */
export function createClaudeReader(now: () => number = Date.now): StreamReader {
  /** Sum of the results so far: a run may have several, each with its own part. */
  let told: StreamUsage | null = null;
  return createReader(now, (result, facts) => {
    const { model_usage_since_last_result: added, modelUsage, usage, total_cost_usd: cost } = result;
    const costUsd = typeof cost === 'number' ? cost : null;
    const own = sumUsageByModel(added);
    // Without its own part, the usage by model covers all runs of the conversation.
    const whole = own === null ? sumUsageByModel(modelUsage) : null;
    const plain = readClaudeUsage(asJson(usage));
    if (own !== null) {
      told = told === null ? own : sumUsage([told, own]);
      facts.usage = told;
    } else if (whole !== null) facts.conversation = { ...whole, costUsd };
    else if (plain !== null) facts.usage = { ...plain, costUsd };
  });
}

/** Qwen's result counts the whole conversation. */
export function createQwenReader(now: () => number = Date.now): StreamReader {
  return createReader(now, ({ usage }, facts) => {
    facts.conversation = readClaudeUsage(asJson(usage)) ?? facts.conversation;
  });
}

/** @param takeTokens reads the tokens of a result */
function createReader(
  now: () => number,
  takeTokens: (result: JsonRecord, facts: RunFacts) => void,
): StreamReader {
  const addMessage = createMessageSum();
  const calls = createClaudeCalls();
  /** When the reached limit of the account ends. */
  let limitUntil: number | null = null;
  /** The last message that represents an error. */
  let error = '';
  let lastError = '';

  function readClaudeMessage(event: JsonRecord, facts: RunFacts): string | null {
    const whole = asJson(event.message);
    error = asString(event.error);
    // Output after an end is another turn: a background task has ended.
    facts.end = null;
    if (error === '') facts.trouble = null;
    if (asString(whole.model) !== '' && whole.model !== '<synthetic>') facts.model = asString(whole.model);
    const usage = readClaudeUsage(asJson(whole.usage));
    if (usage !== null) facts.usage = addMessage(asString(whole.id), usage);
    const blocks = asJsonList(whole.content);
    if (error !== '') {
      // Repeated at the end, if it remains.
      const text = blocks.map((block) => asString(block.text)).join(' ');
      facts.trouble = createFailure(classifyClaudeError([error], findHttpStatus(text), text), text, {
        now: now(),
      });
      lastError = facts.trouble.text;
      return `✗ ${lastError}`;
    }
    const lines = blocks.flatMap((block) => {
      if (block.type === 'text') return asString(block.text);
      return block.type === 'tool_use' ? calls.readCall(block, facts) : [];
    });
    return indentForSubagent(lines, event);
  }

  function readSystem(event: JsonRecord, facts: RunFacts): string | null {
    switch (event.subtype) {
      case 'init':
        facts.agentSession = asString(event.session_id) || facts.agentSession;
        facts.model = asString(event.model) || facts.model;
        calls.setFolder(asString(event.cwd));
        facts.end = null;
        return null;
      case 'api_retry': {
        const { trouble, said } = readRetry(event, now());
        facts.trouble = trouble;
        return said;
      }
      case 'informational':
        return event.level === 'warning' ? `! ${toOneLine(asString(event.content), 200)}` : null;
      default:
        return null;
    }
  }

  return createJsonReader(readClaudeEvent, (text, facts) => {
    // Qwen reports this outside its stream, and prints no result.
    const [, code] = LIMITS.find(([words]) => words.test(text)) ?? [];
    if (code !== undefined) facts.trouble = createFailure(code, text);
  });

  function readClaudeEvent(event: JsonRecord, facts: RunFacts): string | null | undefined {
    switch (event.type) {
      case 'system':
        return readSystem(event, facts);
      case 'assistant':
        return readClaudeMessage(event, facts);
      case 'user':
        return calls.readResults(event);
      case 'rate_limit_event': {
        const { status, resetsAt } = asJson(event.rate_limit_info);
        limitUntil = status === 'rejected' && asNumber(resetsAt) > 0 ? asNumber(resetsAt) * 1000 : null;
        return null;
      }
      case 'result': {
        facts.agentSession = asString(event.session_id) || facts.agentSession;
        takeTokens(event, facts);
        // Not the last one: another turn is queued.
        if (asNumber(event.queued_turn_count) > 0) return null;
        facts.end = readEnd(event, { denied: calls.findDenied, error, limitUntil, now: now() });
        return facts.end.ok || facts.end.text === lastError ? null : `✗ ${facts.end.text}`;
      }
      default:
        return typeof event.type === 'string' ? null : undefined;
    }
  }
}

/** Classifies an error by claude's own names, and by its text if they only report a rejected request. */
function classifyClaudeError(names: readonly string[], status: number | null, text: string): EndCode {
  if (LOOP.test(text)) return 'turn_limit';
  const [code] = names.flatMap((name) => ERRORS[name] ?? []);
  if (code !== undefined && code !== 'model_error') return code;
  return classifyError(status, text) ?? code ?? (/API Error/i.test(text) ? 'model_error' : 'agent_error');
}

/** It tries a request again. */
function readRetry(event: JsonRecord, now: number): { trouble: StreamFailure; said: string } {
  const status = asNumber(event.error_status) || null;
  const name = asString(event.error);
  const text = `${name} ${status ?? ''}`.trim();
  const trouble = createFailure(classifyClaudeError([name], status, text), text, { now });
  const wait = Math.ceil(asNumber(event.retry_delay_ms) / 1000);
  const said = `! ${text}, trying again in ${wait} s (${asNumber(event.attempt)} of ${asNumber(event.max_retries)})`;
  return { trouble, said };
}

function readEnd(
  result: JsonRecord,
  {
    denied,
    error,
    limitUntil,
    now,
  }: {
    denied(result: JsonRecord): string | null;
    /** The name of the last message's error. */
    error: string;
    limitUntil: number | null;
    now: number;
  },
): AgentEnd {
  const subtype = asString(result.subtype);
  const isRefused = result.stop_reason === 'refusal';
  if (!isRefused && result.is_error !== true && (subtype === 'success' || result.is_error === false)) {
    const tool = denied(result);
    if (tool === null) return { ok: true };
    return createFailure(
      'permission_denied',
      `it was not allowed to use ${tool}: ${asString(result.result)}`,
    );
  }
  const text =
    asString(result.result) ||
    asString(asJson(result.error).message) ||
    (Array.isArray(result.errors) ? result.errors.map(asString).join('; ') : '') ||
    'it ended with an unspecified error';
  const status = asNumber(result.api_error_status) || findHttpStatus(text);
  const named = [result.api_error, subtype, result.terminal_reason, result.stop_reason, error];
  const code = classifyClaudeError(named.map(asString), status, text);
  return createFailure(code, text, {
    resetAt: code === 'usage_limit' || code === 'rate_limited' ? limitUntil : null,
    now,
  });
}
