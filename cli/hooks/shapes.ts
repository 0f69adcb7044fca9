import type { HookEvent } from '../../engine/index.ts';
import type { ToolCallFields } from './tool-writes.ts';

/** How an agent receives the answer of a hook. */
export interface HookShape {
  /** Refuses the pending write; the model reads the reason. */
  deny(reason: string): object;
  /** The hook events at which our text reaches the model, and how. */
  context: Partial<Record<HookEvent, (text: string, sent?: ToolCallFields) => object | string>>;
}

const additional =
  (hookEventName: string) =>
  (additionalContext: string): object => ({ hookSpecificOutput: { hookEventName, additionalContext } });

/** Claude uses a different name for the event after a failed tool, and accepts no other name then. */
const afterTool = (text: string, sent?: ToolCallFields): object =>
  additional(sent?.hook_event_name === 'PostToolUseFailure' ? 'PostToolUseFailure' : 'PostToolUse')(text);

const claude = {
  deny: (permissionDecisionReason) => ({
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'deny',
      permissionDecisionReason,
    },
  }),
  context: {
    'pre-write': additional('PreToolUse'),
    'post-tool': afterTool,
    // Added verbatim to the instructions for the summary; an object would be treated as an error of the hook.
    'pre-compact': (text) => text,
    'session-start': additional('SessionStart'),
  },
} satisfies HookShape;

const { 'pre-write': preWrite, 'post-tool': postTool, 'session-start': sessionStart } = claude.context;

/** By preset name. A missing event carries nothing: its text is sent at a later event. */
export const SHAPES: Readonly<Record<string, HookShape>> = {
  claude,
  codex: {
    deny: claude.deny,
    context: { 'pre-write': preWrite, 'post-tool': postTool, 'session-start': sessionStart },
  },
  gemini: {
    deny: (reason) => ({ decision: 'deny', reason }),
    context: { 'post-tool': additional('AfterTool') },
  },
  // The plugin in between uses claude's format.
  opencode: claude,
  // Events in PascalCase make it use claude's format.
  copilot: {
    deny: claude.deny,
    context: {
      'pre-write': preWrite,
      // For other events it reads only the top level.
      'post-tool': (additionalContext) => ({ additionalContext }),
    },
  },
  qwen: {
    deny: claude.deny,
    context: {
      'post-tool': postTool,
      'pre-compact': additional('PreCompact'),
      'session-start': sessionStart,
    },
  },
  kimi: { deny: claude.deny, context: {} },
  cursor: {
    deny: (reason) => ({ permission: 'deny', agent_message: reason }),
    context: {
      'post-tool': (text) => ({ additional_context: text }),
      'session-start': (text) => ({ additional_context: text }),
    },
  },
  droid: {
    deny: claude.deny,
    context: { 'post-tool': postTool, 'pre-compact': (text) => text, 'session-start': sessionStart },
  },
};
