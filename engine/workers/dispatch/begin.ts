import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import type { Task } from '../../board/tasks/index.ts';
import type { Placement, Session } from '../../bus/sessions/index.ts';
import { asSvcError, SvcError } from '../../errors.ts';
import { shellWord } from '../../text.ts';
import { presetOfProgram, type RunSetup, withArguments } from '../presets/index.ts';
import { MARK, type RunningProcess, workerEnvironment } from '../processes/index.ts';
import { renderCommand } from '../template.ts';
import type { CreatedWorktree } from '../worktrees/index.ts';
import { brief } from './brief.ts';
import type { DispatchDeps } from './context.ts';

/** Linux refuses one argument of 128 KiB or more; a longer prompt goes through its file. */
const MAX_ARGUMENT_BYTES = 120 * 1024;

export const sessionDir = (deps: Pick<DispatchDeps, 'paths'>, sessionId: string): string =>
  join(deps.paths.agents, sessionId);
export const logFile = (deps: Pick<DispatchDeps, 'paths'>, sessionId: string): string =>
  join(sessionDir(deps, sessionId), 'log');
export const runDir = (deps: Pick<DispatchDeps, 'paths'>, sessionId: string, runId: string): string =>
  join(sessionDir(deps, sessionId), runId);

/** Where the worker works: a worktree of its own, or the project's folder itself. */
export async function place(deps: DispatchDeps, session: Session): Promise<Placement> {
  const folder = deps.agents.folder(session.project);
  if (session.inplace) return placeInside(deps, folder);
  const made = await makeWorktree(deps, session, folder, `svc/${session.sessionId}`).catch(
    (error: unknown) => {
      const { code, message } = asSvcError(error);
      // The name is taken: another workspace in this repository, or one whose data folder was deleted, has an s-1 too.
      if (code === 'exists')
        return makeWorktree(deps, session, folder, `svc/${session.sessionId}-${randomHex()}`);
      if (code !== 'not_a_repository') throw error;
      throw new SvcError(code, message, {
        cause: error,
        hint: 'run git init and commit, or dispatch with --inplace to work in the folder itself',
      });
    },
  );
  return {
    repository: made.repository,
    worktree: made.path,
    cwd: made.cwd,
    branch: made.branch,
    base: made.base,
    baseCommit: made.baseCommit,
  };
}

const randomHex = (): string => randomBytes(2).toString('hex');

function makeWorktree(
  deps: DispatchDeps,
  session: Session,
  folder: string,
  branch: string,
): Promise<CreatedWorktree> {
  return deps.worktrees.create({
    repositoryPath: folder,
    projectPath: folder,
    worktreePath: join(deps.paths.worktrees, branch.slice('svc/'.length)),
    branch,
    ...(session.baseWanted === null ? {} : { base: session.baseWanted }),
  });
}

/** A folder outside any repository is fine here: then there is nothing to count at the end. */
async function placeInside(deps: DispatchDeps, folder: string): Promise<Placement> {
  const repository = await deps.worktrees.repositoryOf(folder).catch(() => null);
  return {
    repository: repository?.root ?? null,
    worktree: null,
    cwd: folder,
    branch: null,
    base: repository?.head ?? null,
    baseCommit: repository?.headCommit ?? null,
  };
}

/** Writes what the worker reads and starts its process. */
export async function launch(
  deps: DispatchDeps,
  session: Session,
  task: Task,
  runId: string,
  placement: Placement,
): Promise<RunningProcess> {
  const { sessionId } = session;
  const folder = runDir(deps, sessionId, runId);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const svc = await writeShim(deps, join(folder, 'bin'));
  const promptFile = await writeBriefs(deps, session, task, placement, svc);
  const template = deps.agents.template(session.agent);
  const tooLong = Buffer.byteLength(task.prompt) > MAX_ARGUMENT_BYTES;
  const { argv, stdinFile } = renderCommand(template, {
    prompt: tooLong
      ? `Your task is in the file ${promptFile}. Read all of it, then do what it says.`
      : task.prompt,
    prompt_file: promptFile,
    name: session.workerId,
  });
  const env = workerEnvironment(
    deps.env,
    {
      SVC_CONFIG: deps.configFile,
      SVC_TASK: task.taskId,
      SVC_SESSION: sessionId,
      SVC_ROLE: 'worker',
      SVC_AGENT: session.agent,
      SVC_NAME: session.workerId,
      SVC_SESSION_NAME: session.title,
      [MARK]: runId,
    },
    deps.secretNames(),
  );
  if (svc !== null) env.PATH = [dirname(svc), env.PATH ?? '/usr/local/bin:/usr/bin:/bin'].join(delimiter);
  const tools = toolsFor(deps, argv, env);
  return deps.processes.start({
    runDir: folder,
    runId,
    argv: withArguments(argv, tools?.args ?? []),
    cwd: placement.cwd,
    env: { ...env, ...tools?.env },
    logFile: logFile(deps, sessionId),
    ...(stdinFile === undefined ? {} : { stdinFile }),
  });
}

/** How the agent finds `svc mcp`, by its program: a preset of the user's own may run the same one. */
function toolsFor({ svc }: DispatchDeps, argv: readonly string[], env: NodeJS.ProcessEnv): RunSetup | null {
  const [command, ...args] = svc ?? [];
  const preset = presetOfProgram(argv[0] ?? '');
  if (command === undefined || preset === null) return null;
  const mcp = { command, args: [...args, 'mcp'], env: {} };
  return preset.setUp({ mcp, gateway: null, hooks: null, folder: '', env });
}

/**
 * `svc` for the worker's shells, whatever else is called so or not on the path: this very program, and so of the
 * engine's version. Null when the host has none.
 */
async function writeShim({ svc }: DispatchDeps, folder: string): Promise<string | null> {
  if (svc === null) return null;
  const file = join(folder, 'svc');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(file, `#!/bin/sh\nexec ${svc.map(shellWord).join(' ')} "$@"\n`, { mode: 0o700 });
  return file;
}

/** In a worktree the files lie in its `.svc/`, which git's own exclude list hides; else beside the log. */
async function writeBriefs(
  deps: DispatchDeps,
  session: Session,
  task: Task,
  placement: Placement,
  svc: string | null,
): Promise<string> {
  const folder =
    placement.worktree === null ? sessionDir(deps, session.sessionId) : join(placement.worktree, '.svc');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const promptFile = join(folder, 'prompt.md');
  await writeFile(promptFile, task.prompt, { mode: 0o600 });
  await writeFile(join(folder, 'TASK_BRIEF.md'), brief(session, task, placement, svc), { mode: 0o600 });
  return promptFile;
}
