import { activityOf, kindOf } from './activity.ts';
import { codeOf, failure } from './failure.ts';
import { createJsonReader, type Facts, type Json, jsonOf, oneLine, textOf } from './json-lines.ts';
import type { StreamReader } from './stream.ts';

/**
 * Reads the stream of `droid exec --output-format stream-json`. From its documentation: what was run of it is its refusal
 * to begin without a key of its service.
 */
export function createDroidReader(now: () => number = Date.now): StreamReader {
  const failed = (text: string) => failure(codeOf(null, text) ?? 'agent_error', text, { now: now() });

  function ended(event: Json, facts: Facts): string | null {
    const text = textOf(event.finalText) || textOf(event.result);
    const isFailed =
      event.is_error === true || event.isError === true || /^error/.test(textOf(event.subtype));
    facts.end = isFailed ? failed(text || 'it ended with an error') : { ok: true };
    return facts.end.ok ? null : `✗ ${facts.end.text}`;
  }

  function take(event: Json, facts: Facts): string | null | undefined {
    facts.agentSession = textOf(event.session_id) || textOf(event.sessionId) || facts.agentSession;
    switch (event.type) {
      case 'system':
        facts.model = textOf(event.model) || facts.model;
        return null;
      case 'message':
        return event.role === 'assistant' ? textOf(event.text).trim() || null : null;
      case 'tool_call':
        facts.toolCalls += 1;
        facts.activity = activityOf(kindOf(textOf(event.toolName)), jsonOf(event.parameters), '');
        return `→ ${facts.activity}`;
      case 'tool_result': {
        const error = jsonOf(event.error);
        const why = textOf(event.value) || textOf(error.message) || textOf(event.error);
        return event.isError === true ? `✗ ${oneLine(why, 200)}` : null;
      }
      case 'completion':
      case 'result':
        return ended(event, facts);
      case 'error': {
        const text = textOf(event.message) || textOf(jsonOf(event.error).message) || 'it failed';
        facts.trouble = failed(text);
        return `✗ ${facts.trouble.text}`;
      }
      default:
        return typeof event.type === 'string' ? null : undefined;
    }
  }

  return createJsonReader(take, (text, facts) => {
    if (/authentication|FACTORY_API_KEY|not logged in/i.test(text)) {
      facts.trouble = failure('auth_failed', text);
    }
  });
}
