import { classifyTool, describeActivity } from './activity.ts';
import { classifyError, createFailure } from './failure.ts';
import {
  asJson,
  asString,
  createJsonReader,
  type JsonRecord,
  type RunFacts,
  toOneLine,
} from './json-lines.ts';
import type { StreamReader } from './stream.ts';

/**
 * Reads the stream of `droid exec --output-format stream-json`. From its documentation: only its refusal to start
 * without a key of its service was tested.
 */
export function createDroidReader(now: () => number = Date.now): StreamReader {
  const judgeError = (text: string) =>
    createFailure(classifyError(null, text) ?? 'agent_error', text, { now: now() });

  function readEnd(event: JsonRecord, facts: RunFacts): string | null {
    const text = asString(event.finalText) || asString(event.result);
    const isFailed =
      event.is_error === true || event.isError === true || /^error/.test(asString(event.subtype));
    facts.end = isFailed ? judgeError(text || 'it ended with an error') : { ok: true };
    return facts.end.ok ? null : `✗ ${facts.end.text}`;
  }

  function readDroidEvent(event: JsonRecord, facts: RunFacts): string | null | undefined {
    facts.agentSession = asString(event.session_id) || asString(event.sessionId) || facts.agentSession;
    switch (event.type) {
      case 'system':
        facts.model = asString(event.model) || facts.model;
        return null;
      case 'message':
        return event.role === 'assistant' ? asString(event.text).trim() || null : null;
      case 'tool_call':
        facts.toolCalls += 1;
        facts.activity = describeActivity(
          classifyTool(asString(event.toolName)),
          asJson(event.parameters),
          '',
        );
        return `→ ${facts.activity}`;
      case 'tool_result': {
        const error = asJson(event.error);
        const why = asString(event.value) || asString(error.message) || asString(event.error);
        return event.isError === true ? `✗ ${toOneLine(why, 200)}` : null;
      }
      case 'completion':
      case 'result':
        return readEnd(event, facts);
      case 'error': {
        const text = asString(event.message) || asString(asJson(event.error).message) || 'it failed';
        facts.trouble = judgeError(text);
        return `✗ ${facts.trouble.text}`;
      }
      default:
        return typeof event.type === 'string' ? null : undefined;
    }
  }

  return createJsonReader(readDroidEvent, (text, facts) => {
    if (/authentication|FACTORY_API_KEY|not logged in/i.test(text)) {
      facts.trouble = createFailure('auth_failed', text);
    }
  });
}
