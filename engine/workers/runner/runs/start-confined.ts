import { join } from 'node:path';
import { SEAT_FOLDER } from '../../../core/workspace/seat-folder.ts';
import type { Preset } from '../../agents/presets/index.ts';
import type { RunningProcess, StartSpec } from '../processes/index.ts';
import type { RunSocket } from '../run-sockets.ts';
import type { LocalRunnerDeps } from './deps.ts';
import { runFolder, sessionFolder } from './folders.ts';
import type { RunName } from './runner.ts';

/** Opens the run's own connection to the engine, or finds the open one; null for a run that is not confined. */
export async function openRunSocket(
  deps: Pick<LocalRunnerDeps, 'runSockets' | 'paths'>,
  run: RunName,
  profile: string | null,
): Promise<RunSocket | null> {
  // As at the start of the run, regardless of later configuration changes.
  if (profile !== 'strict') return null;
  return deps.runSockets.open(run, join(runFolder(deps, run), 'seat'), SEAT_FOLDER);
}

/**
 * Starts a run, confined if its profile requires it. Throws `tool_missing` and `confinement_unavailable`: then it is
 * not started.
 * @param agent the programs of its command, which may differ from the started one, and its preset
 */
export async function startConfined(
  deps: Pick<LocalRunnerDeps, 'runSockets' | 'paths' | 'processes' | 'worktrees' | 'confinement'>,
  { run, profile, worktree }: { run: RunName; profile: string | null; worktree: string | null },
  spec: StartSpec,
  agent: { programs: readonly string[]; preset: Preset | null },
): Promise<RunningProcess> {
  const socket = await openRunSocket(deps, run, profile);
  if (socket === null) return deps.processes.start(spec);
  const folder = sessionFolder(deps, run.sessionId);
  try {
    if (worktree === null) await deps.worktrees.listRepositories(spec.cwd, folder, deps.paths.agents);
    const argv = await deps.confinement.wrap({
      argv: spec.argv,
      programs: agent.programs,
      cwd: spec.cwd,
      env: spec.env,
      worktree,
      sessionFolder: folder,
      seatFolder: socket.folder,
      home: agent.preset?.home ?? null,
    });
    return await deps.processes.start({ ...spec, argv, isConfined: true });
  } catch (error) {
    await socket.close();
    throw error;
  }
}
