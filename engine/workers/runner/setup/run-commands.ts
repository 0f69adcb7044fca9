import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Clock, rfc3339 } from '../../../core/base/clock.ts';
import { SvcError } from '../../../core/base/errors.ts';
import { makePrivateFolder } from '../../../core/base/private-files.ts';
import { sentence } from '../../../core/base/sentence.ts';
import { splitCommand } from '../../agents/index.ts';
import { findLocalPath, remoteSessionError, type Session } from '../../sessions/index.ts';
import {
  createLogWatch,
  type ExitResult,
  findTailOffset,
  type ProcessLogPart,
  type RunningProcess,
  readLog,
} from '../processes/index.ts';
import { appendLogNote } from './commands.ts';
import { buildSetupEnvironment, runCommandsFolder, type SetupDeps } from './deps.ts';
import { leadsInto } from './leads-into.ts';
import { type RunCommand, readProjectSetup, requireConsentedSetup } from './projects.ts';

/** More output of a command is cut to its newest part, bytes. */
const LOG_LIMIT = 8 * 1024 * 1024;

/** A `run` command of a project, as it is in the worktree of a session. */
export interface RunCommandState extends RunCommand {
  /** `idle`: not started since the engine started. */
  state: 'idle' | 'running' | 'ended';
  /** `SVC_PORT` of the worktree; null if no port was free. */
  port: number | null;
  /** RFC 3339; null while idle. */
  startedAt: string | null;
  /** Null unless ended with one. */
  exitCode: number | null;
  exitSignal: string | null;
  /** The start of its output in its log, in bytes. */
  logFrom: number;
}

/** The log of a command, followed like that of a session. */
export interface RunCommandLog {
  read(part: { from: number; maxBytes: number; ended: boolean }): Promise<ProcessLogPart>;
  findTail(lines: number): number;
  hasEnded(): boolean;
}

/**
 * Runs commands of projects in the worktrees of sessions: a development server, a preview. They belong to the engine:
 * they end with it, and before their worktree is removed.
 */
export interface RunCommands {
  /** Lists the commands of a session's project. */
  list(session: Session): RunCommandState[];
  /**
   * Starts a command, by default the project's only one; one that runs already is returned unchanged. Throws
   * `not_found`, `usage`, `conflict` without a worktree, `consent_missing`, `program_failed` if it cannot be started.
   */
  start(session: Session, name: string | undefined): Promise<RunCommandState>;
  /** Stops a command with all its processes; null for one that does not run. */
  stop(session: Session, name: string): Promise<RunCommandState | null>;
  openLog(session: Session, name: string): RunCommandLog;
  /** Stops the commands in a worktree, and removes their logs. */
  endInWorktree(worktree: string): Promise<void>;
  close(): Promise<void>;
}

interface StartedCommand {
  session: Session;
  command: RunCommand;
  startedAt: string;
  logFrom: number;
  runId: string;
  process: RunningProcess;
  exit: ExitResult | null;
  /** Resolves once no process of it is left. */
  over: Promise<void>;
}

interface RunCommandsDeps extends Omit<SetupDeps, 'worktrees' | 'endCommands' | 'teardownMs'> {
  clock: Pick<Clock, 'now'>;
  /** Returns the port of a worktree that was created before worktrees had one. */
  givePort(session: Session): Promise<number | null>;
  /** Called after a command has started or ended. */
  onChange(session: Session, state: RunCommandState): void;
}

type Placed = Omit<Session, 'worktree' | 'cwd'> & { worktree: string; cwd: string };

function requireWorktree(session: Session): Placed {
  const { sessionId, worktree, cwd, inplace } = session;
  if (session.runner !== null) throw remoteSessionError(session);
  if (typeof worktree === 'string' && typeof cwd === 'string' && existsSync(cwd))
    return { ...session, worktree, cwd };
  throw new SvcError(
    'conflict',
    inplace
      ? `${sessionId} worked in the project's own folder: start the command there yourself`
      : `${sessionId} has no worktree ${worktree === null && session.state !== 'ended' ? 'yet' : 'any more'}`,
    { hint: sentence`{worktree.status} shows the existing ones` },
  );
}

