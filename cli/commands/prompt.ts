import type { Flag } from '../command.ts';

/** Of the commands that say what an agent is told. */
export const promptFlag = {
  type: 'string',
  short: 'p',
  about: 'what the agent is told; - reads standard input',
} as const satisfies Flag;

/** What was given with it. */
export async function promptOf<G extends string | undefined>(
  given: G,
  stdin: NodeJS.ReadStream,
): Promise<G | string> {
  if (given !== '-') return given;
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
