import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import {
  findPreset,
  type Preset,
  type RunWish,
  withArguments,
} from '../../../engine/workers/agents/presets/index.ts';
import { NO_FACTS, type StreamFacts } from '../../../engine/workers/agents/streams/stream.ts';
import { renderCommand } from '../../../engine/workers/agents/template.ts';
import { buildWorkerEnvironment, createProcesses } from '../../../engine/workers/runner/processes/index.ts';
import { listMarked } from '../processes/processes.ts';
import { settled, until } from '../wait.ts';
import { gitEnvironment } from '../workspaces/git.ts';
import { AGENTS_BIN } from './agents.ts';

/** Longest prompt that is passed as an argument, as in a dispatch. */
const LONG_PROMPT = 120 * 1024;

export interface BareWish extends Partial<Pick<RunWish, 'mcp' | 'hooks'>> {
  prompt: string;
  /** URL of a fake model that receives the agent's calls. With null, `env` decides. */
  gateway: RunWish['gateway'];
  cwd: string;
  /**
   * Folder of the session: the agent's home, its files and its logs. A second run in it finds what the first one
   * left.
   */
  folder: string;
  /** The agent's own session to resume. */
  resume?: string;
  /** Command that replaces the built-in one. */
  template?: string;
  /** More options, as in a custom command. */
  args?: readonly string[];
  env?: Record<string, string>;
  /** Polled from the start: once it returns true, the run is stopped as if its time limit had passed. */
  stopWhen?: () => boolean;
}

export interface BareRun {
  code: number | null;
  signal: string | null;
  /** Printed lines. */
  lines: string[];
  /** The lines that a person reads of it. */
  text: string;
  facts: StreamFacts;
  /** Processes that carried the run's mark when the run ended, before the sweep. */
  leftBehind: number[];
  /** Processes that carry the mark after the sweep. */
  survivors: number[];
}

/** Returns a preset by name; throws if it does not exist. */
export function presetOf(name: string): Preset {
  const preset = findPreset(name);
  if (preset === null) throw new Error(`no preset ${name}`);
  return preset;
}

/** Returns the built-in headless command of a preset for a prompt, as a dispatch renders it. */
export function commandOf(
  preset: Preset,
  { prompt, promptFile, template: own }: { prompt: string; promptFile: string; template?: string },
): { argv: string[]; stdinFile?: string } {
  const isLong = Buffer.byteLength(prompt) > LONG_PROMPT;
  const builtIn = isLong && preset.headlessLong !== null ? preset.headlessLong : preset.headless;
  const template = own ?? builtIn;
  if (template === null) throw new Error(`${preset.name} does not run headless`);
  return renderCommand(template, {
    prompt: isLong ? `Do what is written in ${promptFile}` : prompt,
    prompt_file: promptFile,
    name: 'w-1',
  });
}

/**
 * Runs a real agent program from its preset alone, without an engine: the built-in command, the additions of
 * `setUpRun`, the wrapper that starts workers, and the preset's log reader.
 */
export async function runPreset(name: string, wish: BareWish): Promise<BareRun> {
  const preset = presetOf(name);
  const runId = randomUUID();
  const runDir = join(wish.folder, 'runs', runId);
  const home = join(wish.folder, 'home');
  for (const folder of [runDir, home]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const promptFile = join(runDir, 'prompt.md');
  writeFileSync(promptFile, wish.prompt);

  const inherited = gitEnvironment();
  const env = {
    ...buildWorkerEnvironment(
      { PATH: `${AGENTS_BIN}${delimiter}${inherited.PATH}`, LANG: 'C.UTF-8', HOME: home },
      {
        GIT_AUTHOR_NAME: 'Worker',
        GIT_AUTHOR_EMAIL: 'worker@example.test',
        GIT_COMMITTER_NAME: 'Worker',
        GIT_COMMITTER_EMAIL: 'worker@example.test',
      },
    ),
    ...wish.env,
  };
  const command = commandOf(preset, {
    prompt: wish.prompt,
    promptFile,
    ...(wish.template === undefined ? {} : { template: wish.template }),
  });
  const setup = preset.setUpRun({
    mcp: wish.mcp ?? null,
    gateway: wish.gateway,
    hooks: wish.hooks ?? null,
    folder: join(wish.folder, 'agent'),
    env,
  });
  for (const { path, text } of setup.files) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, text, { mode: 0o600 });
  }
  let argv = withArguments(command.argv, [...setup.args, ...(wish.args ?? [])]);
  if (wish.resume !== undefined) argv = preset.resume!(argv, wish.resume);

  const processes = createProcesses();
  const logFile = join(runDir, 'log');
  try {
    const run = await processes.start({
      runDir,
      runId,
      argv,
      cwd: wish.cwd,
      env: { ...env, ...setup.env },
      logFile,
      ...(command.stdinFile === undefined ? {} : { stdinFile: command.stdinFile }),
    });
    let isOver = false;
    const over = run.exited.finally(() => {
      isOver = true;
    });
    if (wish.stopWhen !== undefined) {
      const { stopWhen } = wish;
      await until(() => isOver || stopWhen(), 'what the run is to be stopped at');
      if (!isOver) await processes.stop({ pid: run.pid, pidStart: run.pidStart, runId });
    }
    const { code, signal } = await settled(over, `the end of ${name}`, 120_000);
    const leftBehind = listMarked(`SVC_RUN_ID=${runId}`).map(({ pid }) => pid);
    await processes.sweep(runId, run.pidStart);
    const lines = readFileSync(logFile, 'utf8').split('\n');
    const reader = preset.reader?.(Date.now);
    const read = lines.filter((line) => line !== '').map((line) => reader?.readLine(line) ?? null);
    return {
      code,
      signal,
      lines,
      text: read.filter((line) => line !== null).join('\n'),
      facts: reader?.facts() ?? NO_FACTS,
      leftBehind,
      survivors: listMarked(`SVC_RUN_ID=${runId}`).map(({ pid }) => pid),
    };
  } finally {
    await processes.sweep(runId);
    processes.close();
  }
}
