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

export { PASSED_ON } from './codex.ts';
export type { HookEvent } from './hook-event.ts';
export {
  type GatewayRoute,
  type HomeShare,
  KEY_VARIABLE,
  listUntold,
  type McpServer,
  type Preset,
  type RunLeft,
  type RunSetup,
  type RunWish,
  withArguments,
} from './preset.ts';

/** Every known agent, in display order. Adding one means adding its file here. */
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

const mapPresets = <V>(pick: (preset: Preset) => V | null): Readonly<Record<string, V>> =>
  Object.fromEntries(
    PRESETS.flatMap((preset) => {
      const value = pick(preset);
      return value === null ? [] : [[preset.name, value]];
    }),
  );

/** Headless commands: split into words first, then filled in. `< {{prompt_file}}` opens the file as standard input. */
export const HEADLESS = mapPresets(({ headless }) => headless);

/** Commands that open an agent for a person; some exist only here, since they do not run headless. */
export const INTERACTIVE = mapPresets(({ interactive }) => interactive);

/** Commands that serve the agent client protocol on standard input and output. */
export const ACP = mapPresets(({ acp }) => acp);

export const NOTIFY: Readonly<Record<string, AgentNotify>> = mapPresets(({ notify }) => notify);

export const findPreset = (name: string): Preset | null =>
  PRESETS.find((preset) => preset.name === name) ?? null;

/** Finds the preset of a program, regardless of its configured name. */
export const findPresetOfProgram = (program: string): Preset | null =>
  PRESETS.find(({ programs }) => programs.includes(basename(program))) ?? null;
