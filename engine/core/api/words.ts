import {
  nameCommand,
  type OperationMention,
  parameterOf,
  Sentence,
  type SentenceWords,
} from '../base/sentence.ts';
import { MANIFEST } from './manifest.ts';

// A failing command reports itself in these words: this module loads nothing else.

/** The reader of a sentence: a person who types commands, an agent that calls tools, or either of them. */
export type SentenceReader = 'commands' | 'tools' | 'anyone';

const TOOLS = new Set(MANIFEST);

/** Returns the tool call of agents for it, with arguments; null if they have none. */
function nameTool(mention: OperationMention): string | null {
  const { operation, on, options } = mention;
  const parameter = parameterOf(mention);
  if (parameter !== null) return parameter;
  const tool = operation.replace('.', '_');
  if (!TOOLS.has(tool)) return null;
  return [tool, ...on, ...Object.entries(options).map(([name, value]) => `${name}=${value}`)].join(' ');
}

/** Names a call for stored text, such as a message, where code spans mark names. */
function nameForAnyone(mention: OperationMention): string {
  const tool = nameTool(mention);
  const command = `\`${nameCommand(mention)}\``;
  return tool === null ? command : `\`${tool}\` or ${command}`;
}

const NAMES: Readonly<Record<SentenceReader, (mention: OperationMention) => string>> = {
  commands: nameCommand,
  tools: (mention) => nameTool(mention) ?? nameCommand(mention),
  anyone: nameForAnyone,
};

/** Renders a sentence with the reader's own names. */
export const renderWords = (words: SentenceWords, reader: SentenceReader): string =>
  words instanceof Sentence ? words.render(NAMES[reader]) : words;
