/** Defines agent programs: presets, the meaning of their output, and which of them get work. */
export { type Circuit, type Circuits, createCircuits } from './circuit.ts';
export {
  buildCommand,
  canResumeSession,
  createReader,
  type Expectation,
  findCommandOfSession,
  findExpectation,
  findOutputFormat,
  findPresetOfCommand,
  type OutputFormat,
  type RunInput,
  wrapInAcpHost,
} from './command.ts';
export { findFailure } from './failures.ts';
export { addOptions, listPrograms, locateAgent } from './locate-agent.ts';
export type { AgentNotify } from './notify-entry.ts';
export { findProgram } from './program.ts';
export type { ReadingTime } from './reading-time.ts';
export {
  type AgentChoice,
  type AgentCommand,
  type AgentOverrides,
  type Agents,
  type Auth,
  createAgents,
  type ProjectChoice,
} from './registry.ts';
export { checkRoutable, findRouteObstacle, unroutableError } from './route-obstacle.ts';
export { toOneLine } from './streams/json-lines.ts';
export { cutToKeep } from './streams/recent.ts';
export { isSessionLoss } from './streams/session-loss.ts';
export {
  END_CODES,
  NO_FACTS,
  type PlanEntry,
  type StreamFacts,
  type StreamReader,
  type Usage,
} from './streams/stream.ts';
export { splitCommand } from './template.ts';
