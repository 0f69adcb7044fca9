import { writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import {
  type AgentCommand,
  buildCommand,
  findPresetOfCommand,
  type RunInput,
  wrapInAcpHost,
} from '../agents/index.ts';
import {
  findPresetOfProgram,
  type HookEvent,
  KEY_VARIABLE,
  type Preset,
  type RunSetup,
  type RunWish,
  withArguments,
} from '../agents/presets/index.ts';
import { makePrivateFolder } from '../base/private-files.ts';
import { quoteForShell } from '../base/text.ts';
import type { Task } from '../board/tasks/index.ts';
import { MARK, type RunningProcess } from '../runner/processes/index.ts';
import { brief } from './brief.ts';
import { startConfined } from './confined.ts';
import type { DispatchDeps } from './context.ts';
import { agentDir, briefFile, briefFolder, logFile, runDir, sessionDir } from './folders.ts';
import { goOn } from './go-on.ts';
import type { Launch } from './run.ts';
import { writeAnew } from './write-anew.ts';

/** Writes what the worker reads and starts its process. */
export async function launch(deps: DispatchDeps, run: Launch): Promise<RunningProcess> {
  const { session, task, runId, placement, route } = run;
  const { sessionId } = session;
  const folder = runDir(deps, sessionId, runId);
  makePrivateFolder(deps.paths.agents, folder);
  const svc = await writeShim(deps, join(folder, 'bin'));
  const { command } = run;
  const preset = findPresetOfCommand(command, session.agent);
  const told = await writeBriefs(deps, run, svc, preset);
  const { argv, stdinFile } = buildCommand(command, told, preset, deps.isArgvSeen);
  const identity = await deps.worktrees
    .findUserIdentity(placement.repository ?? placement.cwd)
    .catch(() => ({}));
  const env = deps.environment({
    ...identity,
    SVC_CONFIG: deps.configFile,
    SVC_TASK: task.taskId,
    SVC_SESSION: sessionId,
    SVC_ROLE: 'worker',
    SVC_AGENT: session.agent,
    SVC_NAME: session.workerId,
    SVC_SESSION_NAME: session.title,
    ...(route === null ? {} : { [KEY_VARIABLE]: route.key }),
    [MARK]: runId,
  });
  if (svc !== null) env.PATH = [dirname(svc), env.PATH ?? '/usr/local/bin:/usr/bin:/bin'].join(delimiter);
  const wish = wishOf(deps, run, preset, env);
  // Over the protocol the agent is told of the server when its session is made.
  const setUp =
    findPresetOfProgram(argv[0] ?? '')?.setUpRun({
      ...wish,
      ...(command.transport === 'acp' ? { mcp: null } : {}),
    }) ?? ofServer(command, preset, wish);
  await writeFiles(deps, wish.folder, setUp);
  const whole = withArguments(argv, setUp?.args ?? []);
  const spec = {
    runDir: folder,
    runId,
    argv: command.transport === 'acp' ? wrapInAcpHost(deps.svc, whole, told) : whole,
    cwd: placement.cwd,
    env: { ...env, ...setUp?.env },
    logFile: logFile(deps, sessionId),
    ...(stdinFile === undefined ? {} : { stdinFile }),
  };
  return startConfined(deps, session, spec, { program: argv[0] ?? '', preset });
}

/** A protocol server that is a program of its own has the variables of its preset, and none of its options. */
function ofServer(
  { transport, isBuiltIn }: AgentCommand,
  preset: Preset | null,
  wish: RunWish,
): RunSetup | undefined {
  if (transport !== 'acp' || !isBuiltIn || preset === null) return undefined;
  return { ...preset.setUpRun({ ...wish, mcp: null, hooks: null }), args: [] };
}

/** How the agent finds `svc mcp`, the gateway and our hooks. */
function wishOf(
  { svc, paths }: DispatchDeps,
  { session, route }: Launch,
  preset: Preset | null,
  env: RunWish['env'],
): RunWish {
  const [command, ...args] = svc ?? [];
  const ours = (...words: string[]) => ({ command: command ?? '', args: [...args, ...words] });
  const hook = (event: HookEvent) => ours('hook', event, '--agent', preset?.name ?? session.agent);
  return {
    mcp: command === undefined ? null : { ...ours('mcp'), env: {} },
    gateway: route,
    hooks:
      command === undefined
        ? null
        : {
            'pre-write': hook('pre-write'),
            'post-tool': hook('post-tool'),
            'pre-compact': hook('pre-compact'),
            'session-start': hook('session-start'),
          },
    folder: agentDir({ paths }, session.sessionId),
    env,
  };
}

async function writeFiles(
  { paths }: DispatchDeps,
  folder: string,
  setUp: RunSetup | undefined,
): Promise<void> {
  for (const { path, text } of setUp?.files ?? []) {
    makePrivateFolder(paths.agents, folder);
    await writeAnew(folder, path, text);
  }
}

/**
 * `svc` for the worker's shells, whatever else is called so or not on the path: this very program, and so of the
 * engine's version. Null when the host has none.
 */
async function writeShim({ svc }: DispatchDeps, folder: string): Promise<string | null> {
  if (svc === null) return null;
  const file = join(folder, 'svc');
  makePrivateFolder(dirname(folder), folder);
  await writeFile(file, `#!/bin/sh\nexec ${svc.map(quoteForShell).join(' ')} "$@"\n`, {
    mode: 0o700,
    flag: 'wx',
  });
  return file;
}

/** A person's own prompt may be a command of the agent on purpose; one from elsewhere is a text. */
function promptFor({ prompt, source }: Task, preset: Preset | null): string {
  const isOfPerson = source === 'cli' || source === 'tui';
  return isOfPerson ? prompt : (preset?.literal?.(prompt) ?? prompt);
}

async function writeBriefs(
  deps: DispatchDeps,
  run: Launch,
  svc: string | null,
  preset: Preset | null,
): Promise<RunInput> {
  const { session, task, placement } = run;
  const top = placement.worktree ?? sessionDir(deps, session.sessionId);
  const where = { ...placement, sessionId: session.sessionId };
  const folder = briefFolder(deps, where);
  const promptFile = join(folder, 'prompt.md');
  const prompt = promptFor(task, preset);
  await writeAnew(top, promptFile, prompt);
  await writeAnew(top, briefFile(deps, where), brief(session, task, placement, svc));
  const whole = { text: prompt, file: promptFile, name: session.workerId, agentSession: null };
  if (session.runs <= 1 && session.continues === null) return whole;
  const again = await goOn(deps, run);
  const file = join(folder, 'go-on.md');
  await writeAnew(top, file, again.text);
  return { ...whole, ...again, file };
}
