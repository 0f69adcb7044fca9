import { z } from 'zod';

// The daily figures of a workspace for a linked server: numbers under terms of these lists, without any user-defined
// name. Both sides validate with this schema; docs/team/telemetry.md and docs/reference/telemetry.schema.json are generated from it.

/** Increased with every new field or term: nothing new is sent before a person has seen it. */
export const TELEMETRY_SCHEMA = 3;

/** Retention of days on a server. */
export const KEPT_TELEMETRY_DAYS = 400;

/** Replaces anything outside the lists: every name of the user's own. */
const OTHER = 'other';

export const TASK_SOURCES = ['task', 'codehost', 'chat', 'cli', 'tool', 'tui', OTHER] as const;
export const DECISION_OUTCOMES = ['approved', 'denied', 'expired'] as const;
export const PRESET_NAMES = [
  'claude',
  'codex',
  'gemini',
  'opencode',
  'copilot',
  'qwen',
  'kimi',
  'cursor',
  'droid',
  'antigravity',
  'kiro',
  OTHER,
] as const;
/** The outcome of a run: `sealed`, or the code of its failure. */
export const RUN_ENDS = [
  'sealed',
  'permission_denied',
  'auth_failed',
  'rate_limited',
  'usage_limit',
  'budget_exceeded',
  'turn_limit',
  'context_exceeded',
  'refused',
  'model_error',
  'agent_error',
  'exit_code',
  'no_result',
  'killed',
  'lost',
  'runner_lost',
  'reported',
  'timeout',
  'idle_timeout',
  'cancelled',
  'agent_not_found',
  'spawn_failed',
  'unknown_agent',
  'not_a_repository',
  'repository_empty',
  'git_failed',
  'gateway_unreachable',
  'tool_missing',
  'confinement_unavailable',
  'consent_missing',
  'trust_missing',
  'setup_failed',
  'inputs_changed',
  OTHER,
] as const;
export const DURATIONS = ['under_1_min', 'under_10_min', 'under_1_h', 'under_6_h', 'longer'] as const;
export const TOKEN_TIERS = ['account', 'local', 'free', 'cheap', 'paid', OTHER] as const;
export const PLATFORMS = ['linux', 'darwin', OTHER] as const;
export const ARCHITECTURES = ['x64', 'arm64', OTHER] as const;

/** Returns a term of a list; `other` for anything else. */
export const findWord = <T extends string>(words: readonly T[], text: unknown): T | typeof OTHER =>
  words.find((word) => word === text) ?? OTHER;

/** Maximum count. */
const MOST = 1e15;
const count = z.int().min(0).max(MOST);
const counts = <T extends string>(words: readonly T[]) => z.partialRecord(z.enum(words), count);

/** `PUT /v1/usage/DAY` */
export const telemetryDay = z.strictObject({
  schema: z.literal(TELEMETRY_SCHEMA).describe('raised with every added field or value'),
  day: z.iso.date().describe('UTC, such as `2026-11-22`'),
  version: z
    .string()
    .regex(/^\d{1,4}\.\d{1,4}\.\d{1,4}$/)
    .describe('of svc'),
  node: z.int().min(0).max(999).describe('major version of Node.js'),
  platform: z.enum(PLATFORMS),
  architecture: z.enum(ARCHITECTURES),
  tasks: counts(TASK_SOURCES).describe('created that day, by where they came from'),
  decisions: counts(DECISION_OUTCOMES).describe('made that day, by outcome'),
  runs: z
    .partialRecord(z.enum(PRESET_NAMES), counts(RUN_ENDS))
    .describe(
      "ended that day, by the agent's preset and how they ended: `sealed`, or the code of the failure",
    ),
  durations: counts(DURATIONS).describe('of those runs, from the start to the end'),
  tokens: counts(TOKEN_TIERS).describe(
    'of those runs under their own accounts, as reported by their agents; and of calls through the gateway that day, by the tier of the provider',
  ),
});
export type TelemetryDay = z.output<typeof telemetryDay>;

/** The figures of one day. */
export type DayCounts = Pick<TelemetryDay, 'tasks' | 'decisions' | 'runs' | 'durations' | 'tokens'>;

export const makeDayCounts = (): DayCounts => ({
  tasks: {},
  decisions: {},
  runs: {},
  durations: {},
  tokens: {},
});

/** Adds to one of the numbers. */
export function addCount<T extends string>(to: Partial<Record<T, number>>, word: T, more = 1): void {
  to[word] = Math.min(MOST, (to[word] ?? 0) + more);
}

/** Adds all numbers of another day, or of another workspace. */
export function addDayCounts(to: DayCounts, more: DayCounts): void {
  const addAll = <T extends string>(into: Partial<Record<T, number>>, from: Partial<Record<T, number>>) => {
    for (const [word, n] of Object.entries(from) as [T, number][]) addCount(into, word, n);
  };
  addAll(to.tasks, more.tasks);
  addAll(to.decisions, more.decisions);
  addAll(to.durations, more.durations);
  addAll(to.tokens, more.tokens);
  for (const [preset, ends] of Object.entries(more.runs) as [keyof DayCounts['runs'], object][]) {
    to.runs[preset] ??= {};
    addAll(to.runs[preset], ends);
  }
}
