import { findPreset, findPresetOfProgram, type Preset, withArguments } from './presets/index.ts';
import { findStartedCommand, type StartedCommand } from './starters.ts';
import { listArguments } from './template.ts';

/** The agent that a command starts. */
export interface LocatedAgent {
  /** The command without its redirection, with unfilled placeholders. */
  words: readonly string[];
  /** The actual program behind its starters, known or not. */
  started: StartedCommand;
  preset: Preset | null;
  /** Index of the word that takes the agent's options; null if that is unknown. */
  at: number | null;
}

/**
 * Finds the agent that a command starts: by its program, also behind `nice` and similar programs, otherwise by its
 * configured name. A program with another name takes the agent's options if the command gives it some.
 */
export const locateAgent = (template: string, agent: string): LocatedAgent =>
  locateAgentIn(listArguments(template), agent);

/** Does the same for the words of a command. */
export function locateAgentIn(words: readonly string[], agent: string): LocatedAgent {
  const started = findStartedCommand(words);
  const { at } = started;
  const preset = findPresetOfProgram(words[at] ?? '');
  if (preset !== null) return { words, started, preset, at };
  const named = findPreset(agent);
  return { words, started, preset: named, at: named !== null && hasOptionsOf(named, words) ? at : null };
}

/** Reports whether a command has an option that only this agent has. */
const hasOptionsOf = ({ unasked }: Preset, words: readonly string[]): boolean =>
  unasked.some((option) => ` ${words.join(' ')} `.includes(` ${option} `));

/** Adds options for a located agent, if it takes them. */
export const addOptions = (
  argv: readonly string[],
  { at }: Pick<LocatedAgent, 'at'>,
  options: readonly string[],
): string[] => (at === null ? [...argv] : [...argv.slice(0, at), ...withArguments(argv.slice(at), options)]);

/** Lists the programs that a command needs: the started one, and the agent's own if it is another. */
export const listPrograms = ({ words, at }: LocatedAgent): string[] => [
  ...new Set([words[0] ?? '', words[at ?? 0] ?? '']),
];
