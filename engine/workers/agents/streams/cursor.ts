import { describeActivity } from './activity.ts';
import { createClaudeReader } from './claude.ts';
import { asJson, asString } from './json-lines.ts';
import type { StreamReader } from './stream.ts';

/**
 * Reads the stream of `cursor-agent -p --output-format stream-json`: claude's, but with separate events for tools.
 * From its documentation, not tested.
 */
export function createCursorReader(now: () => number = Date.now): StreamReader {
  const inner = createClaudeReader(now);
  let calls = 0;
  let activity: string | null = null;

  /** Parses `{"tool_call": {"writeToolCall": {"args": {…}}}}`; null for a line of another form. */
  function readToolCall(text: string): string | null {
    if (!text.includes('"tool_call"')) return null;
    try {
      const event = asJson(JSON.parse(text));
      if (event.type !== 'tool_call' || event.subtype !== 'started') return null;
      const [name = '', call] = Object.entries(asJson(event.tool_call))[0] ?? [];
      const own = asJson(call);
      const tool = name === 'function' ? asString(own.name) : name.replace(/ToolCall$/, '');
      return describeActivity(tool, asJson(own.args), '');
    } catch {
      return null;
    }
  }

  return {
    readLine(text) {
      const said = inner.readLine(text);
      const call = readToolCall(text);
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
