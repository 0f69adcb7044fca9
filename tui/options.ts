import type { EngineClient } from '../engine/index.ts';
import type { PaneId } from './state/model.ts';

export interface DashboardOptions {
  env: NodeJS.ProcessEnv;
  /** In the workspace. */
  cwd: string;
  /** Program and arguments that start svc. */
  svc: readonly string[];
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  /** Connects to the engine; `start`: starting one when none runs. */
  connect(start: boolean): Promise<EngineClient>;
  /** No borders, no alternate screen: changes are appended as lines. */
  plain: boolean;
  /** Rings when something new waits. */
  bell: boolean;
  /** Aborted by SIGTERM and SIGINT: the dashboard closes. */
  signal: AbortSignal;
  /** What is selected when it opens. */
  select?: { pane: PaneId; id: string } | undefined;
}

export interface DashboardEnd {
  /** Lines to leave on the terminal. */
  farewell: readonly string[];
}
