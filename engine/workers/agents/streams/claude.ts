import { classifyTool, describeActivity } from './activity.ts';
import { classifyError, createFailure, findHttpStatus } from './failure.ts';
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
import { createRecent } from './recent.ts';
import type { AgentEnd, EndCode, PlanEntry, StreamReader, StreamUsage } from './stream.ts';

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

const STATES: Record<string, PlanEntry['state']> = {
  pending: 'pending',
  in_progress: 'active',
  completed: 'done',
};

/** Maximum number of individually examined ones. */
const MOST_DENIALS = 100;

interface Call {
  kind: string;
  /** Its index among the calls. */
  order: number;
  isDone: boolean;
}

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
  const calls = createRecent<Call>();
  let made = 0;
  /** Calls denied by our own hook: the agent treated that as advice, not as a missing permission. */
  const hooked = createRecent<true>();
  const usages = createRecent<StreamUsage>();
  let total: StreamUsage = { input: 0, cached: 0, output: 0, costUsd: null };
  let folder = '';
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
    if (usage !== null) {
      // The same message is printed more than once.
      const told = usages.get(asString(whole.id));
      usages.set(asString(whole.id), usage);
      total = sumUsage([total, usage, ...(told === undefined ? [] : [negateUsage(told)])]);
      facts.usage = total;
    }
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
      return block.type === 'tool_use' ? readCall(block, facts) : [];
    });
    return indentForSubagent(lines, event);
  }

  function readCall({ id, name, input }: JsonRecord, facts: RunFacts): string {
    const tool = asString(name);
    const given = asJson(input);
    calls.set(asString(id), { kind: classifyTool(tool), order: made, isDone: false });
    made += 1;
    facts.toolCalls += 1;
    if (/^todo_?write$/i.test(tool)) facts.plan = readTodos(given);
    facts.activity = describeActivity(tool, given, folder);
    return `→ ${facts.activity}`;
  }

  function readResults(event: JsonRecord): string | null {
    const lines = asJsonList(asJson(event.message).content).flatMap((block) => {
      if (block.type !== 'tool_result') return [];
      const call = calls.get(asString(block.tool_use_id));
      if (block.is_error !== true) {
        if (call !== undefined) call.isDone = true;
        return [];
      }
      const text =
        asString(block.content) ||
        asJsonList(block.content)
          .map((part) => asString(part.text))
          .join(' ');
      if (isHook(asString(block.tool_use_id), text, event)) hooked.set(asString(block.tool_use_id), true);
      return `✗ ${toOneLine(text, 200)}`;
    });
    return indentForSubagent(lines, event);
  }

  function readSystem(event: JsonRecord, facts: RunFacts): string | null {
    switch (event.subtype) {
      case 'init':
        facts.agentSession = asString(event.session_id) || facts.agentSession;
        facts.model = asString(event.model) || facts.model;
        folder = asString(event.cwd);
        facts.end = null;
        return null;
      case 'api_retry': {
        const status = asNumber(event.error_status) || null;
        const name = asString(event.error);
        const text = `${name} ${status ?? ''}`.trim();
        facts.trouble = createFailure(classifyClaudeError([name], status, text), text, { now: now() });
        const wait = Math.ceil(asNumber(event.retry_delay_ms) / 1000);
        return `! ${text}, trying again in ${wait} s (${asNumber(event.attempt)} of ${asNumber(event.max_retries)})`;
      }
      case 'informational':
        return event.level === 'warning' ? `! ${toOneLine(asString(event.content), 200)}` : null;
      default:
        return null;
    }
  }

  /** Returns a denied tool call without a later similar success; null if there is none. */
  function findDenied(result: JsonRecord): string | null {
    const known = calls.values();
    for (const { tool_name: tool, tool_use_id: id } of asJsonList(result.permission_denials).slice(
      -MOST_DENIALS,
    )) {
      if (hooked.get(asString(id))) continue;
      const { kind, order } = calls.get(asString(id)) ?? { kind: classifyTool(asString(tool)), order: -1 };
      const later = known.some((each) => each.isDone && each.kind === kind && each.order > order);
      if (!later) return asString(tool) || 'a tool';
    }
    return null;
  }

  function readEnd(result: JsonRecord): AgentEnd {
    const subtype = asString(result.subtype);
    const isRefused = result.stop_reason === 'refusal';
    if (!isRefused && result.is_error !== true && (subtype === 'success' || result.is_error === false)) {
      const tool = findDenied(result);
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
      now: now(),
    });
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
        return readResults(event);
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
        facts.end = readEnd(event);
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

/** Indents the output of a subagent. */
function indentForSubagent(lines: readonly string[], event: JsonRecord): string | null {
  const text = lines.filter((line) => line.trim() !== '').join('\n');
  if (text === '') return null;
  return typeof event.parent_tool_use_id === 'string' ? text.replace(/^/gm, '  ') : text;
}

/** Claude reports who decided; qwen passes on the command's words, and has others for its own decisions. */
function isHook(id: string, text: string, event: JsonRecord): boolean {
  const meta = asJsonList(event.tool_result_meta).find((each) => each.id === id);
  if (meta !== undefined) return asJson(meta.permission_decision).source === 'hook';
  return /^\w+:\w+ hook /.test(text) || !/permission|not allowed|denied/i.test(text);
}

const readTodos = ({ todos }: JsonRecord): PlanEntry[] =>
  asJsonList(todos).map(({ content, status }) => ({
    text: toOneLine(asString(content)),
    state: STATES[asString(status)] ?? 'pending',
  }));

/**
 * Reads the usage of one message or a whole run. Claude counts cached input separately; with a total it is included
 * in the input.
 */
function readClaudeUsage(usage: JsonRecord): StreamUsage | null {
  if (typeof usage.input_tokens !== 'number' || typeof usage.output_tokens !== 'number') return null;
  const cached = asNumber(usage.cache_read_input_tokens);
  const apart = 'total_tokens' in usage ? 0 : cached + asNumber(usage.cache_creation_input_tokens);
  return { input: usage.input_tokens + apart, cached, output: usage.output_tokens, costUsd: null };
}

/** Sums usage by model, which includes subagents; null if nothing is reported. */
function sumUsageByModel(models: unknown): StreamUsage | null {
  const all = Object.values(asJson(models)).map((each) => {
    const { inputTokens, outputTokens, cacheReadInputTokens, cacheCreationInputTokens, costUSD } =
      asJson(each);
    const cached = asNumber(cacheReadInputTokens);
    return {
      input: asNumber(inputTokens) + cached + asNumber(cacheCreationInputTokens),
      cached,
      output: asNumber(outputTokens),
      costUsd: typeof costUSD === 'number' ? costUSD : null,
    };
  });
  return all.length === 0 ? null : sumUsage(all);
}

const negateUsage = ({ input, cached, output }: StreamUsage): StreamUsage => ({
  input: -input,
  cached: -cached,
  output: -output,
  costUsd: null,
});

const sumUsage = (all: readonly StreamUsage[]): StreamUsage =>
  all.reduce((total, each) => ({
    input: total.input + each.input,
    cached: total.cached + each.cached,
    output: total.output + each.output,
    costUsd:
      total.costUsd === null && each.costUsd === null ? null : (total.costUsd ?? 0) + (each.costUsd ?? 0),
  }));
