/** The groups of commands in help, in its order. */
export const HELP_GROUPS = [
  'daily',
  'start',
  'work',
  'decide',
  'talk',
  'worktrees',
  'integrate',
  'configuration',
  'engine',
] as const;
export type HelpGroup = (typeof HELP_GROUPS)[number];
