import { classifyTool, describeActivity } from './activity.ts';
import { createDenials } from './denials.ts';
import { classifyError, createFailure, type StreamFailure } from './failure.ts';
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
import type { EndCode, PlanEntry, StreamReader } from './stream.ts';

/** Type of our plugin's line that reports that opencode waits for its model. */
export const RETRY_MARK = 'svc.retry';

const NAMES: Record<string, EndCode> = {
  ContextOverflowError: 'context_exceeded',
  ProviderAuthError: 'auth_failed',
  MessageOutputLengthError: 'model_error',
  ContentFilterError: 'refused',
  UnknownError: 'agent_error',
};

/** Final reasons of its last step. A tool call is followed by another step. */
const REASONS: Record<string, readonly [code: EndCode, text: string]> = {
  length: ['model_error', 'the answer of the model was cut off at its maximum length'],
  'content-filter': ['refused', 'the model refused to answer'],
  error: ['model_error', 'the model ended with an error'],
};

const DENIED = /rejected permission|rule which prevents|permission .{0,20}(?:denied|rejected)/i;

const STATES: Record<string, PlanEntry['state']> = { completed: 'done', in_progress: 'active' };

/** A longer wait is abandoned: the limit is known, and the run can resume afterwards. */
const LONGEST_WAIT_MS = 5 * 60_000;

/** Reads the stream of `opencode run --format json`, and the lines of our plugin. */
export function createOpencodeReader(now: () => number = Date.now): StreamReader {
  const denials = createDenials();
  /** After its own denials only the last step's end follows, without a reason. */
  let isRejected = false;

  function readTool(part: JsonRecord, facts: RunFacts): string {
    const state = asJson(part.state);
    const name = asString(part.tool);
    const input = asJson(state.input);
    facts.toolCalls += 1;
    facts.activity = describeActivity(name, describeTitle(name, input, asString(state.title)), '');
    if (/^todo_?write$/i.test(name)) facts.plan = readOpencodePlan(asJsonList(input.todos));
    if (state.status !== 'error') {
      denials.clearKind(classifyTool(name));
      isRejected = false;
      return `→ ${facts.activity}`;
    }
    const why = asString(state.error);
    if (DENIED.test(why)) {
      isRejected = true;
      denials.addDenial(classifyTool(name), `it was not allowed to ${facts.activity}: ${why}`);
    }
    return `→ ${facts.activity}\n✗ ${toOneLine(why, 200)}`;
  }

  function readStep(part: JsonRecord, facts: RunFacts): string | null {
    addUsage(part, facts);
    const reason = asString(part.reason);
    if (reason === 'tool-calls' || reason === '') {
      facts.trouble = null;
      // A denial ends it without further output; if it continues, another step starts.
      if (isRejected) facts.end = denials.findUncleared();
      return null;
    }
    const [code, text] = REASONS[reason] ?? [];
    facts.trouble = null;
    facts.end = code !== undefined ? createFailure(code, text!) : (denials.findUncleared() ?? { ok: true });
    return facts.end.ok ? null : `✗ ${facts.end.text}`;
  }

  /** It would wait silently, as long as the answer requests. */
  function readRetry(event: JsonRecord, facts: RunFacts): string {
    const text = asString(event.message);
    const next = asNumber(event.next);
    const isLong = next > now() + LONGEST_WAIT_MS;
    const told = classifyError(null, text) ?? 'rate_limited';
    const isLimit = told === 'rate_limited' || told === 'model_error';
    const code = isLong && isLimit && !/rate|fast|many/i.test(text) ? 'usage_limit' : told;
    const limit = createFailure(code, text, { resetAt: next > 0 ? next : null });
    if (isLong) facts.end = limit;
    else facts.trouble = limit;
    const wait = Math.max(0, Math.ceil((next - now()) / 1000));
    return `! ${limit.text}, trying again in ${wait} s (${asNumber(event.attempt)})`;
  }

  function readOpencodeEvent(event: JsonRecord, facts: RunFacts): string | null | undefined {
    const part = asJson(event.part);
    const session = asString(event.sessionID);
    // A subagent has a separate session.
    if (session !== '' && facts.agentSession === null) facts.agentSession = session;
    switch (event.type) {
      case RETRY_MARK:
        return readRetry(event, facts);
      case 'step_start':
        facts.end = null;
        return null;
      case 'text':
        return asString(part.text).trim() || null;
      case 'reasoning':
        return null;
      case 'tool_use':
        return readTool(part, facts);
      case 'step_finish':
        return readStep(part, facts);
      case 'error':
        facts.end = judgeOpencodeError(asJson(event.error), now());
        return `✗ ${facts.end.text}`;
      default:
        return session === '' ? undefined : null;
    }
  }

  return createJsonReader(readOpencodeEvent, (text, facts) => {
    if (/^(?:.\[[\d;]*m)*Error: /.test(text) && facts.end === null) {
      facts.trouble = createFailure(classifyError(null, text) ?? 'agent_error', text, { now: now() });
    }
  });
}

/** The title of a file's tool is its path relative to the folder. */
const describeTitle = (name: string, input: JsonRecord, title: string): JsonRecord =>
  title !== '' && asString(input.filePath) !== '' && !/\s/.test(title) && name !== 'bash'
    ? { ...input, filePath: title }
    : input;

/** Every step reports its own usage. */
function addUsage({ tokens, cost }: JsonRecord, facts: RunFacts): void {
  const { input, output, reasoning, cache } = asJson(tokens);
  const read = asNumber(asJson(cache).read);
  const before = facts.usage ?? { input: 0, cached: 0, output: 0, costUsd: null };
  const price = (before.costUsd ?? 0) + asNumber(cost);
  facts.usage = {
    input: before.input + asNumber(input) + read + asNumber(asJson(cache).write),
    cached: before.cached + read,
    output: before.output + asNumber(output) + asNumber(reasoning),
    // A model without a known price costs 0.
    costUsd: price > 0 ? price : null,
  };
}

const readOpencodePlan = (todos: readonly JsonRecord[]): PlanEntry[] =>
  todos
    .filter(({ status }) => status !== 'cancelled')
    .map(({ content, status }) => ({
      text: toOneLine(asString(content)),
      state: STATES[asString(status)] ?? 'pending',
    }));

function judgeOpencodeError(error: JsonRecord, now: number): StreamFailure {
  const data = asJson(error.data);
  const text = asString(data.message) || asString(error.message) || asString(error.name) || 'it failed';
  const status = asNumber(data.statusCode) || null;
  const body = asString(data.responseBody).slice(0, 4096);
  const told = classifyError(status, `${text}\n${body}`);
  const named = NAMES[asString(error.name)];
  // The message of a quota is in the body; without a status the error's name is more specific.
  const code = status === null ? (named ?? told) : told;
  const wait = Number(asString(asJson(data.responseHeaders)['retry-after']));
  const isLimit = code === 'rate_limited' || code === 'usage_limit';
  const resetAt = isLimit && wait > 0 ? now + wait * 1000 : null;
  return createFailure(code ?? 'agent_error', isLimit && resetAt === null ? `${text} ${body}` : text, {
    ...(resetAt === null ? {} : { resetAt }),
    now,
  });
}
