import type { HookEvent } from '../../engine/index.ts';
import type { Fields } from './tool-call.ts';

/** How an agent takes what a hook has to say. */
export interface Shape {
  /** Refuses the write that is about to happen; the model reads the reason. */
  deny(reason: string): object;
  /** The moments at which text of ours reaches the model, and how. */
  context: Partial<Record<HookEvent, (text: string, sent?: Fields) => object | string>>;
}

const additional =
  (hookEventName: string) =>
  (additionalContext: string): object => ({ hookSpecificOutput: { hookEventName, additionalContext } });

/** Claude calls the moment after a tool otherwise when the tool has failed, and takes no other name for it then. */
const afterTool = (text: string, sent?: Fields): object =>
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
    // Added verbatim to the instructions for the summary; an object would count as an error of the hook.
    'pre-compact': (text) => text,
    'session-start': additional('SessionStart'),
  },
} satisfies Shape;

const { 'pre-write': preWrite, 'post-tool': postTool, 'session-start': sessionStart } = claude.context;

/** By the name of the preset. A moment that is missing carries nothing: what was to be said then is said later. */
export const SHAPES: Readonly<Record<string, Shape>> = {
  claude,
  codex: {
    deny: claude.deny,
    context: { 'pre-write': preWrite, 'post-tool': postTool, 'session-start': sessionStart },
  },
  gemini: {
    deny: (reason) => ({ decision: 'deny', reason }),
    context: { 'post-tool': additional('AfterTool') },
  },
  // The plugin that stands between speaks as claude does.
  opencode: claude,
  // Events in PascalCase make it speak as claude does.
  copilot: {
    deny: claude.deny,
    context: {
      'pre-write': preWrite,
      // Elsewhere it looks for the text at the top only.
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
