import { describeActivity } from './activity.ts';
import type { createDenials } from './denials.ts';
import { asJson, asJsonList, asString, type JsonRecord, type RunFacts, toOneLine } from './json-lines.ts';
import { createRecent } from './recent.ts';
import type { PlanEntry } from './stream.ts';

/** The trace of a write that its sandbox blocked; there is no separate message for that. */
const BLOCKED = /Read-only file system/;

/** Returns a function that reads the items of a turn: its messages, tool calls and plan. */
export function createItemReader(denials: ReturnType<typeof createDenials>) {
  const seen = createRecent<true>();

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

  return function readItem(type: string, item: JsonRecord, facts: RunFacts): string | null {
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
  };
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
