import { activityOf } from './activity.ts';
import { codeOf, type Failure, failure, statusIn } from './failure.ts';
import { createJsonReader, type Facts, type Json, jsonOf, numberOf, oneLine, textOf } from './json-lines.ts';
import { createRecent, keptText } from './recent.ts';
import type { EndCode, StreamReader, Usage } from './stream.ts';

/** What it prints as a plain line when it ends before its stream begins, or in the middle of it. */
const PLAIN: readonly (readonly [RegExp, EndCode])[] = [
  [/^Please set an Auth method|^(?:Authentication|Auth) (?:failed|error)/i, 'auth_failed'],
  [/^Reached max session turns/i, 'turn_limit'],
  // The second line of an attempt that failed.
  [/^Suggested retry after /, 'rate_limited'],
];

/** Said of its own guards, which end a run that is not done. */
const STOPS: readonly (readonly [RegExp, EndCode])[] = [
  [/^Loop detected/i, 'turn_limit'],
  [/max(?:imum)? session turns/i, 'turn_limit'],
];

/** Reads the stream of `--output-format stream-json` of the Gemini command line. */
export function createGeminiReader(now: () => number = Date.now): StreamReader {
  /** Denied by its own policies; by a tool's name, until another call of it went well. */
  const denied = createRecent<string>();
  const names = createRecent<string>();
  let isModelKnown = false;
  /** What it calls a warning, and ends with in good order all the same. */
  let stopped: Failure | null = null;
  /** Of its last failure, which it prints beside the stream. */
  let status: number | null = null;

  const timeOf = (event: Json): number => Date.parse(textOf(event.timestamp)) || now();

  function result(event: Json, facts: Facts): string | null {
    const stats = jsonOf(event.stats);
    facts.usage = usageOf(stats) ?? facts.usage;
    if (event.status === 'success') {
      const [tool] = denied.values();
      facts.end =
        stopped ??
        (tool === undefined
          ? { ok: true }
          : failure('permission_denied', `it was not allowed to use ${tool}`));
    } else {
      const error = jsonOf(event.error);
      const text = wordsOf(textOf(error.message)) || textOf(error.type) || 'it ended with an error';
      const kind = textOf(error.type);
      const told = statusOf(textOf(error.message)) ?? status;
      const code = /turn/i.test(kind) ? 'turn_limit' : codeOf(told, text);
      const isApi = /API Error/.test(textOf(error.message));
      facts.end = failure(code ?? (isApi ? 'model_error' : 'agent_error'), text, { now: timeOf(event) });
    }
    return facts.end.ok ? null : `✗ ${facts.end.text}`;
  }

  return createJsonReader(
    (event, facts) => {
      switch (event.type) {
        case 'init':
          facts.agentSession = textOf(event.session_id) || facts.agentSession;
          facts.model = textOf(event.model) || facts.model;
          isModelKnown = facts.model !== 'auto';
          return null;
        case 'message': {
          if (event.role !== 'assistant') return null;
          facts.trouble = null;
          status = null;
          return textOf(event.content) || null;
        }
        case 'tool_use': {
          const name = keptText(textOf(event.tool_name));
          names.set(textOf(event.tool_id), name);
          facts.trouble = null;
          facts.toolCalls += 1;
          facts.activity = activityOf(name, jsonOf(event.parameters), '');
          return `→ ${facts.activity}`;
        }
        case 'tool_result': {
          const name = names.get(textOf(event.tool_id)) ?? 'a tool';
          if (event.status !== 'error') {
            denied.delete(name);
            return null;
          }
          const error = jsonOf(event.error);
          const text = textOf(error.message) || textOf(event.output);
          // What its own policies stop is "denied", what a command of ours stops is "blocked" and of the same type.
          if (/^(?!.*\bblocked:).*\bdenied\b/i.test(text)) denied.set(name, name);
          return `✗ ${oneLine(text, 200)}`;
        }
        case 'error': {
          const text = wordsOf(textOf(event.message));
          const [, why] = STOPS.find(([words]) => words.test(text)) ?? [];
          if (why !== undefined) stopped = failure(why, text);
          if (event.severity === 'error') {
            facts.trouble = failure(codeOf(statusIn(text), text) ?? 'agent_error', text, {
              now: timeOf(event),
            });
          }
          return `! ${oneLine(text, 200)}`;
        }
        case 'result': {
          const models = Object.keys(jsonOf(jsonOf(event.stats).models));
          if (!isModelKnown && models.length > 0) facts.model = models.at(-1) ?? facts.model;
          return result(event, facts);
        }
        default:
          return typeof event.type === 'string' ? null : undefined;
      }
    },
    (text, facts) => {
      const [, code] = PLAIN.find(([words]) => words.test(text)) ?? [];
      const printed = /^ {2}status: (\d{3}),?$/.exec(text)?.[1];
      if (printed !== undefined) status = Number(printed);
      if (code !== undefined) facts.trouble = failure(code, text, { now: now() });
      else if (/^Attempt \d+ failed/.test(text)) {
        status = statusIn(text) ?? status;
        facts.trouble = failure(codeOf(status, text) ?? 'model_error', text, { now: now() });
      }
    },
  );
}

/** Its sums are of all its models. */
function usageOf(stats: Json): Usage | null {
  if (typeof stats.input_tokens !== 'number') return null;
  return {
    input: stats.input_tokens,
    cached: numberOf(stats.cached),
    output: numberOf(stats.output_tokens),
    costUsd: null,
  };
}

/** The error of the API as it came, when it is inside the words: `[API Error: {"error":{…}}]`. */
function inner(text: string): Json {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  try {
    return start < 0 || end < start ? {} : jsonOf(jsonOf(JSON.parse(text.slice(start, end + 1))).error);
  } catch {
    return {};
  }
}

const statusOf = (text: string): number | null => numberOf(inner(text).code) || statusIn(text);

function wordsOf(text: string): string {
  const { code, message, status } = inner(text);
  return typeof message === 'string' ? `${numberOf(code) || ''} ${textOf(status)}: ${message}`.trim() : text;
}
