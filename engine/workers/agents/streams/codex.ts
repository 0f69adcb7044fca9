import { createItemReader } from './codex-items.ts';
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
import type { EndCode, StreamReader } from './stream.ts';

/** Codex's own sentences that are more specific than a status. */
const SENTENCES: readonly (readonly [RegExp, EndCode])[] = [
  [/^Quota exceeded|out of credits|upgrade to Plus|hit your usage limit/i, 'usage_limit'],
  [/spend cap|session budget exceeded/i, 'budget_exceeded'],
  [/at capacity|capacity is unavailable/i, 'rate_limited'],
  [/high demand/i, 'model_error'],
  [/flagged for|content[_ ](?:filter|policy)|misalignment policy|for safety reasons/i, 'refused'],
  [/refresh token|log ?in again|Missing environment variable/i, 'auth_failed'],
  [/^(?:stream disconnected|Connection failed|Error while reading)|error sending request/i, 'model_error'],
];

/** Printed outside the stream, about a patch or a command that its sandbox or its policy blocked. */
const REJECTED = /error=((patch)?.*\brejected by user.*|.*\bapproval policy\b.*)/;
/** Reads the stream of `codex exec --json`. */
export function createCodexReader(now: () => number = Date.now): StreamReader {
  const denials = createDenials();
  const readItem = createItemReader(denials);

  function judgeError(text: string): StreamFailure {
    const said = asString(asJson(asJson(parseBody(text)).error).message) || text;
    const [, code] = SENTENCES.find(([words]) => words.test(said)) ?? [];
    return createFailure(code ?? classifyError(findHttpStatus(text), text) ?? 'model_error', said, {
      now: now(),
    });
  }

  function readCodexEvent(event: JsonRecord, facts: RunFacts): string | null | undefined {
    const type = asString(event.type);
    if (type.startsWith('item.')) return readItem(type, asJson(event.item), facts);
    switch (type) {
      case 'thread.started':
        facts.agentSession = asString(event.thread_id) || facts.agentSession;
        return null;
      case 'turn.started':
        facts.end = null;
        return null;
      case 'turn.completed': {
        // Totals of all turns of the session, including earlier runs: never added up.
        const usage = asJson(event.usage);
        facts.conversation = {
          input: asNumber(usage.input_tokens),
          cached: asNumber(usage.cached_input_tokens),
          output: asNumber(usage.output_tokens),
          costUsd: null,
        };
        facts.trouble = null;
        facts.end = denials.findUncleared() ?? { ok: true };
        return facts.end.ok ? null : `✗ ${facts.end.text}`;
      }
      case 'turn.failed':
        facts.end = judgeError(asString(asJson(event.error).message) || 'it failed without giving a reason');
        return `✗ ${facts.end.text}`;
      case 'error': {
        const text = asString(event.message);
        const [, why] = /^Reconnecting\.\.\. \S+ \(([\s\S]*)\)$/.exec(text) ?? [];
        facts.trouble = judgeError(why ?? text);
        // If it is not retried, the same sentence follows as the end of the turn.
        return why === undefined ? null : `! ${toOneLine(text, 200)}`;
      }
      default:
        return /^(?:thread|turn)\.|^request_user_input$/.test(type) ? null : undefined;
    }
  }

  return createJsonReader(readCodexEvent, (text, facts) => {
    const [, why, patch] = REJECTED.exec(text) ?? [];
    if (why !== undefined)
      denials.addDenial(patch === undefined ? 'run' : 'edit', `it was not allowed to: ${why}`);
    else if (/^(?:Error: |Missing environment variable)/.test(text)) {
      // It failed before its stream began.
      const [, code] = SENTENCES.find(([words]) => words.test(text)) ?? [];
      facts.trouble = createFailure(
        code ?? classifyError(findHttpStatus(text), text) ?? 'agent_error',
        text,
        { now: now() },
      );
    }
  });
}

/** Some errors are the response body. */
function parseBody(text: string): unknown {
  try {
    return text.startsWith('{') ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}
