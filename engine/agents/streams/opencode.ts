import { RETRY_MARK } from '../presets/opencode-plugin.ts';
import { activityOf, kindOf } from './activity.ts';
import { createDenials } from './denials.ts';
import { codeOf, type Failure, failure } from './failure.ts';
import {
  createJsonReader,
  type Facts,
  type Json,
  jsonOf,
  jsonsOf,
  numberOf,
  oneLine,
  textOf,
} from './json-lines.ts';
import type { EndCode, PlanEntry, StreamReader } from './stream.ts';

const NAMES: Record<string, EndCode> = {
  ContextOverflowError: 'context_exceeded',
  ProviderAuthError: 'auth_failed',
  MessageOutputLengthError: 'model_error',
  ContentFilterError: 'refused',
  UnknownError: 'agent_error',
};

/** Why its last step ended, where that is an end. A call of a tool is followed by another step. */
const REASONS: Record<string, readonly [code: EndCode, text: string]> = {
  length: ['model_error', 'the answer of the model was cut off at its longest'],
  'content-filter': ['refused', 'the model declined to answer'],
  error: ['model_error', 'the model ended with an error'],
};

const DENIED = /rejected permission|rule which prevents|permission .{0,20}(?:denied|rejected)/i;

const STATES: Record<string, PlanEntry['state']> = { completed: 'done', in_progress: 'active' };

/** A wait that is longer is left: what it waits for is known, and the run can go on then. */
const LONGEST_WAIT_MS = 5 * 60_000;

/** Reads the stream of `opencode run --format json`, and what the plugin of ours says beside it. */
export function createOpencodeReader(now: () => number = Date.now): StreamReader {
  const denials = createDenials();
  /** Of its own denials nothing more comes than the last step's end, without a word why. */
  let isRejected = false;

  function tool(part: Json, facts: Facts): string {
    const state = jsonOf(part.state);
    const name = textOf(part.tool);
    const input = jsonOf(state.input);
    facts.toolCalls += 1;
    facts.activity = activityOf(name, titled(name, input, textOf(state.title)), '');
    if (/^todo_?write$/i.test(name)) facts.plan = planOf(jsonsOf(input.todos));
    if (state.status !== 'error') {
      denials.overcome(kindOf(name));
      isRejected = false;
      return `→ ${facts.activity}`;
    }
    const why = textOf(state.error);
    if (DENIED.test(why)) {
      isRejected = true;
      denials.add(kindOf(name), `it was not allowed to ${facts.activity}: ${why}`);
    }
    return `→ ${facts.activity}\n✗ ${oneLine(why, 200)}`;
  }

  function step(part: Json, facts: Facts): string | null {
    add(part, facts);
    const reason = textOf(part.reason);
    if (reason === 'tool-calls' || reason === '') {
      facts.trouble = null;
      // What is denied to it is its end, and it says no more; where it is told to go on, another step begins.
      if (isRejected) facts.end = denials.left();
      return null;
    }
    const [code, text] = REASONS[reason] ?? [];
    facts.trouble = null;
    facts.end = code !== undefined ? failure(code, text!) : (denials.left() ?? { ok: true });
    return facts.end.ok ? null : `✗ ${facts.end.text}`;
  }

  function errorOf(error: Json): Failure {
    const data = jsonOf(error.data);
    const text = textOf(data.message) || textOf(error.message) || textOf(error.name) || 'it failed';
    const status = numberOf(data.statusCode) || null;
    const body = textOf(data.responseBody).slice(0, 4096);
    const told = codeOf(status, `${text}\n${body}`);
    const named = NAMES[textOf(error.name)];
    // The words of a quota are in the body; of an error without a status the name says more.
    const code = status === null ? (named ?? told) : told;
    const wait = Number(textOf(jsonOf(data.responseHeaders)['retry-after']));
    const isLimit = code === 'rate_limited' || code === 'usage_limit';
    const resetAt = isLimit && wait > 0 ? now() + wait * 1000 : null;
    return failure(code ?? 'agent_error', isLimit && resetAt === null ? `${text} ${body}` : text, {
      ...(resetAt === null ? {} : { resetAt }),
      now: now(),
    });
  }

  /** It would wait without a word, for as long as the answer says. */
  function retry(event: Json, facts: Facts): string {
    const text = textOf(event.message);
    const next = numberOf(event.next);
    const isLong = next > now() + LONGEST_WAIT_MS;
    const told = codeOf(null, text) ?? 'rate_limited';
    const isLimit = told === 'rate_limited' || told === 'model_error';
    const code = isLong && isLimit && !/rate|fast|many/i.test(text) ? 'usage_limit' : told;
    const limit = failure(code, text, { resetAt: next > 0 ? next : null });
    if (isLong) facts.end = limit;
    else facts.trouble = limit;
    const wait = Math.max(0, Math.ceil((next - now()) / 1000));
    return `! ${limit.text}, trying again in ${wait} s (${numberOf(event.attempt)})`;
  }

  function take(event: Json, facts: Facts): string | null | undefined {
    const part = jsonOf(event.part);
    const session = textOf(event.sessionID);
    // A helper of the agent has a session of its own.
    if (session !== '' && facts.agentSession === null) facts.agentSession = session;
    switch (event.type) {
      case RETRY_MARK:
        return retry(event, facts);
      case 'step_start':
        facts.end = null;
        return null;
      case 'text':
        return textOf(part.text).trim() || null;
      case 'reasoning':
        return null;
      case 'tool_use':
        return tool(part, facts);
      case 'step_finish':
        return step(part, facts);
      case 'error':
        facts.end = errorOf(jsonOf(event.error));
        return `✗ ${facts.end.text}`;
      default:
        return session === '' ? undefined : null;
    }
  }

  return createJsonReader(take, (text, facts) => {
    if (/^(?:.\[[\d;]*m)*Error: /.test(text) && facts.end === null) {
      facts.trouble = failure(codeOf(null, text) ?? 'agent_error', text, { now: now() });
    }
  });
}

/** The title of a file's tool is its path as seen from the folder. */
const titled = (name: string, input: Json, title: string): Json =>
  title !== '' && textOf(input.filePath) !== '' && !/\s/.test(title) && name !== 'bash'
    ? { ...input, filePath: title }
    : input;

/** Every step counts what it used itself. */
function add({ tokens, cost }: Json, facts: Facts): void {
  const { input, output, reasoning, cache } = jsonOf(tokens);
  const read = numberOf(jsonOf(cache).read);
  const before = facts.usage ?? { input: 0, cached: 0, output: 0, costUsd: null };
  const price = (before.costUsd ?? 0) + numberOf(cost);
  facts.usage = {
    input: before.input + numberOf(input) + read + numberOf(jsonOf(cache).write),
    cached: before.cached + read,
    output: before.output + numberOf(output) + numberOf(reasoning),
    // A model of which it knows no price costs 0.
    costUsd: price > 0 ? price : null,
  };
}

const planOf = (todos: readonly Json[]): PlanEntry[] =>
  todos
    .filter(({ status }) => status !== 'cancelled')
    .map(({ content, status }) => ({
      text: oneLine(textOf(content)),
      state: STATES[textOf(status)] ?? 'pending',
    }));
