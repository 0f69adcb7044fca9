import { toPrintable } from '../engine/core/base/text.ts';

const LONGEST_INPUT = 4096;

interface Terminal {
  stdin: NodeJS.ReadStream;
  stderr: NodeJS.WriteStream;
  signal: AbortSignal;
}

/** Reads one line without echo, from a terminal or a pipe; '' after Ctrl-C or Ctrl-D. */
export async function askForPassword({ stdin, stderr, signal }: Terminal, question: string): Promise<string> {
  if (!stdin.isTTY) return readFirstLine(stdin);
  stderr.write(`${toPrintable(question)} `);
  stdin.setRawMode(true);
  stdin.setEncoding('utf8');
  const { promise, resolve } = Promise.withResolvers<string>();
  let typed = '';
  const onData = (text: string): void => {
    for (const key of text) {
      if (key === '\r' || key === '\n') resolve(typed);
      else if (key === '\u0003' || key === '\u0004') resolve('');
      else if (key === '\u007f' || key === '\b') typed = [...typed].slice(0, -1).join('');
      else if (key >= ' ') typed += key;
    }
  };
  const onAbort = (): void => resolve('');
  stdin.on('data', onData);
  signal.addEventListener('abort', onAbort, { once: true });
  stdin.resume();
  try {
    return await promise;
  } finally {
    stdin.off('data', onData);
    signal.removeEventListener('abort', onAbort);
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write('\n');
  }
}

/** Reads one line for each question without echo, from a terminal or a pipe. */
export async function askForSecrets(terminal: Terminal, questions: readonly string[]): Promise<string[]> {
  const { stdin } = terminal;
  const given: string[] = [];
  if (stdin.isTTY) {
    for (const question of questions) given.push(await askForPassword(terminal, question));
    return given;
  }
  stdin.setEncoding('utf8');
  let text = '';
  for await (const part of stdin) {
    text += part;
    if (text.length > LONGEST_INPUT) break;
  }
  const lines = text.split(/\r?\n/);
  return questions.map((_, at) => lines[at] ?? '');
}

async function readFirstLine(stdin: NodeJS.ReadStream): Promise<string> {
  stdin.setEncoding('utf8');
  let text = '';
  for await (const part of stdin) {
    text += part;
    if (text.includes('\n') || text.length > LONGEST_INPUT) break;
  }
  return text.split(/\r?\n/, 1)[0] ?? '';
}
