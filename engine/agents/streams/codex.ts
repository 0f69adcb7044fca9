import { activityOf } from './activity.ts';
import { createDenials } from './denials.ts';
import { codeOf, type Failure, failure, statusIn } from './failure.ts';
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
import { createRecent } from './recent.ts';
import type { EndCode, PlanEntry, StreamReader } from './stream.ts';

/** Its own sentences, where they say more than a status would. */
const SENTENCES: readonly (readonly [RegExp, EndCode])[] = [
  [/^Quota exceeded|out of credits|upgrade to Plus|hit your usage limit/i, 'usage_limit'],
  [/spend cap|session budget exceeded/i, 'budget_exceeded'],
  [/at capacity|capacity is unavailable/i, 'rate_limited'],
  [/high demand/i, 'model_error'],
  [/flagged for|content[_ ](?:filter|policy)|misalignment policy|for safety reasons/i, 'refused'],
  [/refresh token|log ?in again|Missing environment variable/i, 'auth_failed'],
  [/^(?:stream disconnected|Connection failed|Error while reading)|error sending request/i, 'model_error'],
];

/** Printed beside the stream, of a patch or a command that its sandbox or its policy did not let through. */
const REJECTED = /error=((patch)?.*\brejected by user.*|.*\bapproval policy\b.*)/;
/** What its sandbox leaves of a write; it has no words of its own for that. */
const BLOCKED = /Read-only file system/;

/** Reads the stream of `codex exec --json`. */
export function createCodexReader(now: () => number = Date.now): StreamReader {
  const seen = createRecent<true>();
  const denials = createDenials();

  function failed(text: string): Failure {
    const said = textOf(jsonOf(jsonOf(bodyIn(text)).error).message) || text;
    const [, code] = SENTENCES.find(([words]) => words.test(said)) ?? [];
    return failure(code ?? codeOf(statusIn(text), text) ?? 'model_error', said, { now: now() });
  }

  function call(item: Json, activity: string, isDone: boolean, facts: Facts): string | null {
    facts.activity = activity;
    const id = textOf(item.id);
    if (seen.get(id) === undefined) {
      seen.set(id, true);
      facts.toolCalls += 1;
      if (isDone) return `→ ${activity}`;
    }
    return isDone ? null : `→ ${activity}`;
  }

  function done(item: Json, kind: string, activity: string): string | null {
    const { status, exit_code: code } = item;
    const output = textOf(item.aggregated_output);
    if (status === 'completed') {
      denials.overcome(kind);
      return null;
    }
    if (status === 'declined') denials.add(kind, `it was not allowed to ${activity}`);
    else if (BLOCKED.test(output)) denials.add(kind, `it was not allowed to ${activity}: ${oneLine(output)}`);
    const why = textOf(jsonOf(item.error).message);
    const ended = typeof code === 'number' ? `exit code ${code}` : textOf(status) || 'failed';
    return `✗ ${activity}: ${oneLine(why || ended, 200)}`;
  }

  function itemOf(type: string, item: Json, facts: Facts): string | null {
    const isDone = type === 'item.completed';
    const tool = (kind: string, activity: string): string | null => {
      const said = call(item, activity, isDone, facts);
      const end = isDone ? done(item, kind, activity) : null;
      return [said, end].filter((line) => line !== null).join('\n') || null;
    };
    switch (item.type) {
      case 'agent_message':
        return isDone ? textOf(item.text) || null : null;
      case 'command_execution':
        return tool('run', activityOf('exec', { command: bare(textOf(item.command)) }, ''));
      case 'file_change':
        return tool(
          'edit',
          activityOf('edit', { path: jsonsOf(item.changes).map(shownPath).join(', ') }, ''),
        );
      case 'mcp_tool_call':
        return tool('mcp', oneLine(`${textOf(item.server)} ${textOf(item.tool)}`));
      case 'collab_tool_call':
        return tool('delegate', oneLine(`delegate ${textOf(item.tool)}`));
      case 'web_search':
        return tool('look up', activityOf('web_search', item, ''));
      case 'todo_list':
        facts.plan = planOf(item);
        return null;
      case 'error':
        // Not the end of anything: a model that it does not know, a hook that it was told to trust.
        return isDone ? `! ${oneLine(textOf(item.message), 200)}` : null;
      default:
        return null;
    }
  }

  function take(event: Json, facts: Facts): string | null | undefined {
    const type = textOf(event.type);
    if (type.startsWith('item.')) return itemOf(type, jsonOf(event.item), facts);
    switch (type) {
      case 'thread.started':
        facts.agentSession = textOf(event.thread_id) || facts.agentSession;
        return null;
      case 'turn.started':
        facts.end = null;
        return null;
      case 'turn.completed': {
        // Of all its turns, those of earlier runs of the same session as well: never added up.
        const usage = jsonOf(event.usage);
        facts.conversation = {
          input: numberOf(usage.input_tokens),
          cached: numberOf(usage.cached_input_tokens),
          output: numberOf(usage.output_tokens),
          costUsd: null,
        };
        facts.trouble = null;
        facts.end = denials.left() ?? { ok: true };
        return facts.end.ok ? null : `✗ ${facts.end.text}`;
      }
      case 'turn.failed':
        facts.end = failed(textOf(jsonOf(event.error).message) || 'it failed and did not say why');
        return `✗ ${facts.end.text}`;
      case 'error': {
        const text = textOf(event.message);
        const [, why] = /^Reconnecting\.\.\. \S+ \(([\s\S]*)\)$/.exec(text) ?? [];
        facts.trouble = failed(why ?? text);
        // Without a new try the same sentence follows as the end of the turn.
        return why === undefined ? null : `! ${oneLine(text, 200)}`;
      }
      default:
        return /^(?:thread|turn)\.|^request_user_input$/.test(type) ? null : undefined;
    }
  }

  return createJsonReader(take, (text, facts) => {
    const [, why, patch] = REJECTED.exec(text) ?? [];
    if (why !== undefined) denials.add(patch === undefined ? 'run' : 'edit', `it was not allowed to: ${why}`);
    else if (/^(?:Error: |Missing environment variable)/.test(text)) {
      // It gave up before its stream began.
      const [, code] = SENTENCES.find(([words]) => words.test(text)) ?? [];
      facts.trouble = failure(code ?? codeOf(statusIn(text), text) ?? 'agent_error', text, { now: now() });
    }
  });
}

/** Some errors come as the body of the answer. */
function bodyIn(text: string): unknown {
  try {
    return text.startsWith('{') ? JSON.parse(text) : null;
  } catch {
    return null;
  }
}

/** The shell around a command says nothing. */
const bare = (command: string): string => /^\S*sh -l?c (['"])([\s\S]*)\1$/.exec(command)?.[2] ?? command;

/** A path is absolute and the folder is not told: of a worktree of ours, the part inside. */
const shownPath = ({ path }: Json): string =>
  textOf(path).replace(/^.*\/\.svc\/agents\/worktrees\/[^/]+\//, '');

/** It only says what is done: the first that is not is what it is at. */
function planOf({ items }: Json): PlanEntry[] {
  const entries = jsonsOf(items);
  const active = entries.findIndex(({ completed }) => completed !== true);
  return entries.map(({ text, completed }, index) => ({
    text: oneLine(textOf(text)),
    state: completed === true ? 'done' : index === active ? 'active' : 'pending',
  }));
}
