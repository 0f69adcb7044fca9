import type { EngineClient } from '../engine/index.ts';
import type { PaneId } from './pane-ids.ts';

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
  /** Opens the form of a new task as soon as its choices are known. */
  firstTask?: boolean;
}

export interface DashboardEnd {
  /** Lines to print on the terminal after the dashboard has closed. */
  farewell: readonly string[];
}
