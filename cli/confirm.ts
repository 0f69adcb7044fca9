import { createInterface } from 'node:readline/promises';
import { toPrintable } from '../engine/core/base/text.ts';

interface Terminal {
  stdin: NodeJS.ReadStream;
  stderr: NodeJS.WriteStream;
  signal: AbortSignal;
}

/** Reads one line that a person types at a terminal; null after Ctrl-C or Ctrl-D. */
export async function readTypedLine(
  { stdin, stderr, signal }: Terminal,
  question: string,
): Promise<string | null> {
  const lines = createInterface({ input: stdin, output: stderr });
  try {
    return (await lines.question(`${toPrintable(question, { lines: true })} `, { signal })).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ABORT_ERR') throw error;
    // The cursor is still behind the question.
    stderr.write('\n');
    return null;
  } finally {
    lines.close();
  }
}

/** Reads one line that a person types at a terminal; empty after Ctrl-C or Ctrl-D. */
export const askForLine = async (terminal: Terminal, question: string): Promise<string> =>
  (await readTypedLine(terminal, question)) ?? '';

/** Asks a person at a terminal. Enter means the usual answer; Ctrl-C, Ctrl-D and any other word mean no. */
export async function askForYes(
  terminal: Terminal,
  question: string,
  { usual = 'no' }: { usual?: 'yes' | 'no' } = {},
): Promise<boolean> {
  const typed = await readTypedLine(terminal, `${question} ${usual === 'yes' ? '[Y/n]' : '[y/N]'}`);
  return typed === '' ? usual === 'yes' : /^y(?:es)?$/i.test(typed ?? '');
}
