import { type Mention, nameCommand, parameterOf, Sentence, type Words } from '../base/sentence.ts';
import { MANIFEST } from './manifest.ts';

// A command that fails says so in these words: this module loads nothing else.

/** Who reads a sentence: somebody who types commands, an agent that calls tools, or either of them. */
export type Reader = 'commands' | 'tools' | 'anyone';

const TOOLS = new Set(MANIFEST);

/** The tool by which agents do it, with what it is called on; null where they have none. */
function nameTool(mention: Mention): string | null {
  const { operation, on, options } = mention;
  const parameter = parameterOf(mention);
  if (parameter !== null) return parameter;
  const tool = operation.replace('.', '_');
  if (!TOOLS.has(tool)) return null;
  return [tool, ...on, ...Object.entries(options).map(([name, value]) => `${name}=${value}`)].join(' ');
}

/** In what is kept for later, such as a message, code spans tell names from words. */
function nameForAnyone(mention: Mention): string {
  const tool = nameTool(mention);
  const command = `\`${nameCommand(mention)}\``;
  return tool === null ? command : `\`${tool}\` or ${command}`;
}

const NAMES: Readonly<Record<Reader, (mention: Mention) => string>> = {
  commands: nameCommand,
  tools: (mention) => nameTool(mention) ?? nameCommand(mention),
  anyone: nameForAnyone,
};

/** Puts the reader's own words into a sentence. */
export const renderWords = (words: Words, reader: Reader): string =>
  words instanceof Sentence ? words.render(NAMES[reader]) : words;
