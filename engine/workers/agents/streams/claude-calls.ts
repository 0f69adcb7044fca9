import { classifyTool, describeActivity } from './activity.ts';
import { asJson, asJsonList, asString, type JsonRecord, type RunFacts, toOneLine } from './json-lines.ts';
import { createRecent } from './recent.ts';
import type { PlanEntry } from './stream.ts';

const STATES: Record<string, PlanEntry['state']> = {
  pending: 'pending',
  in_progress: 'active',
  completed: 'done',
};

/** Maximum number of individually examined ones. */
const MOST_DENIALS = 100;

interface Call {
  kind: string;
  /** Its index among the calls. */
  order: number;
  isDone: boolean;
}

/** Reads the tool calls of a run and their results, and knows which of them were denied. */
export function createClaudeCalls() {
  const calls = createRecent<Call>();
  let made = 0;
  /** Calls denied by our own hook: the agent treated that as advice, not as a missing permission. */
  const hooked = createRecent<true>();
  let folder = '';

  function readCall({ id, name, input }: JsonRecord, facts: RunFacts): string {
    const tool = asString(name);
    const given = asJson(input);
    calls.set(asString(id), { kind: classifyTool(tool), order: made, isDone: false });
    made += 1;
    facts.toolCalls += 1;
    if (/^todo_?write$/i.test(tool)) facts.plan = readTodos(given);
    facts.activity = describeActivity(tool, given, folder);
    return `→ ${facts.activity}`;
  }

  function readResults(event: JsonRecord): string | null {
    const lines = asJsonList(asJson(event.message).content).flatMap((block) => {
      if (block.type !== 'tool_result') return [];
      const call = calls.get(asString(block.tool_use_id));
      if (block.is_error !== true) {
        if (call !== undefined) call.isDone = true;
        return [];
      }
      const text =
        asString(block.content) ||
        asJsonList(block.content)
          .map((part) => asString(part.text))
          .join(' ');
      if (isHook(asString(block.tool_use_id), text, event)) hooked.set(asString(block.tool_use_id), true);
      return `✗ ${toOneLine(text, 200)}`;
    });
    return indentForSubagent(lines, event);
  }

  /** Returns a denied tool call without a later similar success; null if there is none. */
  function findDenied(result: JsonRecord): string | null {
    const known = calls.values();
    for (const { tool_name: tool, tool_use_id: id } of asJsonList(result.permission_denials).slice(
      -MOST_DENIALS,
    )) {
      if (hooked.get(asString(id))) continue;
      const { kind, order } = calls.get(asString(id)) ?? { kind: classifyTool(asString(tool)), order: -1 };
      const later = known.some((each) => each.isDone && each.kind === kind && each.order > order);
      if (!later) return asString(tool) || 'a tool';
    }
    return null;
  }

  return {
    /** Sets the folder to which paths are shown relative. */
    setFolder(path: string): void {
      folder = path;
    },
    readCall,
    readResults,
    findDenied,
  };
}

/** Indents the output of a subagent. */
export function indentForSubagent(lines: readonly string[], event: JsonRecord): string | null {
  const text = lines.filter((line) => line.trim() !== '').join('\n');
  if (text === '') return null;
  return typeof event.parent_tool_use_id === 'string' ? text.replace(/^/gm, '  ') : text;
}

/** Claude reports who decided; qwen passes on the command's words, and has others for its own decisions. */
function isHook(id: string, text: string, event: JsonRecord): boolean {
  const meta = asJsonList(event.tool_result_meta).find((each) => each.id === id);
  if (meta !== undefined) return asJson(meta.permission_decision).source === 'hook';
  return /^\w+:\w+ hook /.test(text) || !/permission|not allowed|denied/i.test(text);
}

const readTodos = ({ todos }: JsonRecord): PlanEntry[] =>
  asJsonList(todos).map(({ content, status }) => ({
    text: toOneLine(asString(content)),
    state: STATES[asString(status)] ?? 'pending',
  }));
