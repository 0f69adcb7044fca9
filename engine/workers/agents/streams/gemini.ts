import { describeActivity } from './activity.ts';
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
import { createRecent, cutToKeep } from './recent.ts';
import type { EndCode, StreamReader, StreamUsage } from './stream.ts';

/** Plain lines that it prints if it ends before or during its stream. */
const PLAIN: readonly (readonly [RegExp, EndCode])[] = [
  [/^Please set an Auth method|^(?:Authentication|Auth) (?:failed|error)/i, 'auth_failed'],
  [/^Reached max session turns/i, 'turn_limit'],
  // The second line of a failed attempt.
  [/^Suggested retry after /, 'rate_limited'],
];

/** Phrases of Gemini's guards, which end an unfinished run. */
const STOPS: readonly (readonly [RegExp, EndCode])[] = [
  [/^Loop detected/i, 'turn_limit'],
  [/max(?:imum)? session turns/i, 'turn_limit'],
];

/** Reads the stream of `--output-format stream-json` of the Gemini command line. */
export function createGeminiReader(now: () => number = Date.now): StreamReader {
  /** Tools denied by its own policies, by name, until another call of the tool succeeds. */
  const denied = createRecent<string>();
  const names = createRecent<string>();
  let isModelKnown = false;
  /** Its warnings after which it still ends normally. */
  let stopped: StreamFailure | null = null;
  /** Its last failure, which it prints outside the stream. */
  let status: number | null = null;

  const readTime = (event: JsonRecord): number => Date.parse(asString(event.timestamp)) || now();

  function readResult(event: JsonRecord, facts: RunFacts): string | null {
    const stats = asJson(event.stats);
    facts.usage = readGeminiUsage(stats) ?? facts.usage;
    if (event.status === 'success') {
      const [tool] = denied.values();
      facts.end =
        stopped ??
        (tool === undefined
          ? { ok: true }
          : createFailure('permission_denied', `it was not allowed to use ${tool}`));
    } else {
      facts.end = judgeGeminiEnd(asJson(event.error), status, readTime(event));
    }
    return facts.end.ok ? null : `✗ ${facts.end.text}`;
  }

  return createJsonReader(
    (event, facts) => {
      switch (event.type) {
        case 'init':
          facts.agentSession = asString(event.session_id) || facts.agentSession;
          facts.model = asString(event.model) || facts.model;
          isModelKnown = facts.model !== 'auto';
          return null;
        case 'message': {
          if (event.role !== 'assistant') return null;
          facts.trouble = null;
          status = null;
          return asString(event.content) || null;
        }
        case 'tool_use': {
          const name = cutToKeep(asString(event.tool_name));
          names.set(asString(event.tool_id), name);
          facts.trouble = null;
          facts.toolCalls += 1;
          facts.activity = describeActivity(name, asJson(event.parameters), '');
          return `→ ${facts.activity}`;
        }
        case 'tool_result': {
          const name = names.get(asString(event.tool_id)) ?? 'a tool';
          if (event.status !== 'error') {
            denied.delete(name);
            return null;
          }
          const error = asJson(event.error);
          const text = asString(error.message) || asString(event.output);
          // Calls blocked by its own policies are "denied", calls blocked by our command are "blocked" and of the same type.
          if (/^(?!.*\bblocked:).*\bdenied\b/i.test(text)) denied.set(name, name);
          return `✗ ${toOneLine(text, 200)}`;
        }
        case 'error': {
          const text = describeError(asString(event.message));
          const [, why] = STOPS.find(([words]) => words.test(text)) ?? [];
          if (why !== undefined) stopped = createFailure(why, text);
          if (event.severity === 'error') {
            facts.trouble = createFailure(classifyError(findHttpStatus(text), text) ?? 'agent_error', text, {
              now: readTime(event),
            });
          }
          return `! ${toOneLine(text, 200)}`;
        }
        case 'result': {
          const models = Object.keys(asJson(asJson(event.stats).models));
          if (!isModelKnown && models.length > 0) facts.model = models.at(-1) ?? facts.model;
          return readResult(event, facts);
        }
        default:
          return typeof event.type === 'string' ? null : undefined;
      }
    },
    (text, facts) => {
      const [, code] = PLAIN.find(([words]) => words.test(text)) ?? [];
      const printed = /^ {2}status: (\d{3}),?$/.exec(text)?.[1];
      if (printed !== undefined) status = Number(printed);
      if (code !== undefined) facts.trouble = createFailure(code, text, { now: now() });
      else if (/^Attempt \d+ failed/.test(text)) {
        status = findHttpStatus(text) ?? status;
        facts.trouble = createFailure(classifyError(status, text) ?? 'model_error', text, { now: now() });
      }
    },
  );
}

/** Sums over all its models. */
function readGeminiUsage(stats: JsonRecord): StreamUsage | null {
  if (typeof stats.input_tokens !== 'number') return null;
  return {
    input: stats.input_tokens,
    cached: asNumber(stats.cached),
    output: asNumber(stats.output_tokens),
    costUsd: null,
  };
}

/** Parses an API error inside a message: `[API Error: {"error":{…}}]`. */
function parseInnerError(text: string): JsonRecord {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  try {
    return start < 0 || end < start ? {} : asJson(asJson(JSON.parse(text.slice(start, end + 1))).error);
  } catch {
    return {};
  }
}

const findGeminiStatus = (text: string): number | null =>
  asNumber(parseInnerError(text).code) || findHttpStatus(text);

function describeError(text: string): string {
  const { code, message, status } = parseInnerError(text);
  return typeof message === 'string'
    ? `${asNumber(code) || ''} ${asString(status)}: ${message}`.trim()
    : text;
}

/** @param status of its last failure, which it prints outside the stream */
function judgeGeminiEnd(error: JsonRecord, status: number | null, now: number): StreamFailure {
  const text = describeError(asString(error.message)) || asString(error.type) || 'it ended with an error';
  const kind = asString(error.type);
  const told = findGeminiStatus(asString(error.message)) ?? status;
  const code = /turn/i.test(kind) ? 'turn_limit' : classifyError(told, text);
  const isApi = /API Error/.test(asString(error.message));
  return createFailure(code ?? (isApi ? 'model_error' : 'agent_error'), text, {
    now,
  });
}
