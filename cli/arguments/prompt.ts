import { countUnseen, describeUnseen, formatCount, toPrintable } from '../../engine/core/base/text.ts';
import type { FlagSpec } from '../command.ts';
import type { PaintFunction } from '../paint.ts';

/** The flag of commands that take a prompt. */
export const promptFlag = {
  type: 'string',
  short: 'p',
  about: 'prompt for the agent; - reads standard input',
} as const satisfies FlagSpec;

/** Reads the prompt of a command, from its flag or standard input. */
export async function readPrompt<G extends string | undefined>(
  given: G,
  stdin: NodeJS.ReadStream,
): Promise<G | string> {
  if (given !== '-') return given;
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

/** Warns of a text that is not what it looks like; null for any other text. */
export function warnOfUnseen(name: string, text: string): string | null {
  const holds = describeUnseen(countUnseen(text));
  return holds === null ? null : `${name} ${holds}, each written by its number, such as \\x1b`;
}

/** Formats a prompt for a person who reads it before approving it. */
export function formatPrompt(prompt: string, paint: PaintFunction): string[] {
  const warning = warnOfUnseen('it', prompt);
  return [
    paint('strong', `prompt (${formatCount(prompt.length, 'character')})`),
    ...(warning === null ? [] : [paint('bad', warning)]),
    ...toPrintable(prompt, { lines: true })
      .split('\n')
      .map((line) => `  ${line}`),
  ];
}
