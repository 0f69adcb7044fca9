import { activityOf, kindOf } from './activity.ts';
import { createDenials } from './denials.ts';
import { codeOf, type Failure, failure, statusIn } from './failure.ts';
import { createJsonReader, type Facts, type Json, jsonOf, numberOf, oneLine, textOf } from './json-lines.ts';
import { createRecent } from './recent.ts';
import type { EndCode, StreamReader } from './stream.ts';

/** Its kinds of failures. `query` is any answer of a model that it has no kind for. */
const KINDS: Record<string, EndCode> = {
  authentication: 'auth_failed',
  authorization: 'auth_failed',
  quota: 'usage_limit',
  rate_limit: 'rate_limited',
  context_limit: 'context_exceeded',
  policy: 'refused',
};

/** Some limits of its service are those of a week or a plan. */
const USED_UP = /weekly|monthly|quota|insufficient|additional spend/i;

/** Reads the stream of `copilot --output-format json`. It tells of no tokens. */
export function createCopilotReader(now: () => number = Date.now): StreamReader {
  const kinds = createRecent<{ kind: string; activity: string }>();
  const denials = createDenials();
  let error: Failure | null = null;
  /** What the model answered last, which its own sentence leaves out. */
  let answer = '';

  function failed(data: Json): Failure {
    const text = textOf(data.message) || textOf(data.errorMessage) || 'it failed and did not say why';
    const all = `${text} ${textOf(data.errorCode)} ${answer}`;
    const status = numberOf(data.statusCode) || statusIn(text);
    const kind = KINDS[textOf(data.errorType)];
    const isUsedUp = (kind === undefined || kind === 'rate_limited') && USED_UP.test(textOf(data.errorCode));
    const told = codeOf(status, all);
    const code =
      isUsedUp || (kind === 'rate_limited' && told === 'usage_limit')
        ? 'usage_limit'
        : /prompt budget/.test(text)
          ? 'context_exceeded'
          : (kind ?? told ?? 'agent_error');
    const found = failure(code, text, { now: now() });
    return found.resetAt !== null ? found : { ...found, resetAt: failure(code, all, { now: now() }).resetAt };
  }

  function started(data: Json, facts: Facts): string {
    const name = textOf(data.toolName);
    facts.toolCalls += 1;
    facts.activity = activityOf(named(name), jsonOf(data.arguments), '');
    kinds.set(textOf(data.toolCallId), { kind: kindOf(named(name)), activity: facts.activity });
    return `→ ${facts.activity}`;
  }

  function completed(data: Json): string | null {
    const { kind, activity } = kinds.get(textOf(data.toolCallId)) ?? { kind: '', activity: 'use a tool' };
    if (data.success === true) {
      denials.overcome(kind);
      return null;
    }
    const { message, code } = jsonOf(data.error);
    const why = textOf(message);
    // A command of ours that says no is no lack of permission.
    if (code === 'denied' && !/hook/i.test(why))
      denials.add(kind, `it was not allowed to ${activity}: ${why}`);
    return `✗ ${oneLine(why, 200)}`;
  }

  function ended(event: Json, facts: Facts): string | null {
    facts.agentSession = textOf(event.sessionId) || facts.agentSession;
    if (event.exitCode === 0) {
      facts.trouble = null;
      facts.end = denials.left() ?? { ok: true };
    } else {
      facts.end = error ?? failure('agent_error', `it ended with exit code ${event.exitCode ?? '?'}`);
    }
    return facts.end.ok ? null : `✗ ${facts.end.text}`;
  }

  function take(event: Json, facts: Facts): string | null | undefined {
    const data = jsonOf(event.data);
    const type = textOf(event.type);
    switch (type) {
      case 'session.start':
      case 'session.resume':
        facts.agentSession = textOf(data.sessionId) || facts.agentSession;
        return null;
      case 'model.call_start':
        facts.model = textOf(data.model) || facts.model;
        return null;
      case 'model.call_failure':
        answer = textOf(data.errorMessage);
        facts.trouble = failed({ ...data, message: textOf(jsonOf(parsed(answer)).message), errorType: '' });
        return null;
      case 'assistant.message':
        facts.trouble = null;
        error = null;
        return textOf(data.content).trim() || null;
      case 'tool.execution_start':
        return started(data, facts);
      case 'tool.execution_complete':
        return completed(data);
      case 'session.info':
        return data.infoType === 'model_retry' ? `! ${oneLine(textOf(data.message), 200)}` : null;
      case 'session.warning':
        return `! ${oneLine(textOf(data.message), 200)}`;
      case 'session.error':
        error = failed(data);
        facts.trouble = error;
        // It is said at the end.
        return null;
      case 'result':
        return ended(event, facts);
      default:
        return /^(?:session|assistant|user|model|tool|permission|subagent|hook|system|abort|mcp)\b/.test(type)
          ? null
          : undefined;
    }
  }

  return createJsonReader(take, (text, facts) => {
    if (/^(?:Error: |error: |No authentication)/.test(text)) {
      facts.trouble = failure(codeOf(null, text) ?? 'agent_error', text, { now: now() });
    }
  });
}

/** Its name of the tool that writes a new file. */
const named = (tool: string): string => (tool === 'create' ? 'write' : tool);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
