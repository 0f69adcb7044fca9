import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { SvcError } from '../../engine/core/base/errors.ts';
import { runProgram } from '../../engine/core/base/run-program.ts';
import { agentPrograms, configuration, confinedStart, findLocalPath } from '../../engine/index.ts';
import { getSvcCommand } from '../self.ts';
import type { AgentStart } from './interactive.ts';
import type { ShownSession } from './session-text.ts';

/** The file descriptor that the sandbox reads its filter from; see `runInForeground`. */
const FILTER_FD = 3;

/** A start inside the sandbox of a session. */
export interface ConfinedStart {
  argv: string[];
  env: Record<string, string>;
  filter: Buffer | null;
}

/** The command prefix that restores ignored signals for a program, if available. */
async function findSignalReset(env: NodeJS.ProcessEnv): Promise<string[]> {
  const words = ['env', '--default-signal=INT,QUIT'];
  const { exitCode } = await runProgram('env', [...words.slice(1), 'true'], { env });
  return exitCode === 0 ? words : [];
}

/**
 * Prepares an agent's start for a person in the sandbox of its runs: with the session's private folders, so that the
 * agent finds its conversation, but without access to the engine. Throws like a run that cannot be confined.
 */
export async function confineStart(
  row: Pick<ShownSession, 'session_id' | 'worktree' | 'repository'>,
  start: AgentStart,
  { cwd, env, file }: { cwd: string; env: NodeJS.ProcessEnv; file: string },
): Promise<ConfinedStart> {
  const { resolveDataPaths, loadConfig, resolveMachineHome, listSecretVariables } = await configuration();
  const { createConfinement, chooseTerminalGuard, buildWorkerEnvironment } = await confinedStart();
  const { addOptions, listPrograms, locateAgentIn } = await agentPrograms();
  const loaded = loadConfig({ file, env });
  const paths = resolveDataPaths(loaded);
  // The engine sees an unknown run, so it cannot pass for the Chair with a token that it finds.
  const own = { ...start.env, SVC_RUN_ID: randomUUID() };
  const given = buildWorkerEnvironment(env, own, listSecretVariables(loaded.config));
  const located = locateAgentIn(start.argv, start.preset);
  const { preset } = located;
  // It cannot save its settings inside and would keep asking; anything it trusts there can do no more than itself.
  const trusting = preset?.trustFolders?.([cwd, row.repository ?? cwd]) ?? [];
  try {
    const filter = await chooseTerminalGuard();
    const words = await createConfinement({
      env,
      root: loaded.root,
      configFile: file,
      paths,
      machineHome: resolveMachineHome(env),
      svc: getSvcCommand(),
    }).wrap({
      // Restores the signals that are ignored below.
      argv: [...(await findSignalReset(env)), ...addOptions(start.argv, located, trusting)],
      programs: listPrograms(located),
      cwd,
      env: given,
      worktree: findLocalPath(row.worktree),
      sessionFolder: join(paths.agents, row.session_id),
      seatFolder: null,
      home: preset?.home ?? null,
      endsWithParent: true,
      ...(filter === null ? {} : { filterFd: FILTER_FD }),
    });
    // Ctrl-C reaches every process on the terminal, and would end bubblewrap even if the agent handles it.
    return { argv: ['/bin/sh', '-c', 'trap "" INT QUIT; exec "$@"', 'svc', ...words], env: given, filter };
  } catch (thrown) {
    if (!(thrown instanceof SvcError)) throw thrown;
    const { code, message, hint, data } = thrown;
    const outside = '--outside opens it without a sandbox, including everything the worker left there';
    throw new SvcError(code, message, {
      cause: thrown,
      hint: hint === undefined ? outside : `${hint}; ${outside}`,
      data,
    });
  }
}
