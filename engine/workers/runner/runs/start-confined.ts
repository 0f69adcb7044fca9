import { join } from 'node:path';
import { SEAT_FOLDER, SEAT_VARIABLE } from '../../../core/workspace/seat-folder.ts';
import type { Preset } from '../../agents/presets/index.ts';
import type { RunningProcess, StartSpec } from '../processes/index.ts';
import type { RunSocket } from '../run-sockets.ts';
import type { LocalRunnerDeps } from './deps.ts';
import { runFolder, sessionFolder } from './folders.ts';
import type { RunName } from './runner.ts';

/** Opens the run's own connection to the engine, or finds the open one; null for a run that needs none. */
export async function openRunSocket(
  deps: Pick<LocalRunnerDeps, 'runSockets' | 'paths' | 'isEngineElsewhere' | 'confinement'>,
  run: RunName,
  profile: string | null,
): Promise<RunSocket | null> {
  // As at the start of the run, regardless of later configuration changes.
  const isConfined = profile === 'strict';
  if (!isConfined && !deps.isEngineElsewhere) return null;
  const folder = join(runFolder(deps, run), 'seat');
  const seenAt = isConfined ? deps.confinement.findSeat(folder) : folder;
  return deps.runSockets.open(run, folder, seenAt === folder ? null : seenAt);
}

/**
 * Starts a run, confined if its profile requires it. Throws `tool_missing` and `confinement_unavailable`: then it is
 * not started.
 * @param agent the programs of its command, which may differ from the started one, and its preset
 */
export async function startConfined(
  deps: Pick<
    LocalRunnerDeps,
    'runSockets' | 'isEngineElsewhere' | 'paths' | 'processes' | 'worktrees' | 'confinement'
  >,
  { run, profile, worktree }: { run: RunName; profile: string | null; worktree: string | null },
  spec: StartSpec,
  agent: { programs: readonly string[]; preset: Preset | null },
): Promise<RunningProcess> {
  const socket = await openRunSocket(deps, run, profile);
  const folder = sessionFolder(deps, run.sessionId);
  try {
    if (socket === null) return await deps.processes.start(spec);
    const isConfined = profile === 'strict';
    const seat = isConfined ? deps.confinement.findSeat(socket.folder) : socket.folder;
    // The mounted folder is where every client looks first.
    const isNamed = deps.isEngineElsewhere || seat !== SEAT_FOLDER;
    const env = isNamed ? { ...spec.env, [SEAT_VARIABLE]: seat } : spec.env;
    if (!isConfined) return await deps.processes.start({ ...spec, env });
    if (worktree === null) await deps.worktrees.listRepositories(spec.cwd, folder, deps.paths.agents);
    const argv = await deps.confinement.wrap({
      argv: spec.argv,
      programs: agent.programs,
      cwd: spec.cwd,
      env,
      worktree,
      sessionFolder: folder,
      seatFolder: socket.folder,
      home: agent.preset?.home ?? null,
    });
    return await deps.processes.start({ ...spec, env, argv, isConfined: true });
  } catch (error) {
    await socket?.close();
    throw error;
  }
}
