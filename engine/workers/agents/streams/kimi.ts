import { describeActivity } from './activity.ts';
import { classifyError, createFailure } from './failure.ts';
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

/** Its own error names, at the start of its last output. */
const ERRORS: Record<string, EndCode> = {
  'provider.auth_error': 'auth_failed',
  'provider.rate_limit': 'rate_limited',
  'provider.overloaded': 'rate_limited',
  'provider.filtered': 'refused',
  'provider.api_error': 'model_error',
  'provider.connection_error': 'model_error',
  'auth.login_required': 'auth_failed',
  'auth.token_missing': 'auth_failed',
  'auth.token_unauthorized': 'auth_failed',
  'auth.provisioning_required': 'auth_failed',
  'loop.max_steps_exceeded': 'turn_limit',
  'context.overflow': 'context_exceeded',
};

const STATES: Record<string, PlanEntry['state']> = {
  pending: 'pending',
  in_progress: 'active',
  done: 'done',
};

/** Reads the stream of `--output-format stream-json` of the Kimi command line. It reports no tokens. */
export function createKimiReader(now: () => number = Date.now): StreamReader {
  function readKimiMessage(event: JsonRecord, facts: RunFacts): string | null {
    facts.trouble = null;
    const said = asString(event.content);
    const calls = asJsonList(event.tool_calls).map((call) => {
      const { name, arguments: text } = asJson(call.function);
      const tool = asString(name);
      const given = parseArguments(text);
      facts.toolCalls += 1;
      if (tool === 'TodoList' && Array.isArray(given.todos)) facts.plan = readKimiPlan(given);
      facts.activity = describeActivity(tool, given, '');
      return `→ ${facts.activity}`;
    });
    return [...(said.trim() === '' ? [] : [said]), ...calls].join('\n') || null;
  }

  function readMeta(event: JsonRecord, facts: RunFacts): string | null {
    switch (event.type) {
      case 'session.resume_hint':
        // Its last output, printed only for a completed turn.
        facts.agentSession = asString(event.session_id) || facts.agentSession;
        facts.end = { ok: true };
        return null;
      case 'turn.step.retrying': {
        const status = asNumber(event.status_code) || null;
        const text = asString(event.error_message);
        facts.trouble = createFailure(classifyError(status, text) ?? 'model_error', text, { now: now() });
        const wait = Math.ceil(asNumber(event.delay_ms) / 1000);
        return `! ${toOneLine(text, 200)}, trying again in ${wait} s (${asNumber(event.next_attempt)} of ${asNumber(event.max_attempts)})`;
      }
      default:
        return null;
    }
  }

  return createJsonReader(
    (event, facts) => {
      if (event.role === 'assistant') return readKimiMessage(event, facts);
      if (event.role === 'meta') return readMeta(event, facts);
      return event.role === 'tool' || asString(event.type) !== '' ? null : undefined;
    },
    (text, facts) => {
      const said = /^error: failed to run prompt: (.*)$/.exec(text)?.[1];
      if (said === undefined) return;
      const [, name = '', rest = said] = /^([a-z_]+\.[a-z_]+): ?(.*)$/.exec(said) ?? [];
      const status = Number(/^([45]\d\d)\b/.exec(rest)?.[1]) || null;
      const told =
        ERRORS[name] === undefined || ERRORS[name] === 'model_error'
          ? classifyError(status, rest)
          : ERRORS[name];
      const code = /safety policy blocked/i.test(said) ? 'refused' : (told ?? ERRORS[name] ?? 'agent_error');
      facts.trouble = createFailure(code, rest, { now: now() });
    },
  );
}

/** They are JSON inside a string. */
function parseArguments(text: unknown): JsonRecord {
  try {
    return asJson(JSON.parse(asString(text)));
  } catch {
    return {};
  }
}

const readKimiPlan = ({ todos }: JsonRecord): PlanEntry[] =>
  asJsonList(todos).map(({ title, status }) => ({
    text: toOneLine(asString(title)),
    state: STATES[asString(status)] ?? 'pending',
  }));
