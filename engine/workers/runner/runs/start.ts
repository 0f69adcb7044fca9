import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { DEFAULT_PATH } from '../../../core/base/find-program.ts';
import { writeFreshFile } from '../../../core/base/fresh-file.ts';
import { makePrivateFolder } from '../../../core/base/private-files.ts';
import {
  addOptions,
  buildCommand,
  listPrograms,
  locateAgent,
  type RunInput,
  unroutableError,
  wrapInAcpHost,
} from '../../agents/index.ts';
import {
  type HookEvent,
  KEY_VARIABLE,
  type Preset,
  type RunSetup,
  type RunWish,
} from '../../agents/presets/index.ts';
import type { LocalPlacement } from '../../sessions/index.ts';
import { MARK, type RunningProcess } from '../processes/index.ts';
import type { LocalRunnerDeps } from './deps.ts';
import {
  agentFolder,
  briefFile,
  briefFolder,
  logFile,
  notesFile,
  runFolder,
  sessionFolder,
} from './folders.ts';
import type { StartOrder } from './runner.ts';
import { shimFile } from './shim.ts';
import { startConfined } from './start-confined.ts';

/** Writes the worker's texts and starts its process; see `Runner.start`. */
export async function startRun(
  deps: LocalRunnerDeps,
  order: StartOrder<LocalPlacement>,
): Promise<RunningProcess> {
  const { run, placement, command, agent, profile } = order;
  const { sessionId, runId } = run;
  const folder = runFolder(deps, run);
  const located = locateAgent(command.template, agent);
  const { preset } = located;
  const input = await writeTexts(deps, order);
  const { argv, stdinFile } = buildCommand(command, input, located, deps.isArgvSeen);
  const env = deps.environment({
    ...order.author,
    ...order.variables,
    SVC_CONFIG: deps.configFile,
    ...(order.gateway === null ? {} : { [KEY_VARIABLE]: order.gateway.key }),
    [MARK]: runId,
  });
  if (deps.svc !== null) env.PATH = [dirname(shimFile(folder)), env.PATH ?? DEFAULT_PATH].join(delimiter);
  const wish = buildWish(deps, order, preset, env);
  // Over the protocol the agent learns of the server when its session is created.
  const setUp = preset?.setUpRun({ ...wish, ...(command.transport === 'acp' ? { mcp: null } : {}) });
  if (order.gateway !== null && located.at === null) {
    const override = preset?.findOverride?.(Object.keys(setUp?.env ?? {}), { env, cwd: placement.cwd });
    if (override != null) throw unroutableError(agent, override);
  }
  await writeSetupFiles(deps, wish.folder, setUp);
  const whole = addOptions(argv, located, setUp?.args ?? []);
  const spec = {
    runDir: folder,
    runId,
    argv: command.transport === 'acp' ? wrapInAcpHost(deps.svc, whole, input) : whole,
    cwd: placement.cwd,
    env: { ...env, ...setUp?.env },
    logFile: logFile(deps, sessionId),
    ...(stdinFile === undefined ? {} : { stdinFile }),
  };
  const { worktree } = placement;
  return startConfined(deps, { run, profile, worktree }, spec, {
    programs: listPrograms(located),
    preset,
  });
}

/** The files by which the agent finds `svc mcp`, the gateway and our hooks. */
function buildWish(
  deps: Pick<LocalRunnerDeps, 'svc' | 'paths'>,
  { run, agent, gateway }: StartOrder<LocalPlacement>,
  preset: Preset | null,
  env: RunWish['env'],
): RunWish {
  const [command, ...args] = deps.svc ?? [];
  const ours = (...words: string[]) => ({ command: command ?? '', args: [...args, ...words] });
  const hook = (event: HookEvent) => ours('hook', event, '--agent', preset?.name ?? agent);
  return {
    mcp: command === undefined ? null : { ...ours('mcp'), env: {} },
    gateway,
    hooks:
      command === undefined
        ? null
        : {
            'pre-write': hook('pre-write'),
            'post-tool': hook('post-tool'),
            'pre-compact': hook('pre-compact'),
            'session-start': hook('session-start'),
          },
    folder: agentFolder(deps, run.sessionId),
    env,
  };
}

async function writeSetupFiles(
  { paths }: Pick<LocalRunnerDeps, 'paths'>,
  folder: string,
  setUp: RunSetup | undefined,
): Promise<void> {
  for (const { path, text } of setUp?.files ?? []) {
    makePrivateFolder(paths.agents, folder);
    await writeFreshFile(folder, path, text);
  }
}

async function writeTexts(
  deps: Pick<LocalRunnerDeps, 'paths'>,
  { run: { sessionId }, placement, texts, worker, agentSession }: StartOrder<LocalPlacement>,
): Promise<RunInput> {
  const top = placement.worktree ?? sessionFolder(deps, sessionId);
  const where = { ...placement, sessionId };
  const folder = briefFolder(deps, where);
  const promptFile = join(folder, 'prompt.md');
  await writeFreshFile(top, promptFile, texts.prompt);
  await writeFreshFile(top, briefFile(deps, where), texts.brief);
  const notes = notesFile(deps, where);
  // An earlier run may have left outdated ones.
  if (texts.notes !== null || existsSync(notes))
    await writeFreshFile(top, notes, texts.notes ?? 'Nothing is remembered about this task.\n');
  if (texts.resumption === null)
    return { text: texts.prompt, file: promptFile, name: worker, agentSession: null };
  const file = join(folder, 'go-on.md');
  await writeFreshFile(top, file, texts.resumption);
  return { text: texts.resumption, file, name: worker, agentSession };
}
