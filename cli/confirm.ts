import { createInterface } from 'node:readline/promises';
import { toPrintable } from '../engine/core/base/text.ts';

interface Terminal {
  stdin: NodeJS.ReadStream;
  stderr: NodeJS.WriteStream;
  signal: AbortSignal;
}

/** Reads one line that a person types at a terminal; empty after Ctrl-C or Ctrl-D. */
export async function askForLine({ stdin, stderr, signal }: Terminal, question: string): Promise<string> {
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return (await lines.question(`${toPrintable(question, { lines: true })} `, { signal })).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ABORT_ERR') throw error;
    // The cursor is still behind the question.
    stderr.write('\n');
    return '';
  } finally {
    lines.close();
  }
}

/** Asks a person at a terminal; every answer except y and yes is no. */
export const askForYes = async (terminal: Terminal, question: string): Promise<boolean> =>
  /^y(?:es)?$/i.test(await askForLine(terminal, `${question} [y/N]`));
