import { classifyTool, describeActivity } from './activity.ts';
import { createDenials } from './denials.ts';
import { classifyError, createFailure, findHttpStatus, type StreamFailure } from './failure.ts';
import {
  asJson,
  asNumber,
  asString,
  createJsonReader,
  type JsonRecord,
  type RunFacts,
  toOneLine,
} from './json-lines.ts';
import { createRecent } from './recent.ts';
import type { EndCode, StreamReader } from './stream.ts';

/** Its kinds of failures. `query` is any unclassified answer of a model. */
const KINDS: Record<string, EndCode> = {
  authentication: 'auth_failed',
  authorization: 'auth_failed',
  quota: 'usage_limit',
  rate_limit: 'rate_limited',
  context_limit: 'context_exceeded',
  policy: 'refused',
};

/** Some limits of its service are weekly or plan limits. */
const USED_UP = /weekly|monthly|quota|insufficient|additional spend/i;

/** Reads the stream of `copilot --output-format json`. It reports no tokens. */
export function createCopilotReader(now: () => number = Date.now): StreamReader {
  const kinds = createRecent<{ kind: string; activity: string }>();
  const denials = createDenials();
  let error: StreamFailure | null = null;
  /** The model's last answer, which its own sentence leaves out. */
  let answer = '';

  function readStart(data: JsonRecord, facts: RunFacts): string {
    const name = asString(data.toolName);
    facts.toolCalls += 1;
    facts.activity = describeActivity(nameTool(name), asJson(data.arguments), '');
    kinds.set(asString(data.toolCallId), { kind: classifyTool(nameTool(name)), activity: facts.activity });
    return `→ ${facts.activity}`;
  }

  function readCompletion(data: JsonRecord): string | null {
    const { kind, activity } = kinds.get(asString(data.toolCallId)) ?? { kind: '', activity: 'use a tool' };
    if (data.success === true) {
      denials.clearKind(kind);
      return null;
    }
    const { message, code } = asJson(data.error);
    const why = asString(message);
    // A refusal by our own hook is not a missing permission.
    if (code === 'denied' && !/hook/i.test(why))
      denials.addDenial(kind, `it was not allowed to ${activity}: ${why}`);
    return `✗ ${toOneLine(why, 200)}`;
  }

  function readResult(event: JsonRecord, facts: RunFacts): string | null {
    facts.agentSession = asString(event.sessionId) || facts.agentSession;
    if (event.exitCode === 0) {
      facts.trouble = null;
      facts.end = denials.findUncleared() ?? { ok: true };
    } else {
      facts.end = error ?? createFailure('agent_error', `it ended with exit code ${event.exitCode ?? '?'}`);
    }
    return facts.end.ok ? null : `✗ ${facts.end.text}`;
  }

  function readCopilotEvent(event: JsonRecord, facts: RunFacts): string | null | undefined {
    const data = asJson(event.data);
    const type = asString(event.type);
    switch (type) {
      case 'session.start':
      case 'session.resume':
        facts.agentSession = asString(data.sessionId) || facts.agentSession;
        return null;
      case 'model.call_start':
        facts.model = asString(data.model) || facts.model;
        return null;
      case 'model.call_failure':
        answer = asString(data.errorMessage);
        facts.trouble = judgeCopilotError(
          { ...data, message: asString(asJson(parseOrNull(answer)).message), errorType: '' },
          answer,
          now(),
        );
        return null;
      case 'assistant.message':
        facts.trouble = null;
        error = null;
        return asString(data.content).trim() || null;
      case 'tool.execution_start':
        return readStart(data, facts);
      case 'tool.execution_complete':
        return readCompletion(data);
      case 'session.info':
        return data.infoType === 'model_retry' ? `! ${toOneLine(asString(data.message), 200)}` : null;
      case 'session.warning':
        return `! ${toOneLine(asString(data.message), 200)}`;
      case 'session.error':
        error = judgeCopilotError(data, answer, now());
        facts.trouble = error;
        // It is reported at the end.
        return null;
      case 'result':
        return readResult(event, facts);
      default:
        return /^(?:session|assistant|user|model|tool|permission|subagent|hook|system|abort|mcp)\b/.test(type)
          ? null
          : undefined;
    }
  }

  return createJsonReader(readCopilotEvent, (text, facts) => {
    if (/^(?:Error: |error: |No authentication)/.test(text)) {
      facts.trouble = createFailure(classifyError(null, text) ?? 'agent_error', text, { now: now() });
    }
  });
}

function judgeCopilotError(data: JsonRecord, answer: string, now: number): StreamFailure {
  const text = asString(data.message) || asString(data.errorMessage) || 'it failed without giving a reason';
  const all = `${text} ${asString(data.errorCode)} ${answer}`;
  const status = asNumber(data.statusCode) || findHttpStatus(text);
  const kind = KINDS[asString(data.errorType)];
  const isUsedUp = (kind === undefined || kind === 'rate_limited') && USED_UP.test(asString(data.errorCode));
  const told = classifyError(status, all);
  const code =
    isUsedUp || (kind === 'rate_limited' && told === 'usage_limit')
      ? 'usage_limit'
      : /prompt budget/.test(text)
        ? 'context_exceeded'
        : (kind ?? told ?? 'agent_error');
  const found = createFailure(code, text, { now });
  return found.resetAt !== null ? found : { ...found, resetAt: createFailure(code, all, { now }).resetAt };
}

/** Its name of the tool that writes a new file. */
const nameTool = (tool: string): string => (tool === 'create' ? 'write' : tool);

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
