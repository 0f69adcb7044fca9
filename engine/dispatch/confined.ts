import { join } from 'node:path';
import type { Preset } from '../agents/presets/index.ts';
import type { RunSocket } from '../runner/index.ts';
import type { RunningProcess, StartSpec } from '../runner/processes/index.ts';
import type { Session } from '../sessions/index.ts';
import { SEAT_FOLDER } from '../workspace/seat-folder.ts';
import type { DispatchDeps } from './context.ts';
import { dataFolder, runDir, sessionDir } from './folders.ts';

/** The run's own way to the engine, opened when it is not yet; null for a run that is not confined. */
export async function seatOfRun(
  deps: DispatchDeps,
  { sessionId, profile }: Session,
  runId: string,
): Promise<RunSocket | null> {
  // As the run began, whatever the configuration says meanwhile.
  if (profile !== 'strict') return null;
  const folder = join(runDir(deps, sessionId, runId), 'seat');
  return deps.runSockets.open({ sessionId, runId }, folder, SEAT_FOLDER);
}

/**
 * Starts a run, confined when its profile says so. Throws `tool_missing` and `confinement_unavailable`: it is then not
 * started at all.
 * @param agent the agent's program, which need not be the one that is started, and its preset
 */
export async function startConfined(
  deps: DispatchDeps,
  session: Session,
  spec: StartSpec,
  agent: { program: string; preset: Preset | null },
): Promise<RunningProcess> {
  const seat = await seatOfRun(deps, session, spec.runId);
  if (seat === null) return deps.processes.start(spec);
  try {
    if (session.worktree === null)
      await deps.worktrees.listRepositories(spec.cwd, sessionDir(deps, session.sessionId), dataFolder(deps));
    const argv = await deps.confinement.wrap({
      argv: spec.argv,
      program: agent.program,
      cwd: spec.cwd,
      env: spec.env,
      worktree: session.worktree,
      sessionFolder: sessionDir(deps, session.sessionId),
      seatFolder: seat.folder,
      home: agent.preset?.home ?? null,
    });
    return await deps.processes.start({ ...spec, argv, isConfined: true });
  } catch (error) {
    await seat.close();
    throw error;
  }
}
