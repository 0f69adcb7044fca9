import type { EngineClient } from '../../engine/index.ts';
import type { TerminalOptions } from '../options.ts';
import type { WorkspacePlace } from './state.ts';

/** The dashboard of all workspaces of a machine. */
export interface AllDashboardOptions extends TerminalOptions {
  /** Those that there are when it is opened. */
  workspaces: readonly [WorkspacePlace, ...WorkspacePlace[]];
  /** svc.yaml of the workspace that the person is in; null for none. */
  here: string | null;
  /** Those that there are now. */
  listWorkspaces(): readonly WorkspacePlace[];
  /** The folder and the environment of programs that work in a workspace. */
  placeOf(workspace: WorkspacePlace): { cwd: string; env: NodeJS.ProcessEnv };
  /** Connects to the engine of a workspace. With `start`, starts one if none runs. */
  connect(workspace: WorkspacePlace, start: boolean): Promise<EngineClient>;
}
