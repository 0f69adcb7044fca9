import { createInterface } from 'node:readline/promises';
import { printable } from '../engine/index.ts';

interface Terminal {
  stdin: NodeJS.ReadStream;
  stderr: NodeJS.WriteStream;
  signal: AbortSignal;
}

/** What a person types at a terminal, as one line. */
export async function askFor({ stdin, stderr, signal }: Terminal, question: string): Promise<string> {
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return (await lines.question(`${printable(question, { lines: true })} `, { signal })).trim();
  } finally {
    lines.close();
  }
}

/** Asks a person at a terminal; everything but y and yes is no. */
export const confirm = async (terminal: Terminal, question: string): Promise<boolean> =>
  /^y(?:es)?$/i.test(await askFor(terminal, `${question} [y/N]`));
