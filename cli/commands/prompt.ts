import type { Flag } from '../command.ts';

/** The flag of commands that take a prompt. */
export const promptFlag = {
  type: 'string',
  short: 'p',
  about: 'what the agent is told; - reads standard input',
} as const satisfies Flag;

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
