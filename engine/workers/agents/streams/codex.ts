import { describeActivity } from './activity.ts';
import { createDenials } from './denials.ts';
import { classifyError, createFailure, findHttpStatus, type StreamFailure } from './failure.ts';
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
import { createRecent } from './recent.ts';
import type { EndCode, PlanEntry, StreamReader } from './stream.ts';

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
/** The trace of a write that its sandbox blocked; there is no separate message for that. */
const BLOCKED = /Read-only file system/;

/** Reads the stream of `codex exec --json`. */
export function createCodexReader(now: () => number = Date.now): StreamReader {
  const seen = createRecent<true>();
  const denials = createDenials();

  function judgeError(text: string): StreamFailure {
    const said = asString(asJson(asJson(parseBody(text)).error).message) || text;
    const [, code] = SENTENCES.find(([words]) => words.test(said)) ?? [];
    return createFailure(code ?? classifyError(findHttpStatus(text), text) ?? 'model_error', said, {
      now: now(),
    });
  }

  function countCall(item: JsonRecord, activity: string, isDone: boolean, facts: RunFacts): string | null {
    facts.activity = activity;
    const id = asString(item.id);
    if (seen.get(id) === undefined) {
      seen.set(id, true);
      facts.toolCalls += 1;
      if (isDone) return `→ ${activity}`;
    }
    return isDone ? null : `→ ${activity}`;
  }

  function describeDone(item: JsonRecord, kind: string, activity: string): string | null {
    const { status, exit_code: code } = item;
    const output = asString(item.aggregated_output);
    if (status === 'completed') {
      denials.clearKind(kind);
      return null;
    }
    if (status === 'declined') denials.addDenial(kind, `it was not allowed to ${activity}`);
    else if (BLOCKED.test(output))
      denials.addDenial(kind, `it was not allowed to ${activity}: ${toOneLine(output)}`);
    const why = asString(asJson(item.error).message);
    const ended = typeof code === 'number' ? `exit code ${code}` : asString(status) || 'failed';
    return `✗ ${activity}: ${toOneLine(why || ended, 200)}`;
  }

  function readItem(type: string, item: JsonRecord, facts: RunFacts): string | null {
    const isDone = type === 'item.completed';
    const readTool = (kind: string, activity: string): string | null => {
      const said = countCall(item, activity, isDone, facts);
      const end = isDone ? describeDone(item, kind, activity) : null;
      return [said, end].filter((line) => line !== null).join('\n') || null;
    };
    switch (item.type) {
      case 'agent_message':
        return isDone ? asString(item.text) || null : null;
      case 'command_execution':
        return readTool('run', describeActivity('exec', { command: trimShell(asString(item.command)) }, ''));
      case 'file_change':
        return readTool(
          'edit',
          describeActivity('edit', { path: asJsonList(item.changes).map(shortenPath).join(', ') }, ''),
        );
      case 'mcp_tool_call':
        return readTool('mcp', toOneLine(`${asString(item.server)} ${asString(item.tool)}`));
      case 'collab_tool_call':
        return readTool('delegate', toOneLine(`delegate ${asString(item.tool)}`));
      case 'web_search':
        return readTool('look up', describeActivity('web_search', item, ''));
      case 'todo_list':
        facts.plan = readCodexPlan(item);
        return null;
      case 'error':
        // Not an end: a model that it does not know, a hook that was trusted.
        return isDone ? `! ${toOneLine(asString(item.message), 200)}` : null;
      default:
        return null;
    }
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

/** Removes the shell around a command. */
const trimShell = (command: string): string => /^\S*sh -l?c (['"])([\s\S]*)\1$/.exec(command)?.[2] ?? command;

/** Shortens an absolute path in one of our worktrees, since the folder is not reported. */
const shortenPath = ({ path }: JsonRecord): string =>
  asString(path).replace(/^.*\/\.svc\/agents\/worktrees\/[^/]+\//, '');

/** Codex only reports what is done: the first open entry is the active one. */
function readCodexPlan({ items }: JsonRecord): PlanEntry[] {
  const entries = asJsonList(items);
  const active = entries.findIndex(({ completed }) => completed !== true);
  return entries.map(({ text, completed }, index) => ({
    text: toOneLine(asString(text)),
    state: completed === true ? 'done' : index === active ? 'active' : 'pending',
  }));
}
