/** What is known of agent programs: presets, what their output means, which are given work. */
export { type Circuit, type Circuits, createCircuits } from './circuit.ts';
export {
  behindHost,
  commandOf,
  commandOfSession,
  type Expectation,
  expectationOf,
  presetFor,
  presetOf,
  readerFor,
  type Told,
} from './command.ts';
export { failureOf } from './failures.ts';
export type { AgentNotify } from './notify-entry.ts';
export { findProgram } from './program.ts';
export {
  type AgentChoice,
  type AgentCommand,
  type AgentOverrides,
  type Agents,
  createAgents,
  type ProjectChoice,
} from './registry.ts';
export { oneLine } from './streams/json-lines.ts';
export { tellsLoss } from './streams/lost.ts';
export { keptText } from './streams/recent.ts';
export {
  END_CODES,
  NO_FACTS,
  type PlanEntry,
  type StreamFacts,
  type StreamReader,
  type Usage,
} from './streams/stream.ts';
export { tokenise } from './template.ts';
