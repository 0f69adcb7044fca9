import type { CommandLine, HookEvent } from './preset.ts';

/** Seconds; a hook of ours that is slower than this is broken, and must not hold the agent up. */
export const HOOK_TIMEOUT_SEC = 10;

/** Claude's names of the moments, which other agents have taken over. Each with the tools or reasons it is for. */
const EVENTS: Record<HookEvent, { name: string; matcher: string | null }> = {
  'pre-write': { name: 'PreToolUse', matcher: 'Write|Edit|MultiEdit|NotebookEdit' },
  'post-tool': { name: 'PostToolUse', matcher: '*' },
  'pre-compact': { name: 'PreCompact', matcher: null },
  'session-start': { name: 'SessionStart', matcher: 'compact' },
};

/** The `hooks` of a settings file in Claude's form; `entry` writes one command as the agent runs it. */
export function claudeHooks(
  hooks: Readonly<Record<HookEvent, CommandLine>>,
  entry: (line: CommandLine) => object,
  matchers: Partial<Record<HookEvent, string>> = {},
): Record<string, object[]> {
  return Object.fromEntries(
    Object.entries(EVENTS).map(([event, { name, matcher }]) => {
      const wanted = matchers[event as HookEvent] ?? matcher;
      const command = entry(hooks[event as HookEvent]);
      return [name, [{ ...(wanted === null ? {} : { matcher: wanted }), hooks: [command] }]];
    }),
  );
}