/** Chooses a command by its name; without a name the only one. */
function chooseCommand(
  project: { id: string; run: readonly RunCommand[] },
  name: string | undefined,
): RunCommand {
  const { id, run } = project;
  const names = run.map((each) => each.name).join(', ');
  if (run.length === 0)
    throw new SvcError('not_found', `the project ${id} has no run commands`, {
      hint: 'give its entry in projects one, such as run: {dev: npm run dev}',
    });
  const found = name === undefined && run.length === 1 ? run[0] : run.find((each) => each.name === name);
  if (found !== undefined) return found;
  throw name === undefined
    ? new SvcError('usage', `the project ${id} has several run commands: ${names}`)
    : new SvcError('not_found', `the project ${id} has no run command ${JSON.stringify(name)}`, {
        hint: `it has ${names}`,
      });
}

export function createRunCommands(deps: RunCommandsDeps): RunCommands {
  const { processes, agentsDir } = deps;
  /** By worktree and name. */
  const started = new Map<string, StartedCommand>();
  const starting = new Map<string, Promise<RunCommandState>>();
  let isClosed = false;
  const getKey = (worktree: string, name: string): string => `${worktree}\n${name}`;
  const getFolder = (worktree: string): string => join(runCommandsFolder(agentsDir), basename(worktree));
  const getLogFile = (worktree: string, name: string): string => join(getFolder(worktree), `${name}.log`);

  function describe(
    { worktree: path, port }: Pick<Session, 'worktree' | 'port'>,
    command: RunCommand,
  ): RunCommandState {
    const worktree = findLocalPath(path);
    const found = worktree === null ? undefined : started.get(getKey(worktree, command.name));
    return {
      ...command,
      state: found === undefined ? 'idle' : found.exit === null ? 'running' : 'ended',
      port: found?.session.port ?? port,
      startedAt: found?.startedAt ?? null,
      exitCode: found?.exit?.code ?? null,
      exitSignal: found?.exit?.signal ?? null,
      logFrom: found?.logFrom ?? 0,
    };
  }

  /** Follows a started command to its end, and ends what it leaves behind. */
  async function supervise(entry: StartedCommand, runDir: string, logFile: string): Promise<void> {
    const { command } = entry;
    const watch = createLogWatch({ file: logFile, limitBytes: LOG_LIMIT });
    const exit = await entry.process.exited;
    await processes.sweep(entry.runId, entry.process.pidStart);
    watch.close();
    rmSync(runDir, { recursive: true, force: true });
    const how =
      exit.code !== null ? `exit code ${exit.code}` : `ended by ${exit.signal ?? 'an unknown cause'}`;
    // The worktree, and with it the log, may be gone.
    if (existsSync(logFile)) appendLogNote(logFile, 'run', `${command.name}: ${how}`);
    entry.exit = exit;
    if (!isClosed) deps.onChange(entry.session, describe(entry.session, command));
  }

  async function launch(session: Placed, command: RunCommand): Promise<RunCommandState> {
    const { worktree, cwd } = session;
    const { name } = command;
    if (!leadsInto(worktree, cwd)) throw new SvcError('path_outside', `${cwd} leads out of the worktree`);
    const runId = randomUUID();
    const runDir = join(getFolder(worktree), runId);
    const logFile = getLogFile(worktree, name);
    makePrivateFolder(agentsDir, runDir);
    const env = buildSetupEnvironment(deps, session);
    const logFrom = findTailOffset(logFile, 0);
    const port = session.port === null ? '' : ` (SVC_PORT=${session.port})`;
    appendLogNote(logFile, 'run', `${name}: ${command.command}${port}`);
    const argv = await deps.confine(session, { argv: splitCommand(command.command), cwd, env });
    const isConfined = session.profile === 'strict';
    const process = await processes
      .start({ runDir, runId, argv, cwd, env, logFile, isConfined })
      .catch((thrown: unknown) => {
        rmSync(runDir, { recursive: true, force: true });
        if (!(thrown instanceof SvcError) || thrown.code !== 'agent_not_found') throw thrown;
        throw new SvcError('tool_missing', `${JSON.stringify(command.command)}: no such program on PATH`, {
          cause: thrown,
        });
      });
    const startedAt = rfc3339(deps.clock.now());
    const entry: StartedCommand = {
      session,
      command,
      startedAt,
      logFrom,
      runId,
      process,
      exit: null,
      over: Promise.resolve(),
    };
    entry.over = supervise(entry, runDir, logFile).catch((error: unknown) =>
      deps.log.warn({ error, name }, 'a run command could not be followed to its end'),
    );
    started.set(getKey(worktree, name), entry);
    const state = describe(session, command);
    deps.onChange(session, state);
    return state;
  }

  async function stopEntry({ process, runId, over }: StartedCommand): Promise<void> {
    await processes.stop({ ...process, runId }, { graceMs: deps.graceMs });
    await over;
  }

  /** Stops the commands whose key begins so, those that are being started included; returns their keys. */
  async function stopAll(prefix: string): Promise<string[]> {
    const isMeant = (key: string): boolean => key.startsWith(prefix);
    await Promise.allSettled([...starting].filter(([key]) => isMeant(key)).map(([, start]) => start));
    const meant = [...started].filter(([key]) => isMeant(key));
    await Promise.allSettled(
      meant.filter(([, { exit }]) => exit === null).map(([, entry]) => stopEntry(entry)),
    );
    return meant.map(([key]) => key);
  }

  return {
    list: (session) =>
      readProjectSetup(deps.where(), session.project).run.map((each) => describe(session, each)),

    async start(session, name) {
      const placed = requireWorktree(session);
      const command = chooseCommand(readProjectSetup(deps.where(), session.project), name);
      requireConsentedSetup(deps.where(), session.project);
      const key = getKey(placed.worktree, command.name);
      if (started.get(key)?.exit === null) return describe(placed, command);
      if (isClosed) throw new SvcError('conflict', 'the engine is stopping');
      const under =
        starting.get(key) ??
        deps
          .givePort(placed)
          .then((port) => launch({ ...placed, port }, command))
          .finally(() => starting.delete(key));
      starting.set(key, under);
      return under;
    },

    async stop(session, name) {
      const worktree = findLocalPath(session.worktree);
      const key = worktree === null ? null : getKey(worktree, name);
      if (key === null) return null;
      await starting.get(key)?.catch(() => undefined);
      const found = started.get(key);
      if (found === undefined || found.exit !== null) return null;
      await stopEntry(found);
      return describe(session, found.command);
    },

    openLog(session, name) {
      const { worktree } = requireWorktree(session);
      const file = getLogFile(worktree, name);
      return {
        read: async ({ from, maxBytes, ended }) => readLog(file, { from, maxBytes, ended }),
        findTail: (lines) => findTailOffset(file, lines),
        hasEnded: () => started.get(getKey(worktree, name))?.exit !== null,
      };
    },

    async endInWorktree(worktree) {
      for (const key of await stopAll(getKey(worktree, ''))) started.delete(key);
      rmSync(getFolder(worktree), { recursive: true, force: true });
    },

    async close() {
      isClosed = true;
      await stopAll('');
    },
  };
}

/** Lists the runs that an earlier engine left: the folders of commands that no one has removed. */
export function listAbandonedRuns(agentsDir: string): { folder: string; runId: string }[] {
  const top = runCommandsFolder(agentsDir);
  if (!existsSync(top)) return [];
  return readdirSync(top)
    .flatMap((worktree) => readdirSync(join(top, worktree)).map((name) => join(top, worktree, name)))
    .filter((path) => /^[0-9a-f-]{36}$/.test(basename(path)))
    .map((folder) => ({ folder, runId: basename(folder) }));
}
