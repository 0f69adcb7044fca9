/** A program and its arguments. */
export interface CommandLine {
  command: string;
  args: readonly string[];
}

/** The hook events at which an agent runs a command of ours. */
export const HOOK_EVENTS = ['pre-write', 'post-tool', 'pre-compact', 'session-start'] as const;

export type HookEvent = (typeof HOOK_EVENTS)[number];
