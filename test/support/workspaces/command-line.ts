import { Readable, Writable } from 'node:stream';
import { type CliEnvironment, main } from '../../../cli/main.ts';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
  /** stdout parsed as JSON. */
  json<T = Record<string, unknown>>(): T;
}

/**
 * Runs a command line as the program does, but in this process: starting a program for each call takes twenty times
 * as long.
 */
export async function runHere(
  args: readonly string[],
  { cwd, env, input }: { cwd: string; env: NodeJS.ProcessEnv; input: string },
): Promise<Ran> {
  const out = collector();
  const err = collector();
  const around = {
    cwd,
    env,
    stdin: Readable.from(input === '' ? [] : [Buffer.from(input)], { objectMode: false }),
    stdout: out.stream,
    stderr: err.stream,
    signal: new AbortController().signal,
  };
  // Pipes, as for a program whose output is read by another one; none of them is a terminal.
  const code = await main(args, around as unknown as CliEnvironment);
  const stdout = out.text();
  return { code, stdout, stderr: err.text(), json: () => JSON.parse(stdout) };
}

function collector(): { stream: Writable; text(): string } {
  const parts: Buffer[] = [];
  const stream = new Writable({
    write(chunk, encoding, done) {
      parts.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk, encoding));
      done();
    },
  });
  return { stream, text: () => Buffer.concat(parts).toString('utf8') };
}
