/** Defines agent programs: presets, the meaning of their output, and which of them get work. */
export { type AgentCircuits, createCircuits, type OpenCircuit } from './circuit.ts';
export {
  buildCommand,
  type CommandExpectation,
  canResumeSession,
  createReader,
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
export type { ReadingTime } from './reading-time.ts';
export {
  type AgentAuth,
  type AgentChoice,
  type AgentCommand,
  type AgentOverrides,
  type AgentRegistry,
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
  type StreamUsage,
} from './streams/stream.ts';
export { splitCommand } from './template.ts';
