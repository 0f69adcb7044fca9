import type { EngineClient } from '../engine/index.ts';
import type { WorkspacePlace } from './all/state.ts';
import type { PaneId } from './state/pane-ids.ts';

/** The terminal, and the program on it. */
export interface TerminalOptions {
  env: NodeJS.ProcessEnv;
  /** The command line that starts svc. */
  svc: readonly string[];
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  /** Rings the terminal's bell when something new waits. */
  bell: boolean;
  /** Closes the dashboard. SIGTERM and SIGINT abort it. */
  signal: AbortSignal;
}

export interface DashboardOptions extends TerminalOptions {
  /** A folder in the workspace. */
  cwd: string;
  /** Connects to the engine. With `start`, starts one if none runs. */
  connect(start: boolean): Promise<EngineClient>;
  /** No borders, no alternate screen: changes are appended as lines. */
  plain: boolean;
  /** The row to select at the start. */
  select?: { pane: PaneId; id: string } | undefined;
}

/** The dashboard of all workspaces of a machine. */
export interface AllDashboardOptions extends TerminalOptions {
  /** The workspaces known at the start. */
  workspaces: readonly [WorkspacePlace, ...WorkspacePlace[]];
  /** svc.yaml of the workspace that the person is in; null for none. */
  here: string | null;
  /** Returns the workspaces known now. */
  listWorkspaces(): readonly WorkspacePlace[];
  /** The folder and the environment of programs that work in a workspace. */
  placeOf(workspace: WorkspacePlace): { cwd: string; env: NodeJS.ProcessEnv };
  /** Connects to the engine of a workspace. With `start`, starts one if none runs. */
  connect(workspace: WorkspacePlace, start: boolean): Promise<EngineClient>;
}

export interface DashboardEnd {
  /** Lines to print on the terminal after the dashboard has closed. */
  farewell: readonly string[];
}
