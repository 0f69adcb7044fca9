import { createInterface } from 'node:readline/promises';
import { printable } from '../engine/index.ts';

/** Asks a person at a terminal; everything but y and yes is no. */
export async function confirm(
  { stdin, stderr, signal }: { stdin: NodeJS.ReadStream; stderr: NodeJS.WriteStream; signal: AbortSignal },
  question: string,
): Promise<boolean> {
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return /^y(?:es)?$/i.test(
      (await lines.question(`${printable(question, { lines: true })} [y/N] `, { signal })).trim(),
    );
  } finally {
    lines.close();
  }
}
