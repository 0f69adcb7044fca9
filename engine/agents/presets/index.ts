import { basename } from 'node:path';
import type { AgentNotify } from '../notify-entry.ts';
import { antigravity } from './antigravity.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { cursor } from './cursor.ts';
import { droid } from './droid.ts';
import { gemini } from './gemini.ts';
import { kimi } from './kimi.ts';
import { kiro } from './kiro.ts';
import { opencode } from './opencode.ts';
import type { Preset } from './preset.ts';
import { qwen } from './qwen.ts';

export type { AgentEnd, EndCode, PlanEntry, StreamFacts, StreamReader, Usage } from '../streams/stream.ts';
export { PASSED_ON } from './codex.ts';
export type { HookEvent } from './hook-event.ts';
export {
  type GatewayRoute,
  type HomeShare,
  KEY_VARIABLE,
  type McpServer,
  type Preset,
  type RunLeft,
  type RunSetup,
  type RunWish,
  untoldOf,
  withArguments,
} from './preset.ts';

/** Every agent that svc knows, in the order in which they are shown. To add one is to add its file here. */
export const PRESETS: readonly Preset[] = [
  claude,
  codex,
  gemini,
  opencode,
  copilot,
  qwen,
  kimi,
  cursor,
  droid,
  antigravity,
  kiro,
];

const mapOf = <V>(pick: (preset: Preset) => V | null): Readonly<Record<string, V>> =>
  Object.fromEntries(
    PRESETS.flatMap((preset) => {
      const value = pick(preset);
      return value === null ? [] : [[preset.name, value]];
    }),
  );

/** Headless commands: split into words first, then filled in. `< {{prompt_file}}` opens the file as standard input. */
export const HEADLESS = mapOf(({ headless }) => headless);

/** Commands that open an agent for a person; some exist only here, since they do not run headless. */
export const INTERACTIVE = mapOf(({ interactive }) => interactive);

/** Commands that serve the agent client protocol on standard input and output. */
export const ACP = mapOf(({ acp }) => acp);

export const NOTIFY: Readonly<Record<string, AgentNotify>> = mapOf(({ notify }) => notify);

/** Why the preset's model calls cannot go through the gateway; null when they can. */
export const cannotRoute = (name: string): string | null => presetNamed(name)?.cannot.gateway ?? null;

export const presetNamed = (name: string): Preset | null =>
  PRESETS.find((preset) => preset.name === name) ?? null;

/** The agent that a program is, whatever the preset that starts it is called. */
export const presetOfProgram = (program: string): Preset | null =>
  PRESETS.find(({ programs }) => programs.includes(basename(program))) ?? null;
