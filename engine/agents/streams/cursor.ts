import { activityOf } from './activity.ts';
import { createClaudeReader } from './claude.ts';
import { jsonOf, textOf } from './json-lines.ts';
import type { StreamReader } from './stream.ts';

/**
 * Reads the stream of `cursor-agent -p --output-format stream-json`: claude's, but that tools have events of their own.
 * From its documentation, not from a run.
 */
export function createCursorReader(now: () => number = Date.now): StreamReader {
  const inner = createClaudeReader(now);
  let calls = 0;
  let activity: string | null = null;

  /** `{"tool_call": {"writeToolCall": {"args": {…}}}}`; null for a line of another form. */
  function calling(text: string): string | null {
    if (!text.includes('"tool_call"')) return null;
    try {
      const event = jsonOf(JSON.parse(text));
      if (event.type !== 'tool_call' || event.subtype !== 'started') return null;
      const [name = '', call] = Object.entries(jsonOf(event.tool_call))[0] ?? [];
      const own = jsonOf(call);
      const tool = name === 'function' ? textOf(own.name) : name.replace(/ToolCall$/, '');
      return activityOf(tool, jsonOf(own.args), '');
    } catch {
      return null;
    }
  }

  return {
    line(text) {
      const said = inner.line(text);
      const call = calling(text);
      if (call === null) return said;
      calls += 1;
      activity = call;
      return `→ ${call}`;
    },
    facts() {
      const facts = inner.facts();
      return { ...facts, toolCalls: facts.toolCalls + calls, activity: activity ?? facts.activity };
    },
  };
}
