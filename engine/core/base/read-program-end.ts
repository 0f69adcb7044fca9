import { signalGroup } from './signal-group.ts';

/** The end of what a program has printed. */
export interface ProgramEnd {
  /** Null if it was not started, or ended by a signal. */
  exitCode: number | null;
  /** The last part of its output, from the start of a line if something is missing before it. */
  text: string;
  /** Bytes of output before that part. */
  omittedBytes: number;
  /** The end of its error output. */
  stderr: string;
  /** Code `ENOENT` if the program does not exist; null if it was started. */
  error: (Error & { code?: unknown }) | null;
}

const MOST_STDERR = 64 * 1024;

/** The end of a stream. */
interface Tail {
  add(chunk: Buffer): void;
  /** Returns the text from the start of a line, if something is missing before it. */
  readText(): Pick<ProgramEnd, 'text' | 'omittedBytes'>;
}

/** Keeps the last `most` bytes of a stream. */
export function createTail(most: number): Tail {
  let chunks: Buffer[] = [];
  let kept = 0;
  let total = 0;
  return {
    add(chunk) {
      chunks.push(chunk);
      kept += chunk.length;
      total += chunk.length;
      if (kept < 2 * most) return;
      const joined = Buffer.concat(chunks);
      chunks = [joined.subarray(joined.length - most)];
      kept = most;
    },
    readText() {
      const joined = Buffer.concat(chunks);
      const bytes = joined.length > most ? joined.subarray(joined.length - most) : joined;
      const omitted = total - bytes.length;
      const cut = omitted === 0 ? 0 : bytes.indexOf(10) + 1;
      return { text: bytes.subarray(cut).toString('utf8'), omittedBytes: omitted + cut };
    },
  };
}

/** How long a program that has ended may leave its output open: something that it started may hold it for ever. */
const DRAIN_MS = 1000;

/**
 * Runs a helper program without a shell and without input, and returns the end of its output, whatever its size. Never
 * rejects. It gets no terminal.
 * @param timeoutMs time limit after which it is killed, with everything in its process group
 */
export function readProgramEnd(
  program: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv; timeoutMs: number; mostBytes: number },
): Promise<ProgramEnd> {
  const { spawn } = process.getBuiltinModule('node:child_process');
  const { cwd, env, timeoutMs, mostBytes } = options;
  return new Promise((resolve) => {
    const output = createTail(mostBytes);
    const errors = createTail(MOST_STDERR);
    const timers: NodeJS.Timeout[] = [];
    const finish = (exitCode: number | null, error: Error | null): void => {
      for (const timer of timers) clearTimeout(timer);
      resolve({ exitCode, ...output.readText(), stderr: errors.readText().text, error });
    };
    try {
      const child = spawn(program, [...args], {
        cwd,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      timers.push(setTimeout(() => signalGroup(child.pid, 'SIGKILL'), timeoutMs));
      child.stdout.on('data', output.add);
      child.stderr.on('data', errors.add);
      child.once('error', (error) => finish(null, error));
      child.once('exit', () => {
        const stopReading = (): void => {
          child.stdout.destroy();
          child.stderr.destroy();
        };
        timers.push(setTimeout(stopReading, DRAIN_MS));
      });
      child.once('close', (code) => finish(code, null));
    } catch (error) {
      // An argument or a variable with a zero byte.
      finish(null, error as Error);
    }
  });
}
