import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { CompilerLine, CompilerOrder } from './compiler-process.ts';
import type { FileReferences } from './find-references.ts';
import { readProcessTree, waitForEnd } from './process-tree.ts';

export interface CompilerLimits {
  wallMs: number;
  /** Limits for the process and its children together, as far as this machine reports them. */
  memoryMb: number;
}

export interface CompilerRun {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  order: CompilerOrder;
  limits: CompilerLimits;
  signal: AbortSignal;
  /** Called for each finished file. */
  onFile(file: FileReferences): void;
}

export interface CompilerEnd {
  /** Why it did not finish, as a clause; null if it did. */
  failed: string | null;
  ms: number;
  peakMb: number;
}

/** Maximum characters of all answers. */
const MOST_ANSWERED = 512 * 1024 * 1024;
const MOST_LINE = 32 * 1024 * 1024;
const LOOK_MS = 250;
const DYING_MS = 2000;

/** Runs the compiler's process to its end, or ends it with its descendants. Never rejects. */
export async function runCompiler(run: CompilerRun): Promise<CompilerEnd> {
  const { argv, env, order, limits, signal, onFile } = run;
  const from = performance.now();
  const child = spawn(argv[0]!, argv.slice(1), {
    cwd: order.root,
    env: { ...env },
    // A separate process group, so that it can be ended as a whole.
    detached: true,
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
  });
  const killed: number[] = [];
  let failed: string | null = null;
  let isDone = false;
  let peakMb = 0;
  let said = '';

  /** Ends it with its descendants, including those that left its group. */
  function endCompiler(why: string): void {
    failed ??= why;
    if (child.pid === undefined) return;
    killed.push(...readProcessTree(child.pid).pids);
    for (const pid of [-child.pid, ...killed]) kill(pid);
  }

  function checkMemory(): void {
    if (child.pid === undefined) return;
    const { mb } = readProcessTree(child.pid);
    peakMb = Math.max(peakMb, mb);
    if (mb > limits.memoryMb) endCompiler(`it took more than ${limits.memoryMb} MB`);
  }

  function readLine(line: string): void {
    const told = parseLine(line);
    if (told === null) endCompiler('its output is invalid');
    else if ('file' in told) onFile(told.file);
    else if ('failed' in told) failed ??= told.failed.slice(0, 200);
    else isDone = true;
  }

  const late = setTimeout(() => endCompiler(`it took longer than ${limits.wallMs / 1000} s`), limits.wallMs);
  const looking = setInterval(checkMemory, LOOK_MS);
  const stopCompiler = (): void => endCompiler('it was stopped');
  signal.addEventListener('abort', stopCompiler);
  if (signal.aborted) stopCompiler();
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(0, 4000);
  });
  child.stdin!.on('error', () => undefined);
  child.stdin!.end(JSON.stringify(order));
  const read = readLines(child.stdio[3] as Readable, readLine, () => endCompiler('its output is too large'));
  const ended = await new Promise<string | null>((done) => {
    child.on('error', (error) => done(error.message));
    child.on('close', (code, by) => done(code === 0 ? null : describeEnd(code, by, said)));
  });
  await read;
  clearTimeout(late);
  clearInterval(looking);
  signal.removeEventListener('abort', stopCompiler);
  // Processes left in its group; in a sandbox nothing outlives it.
  if (child.pid !== undefined) kill(-child.pid);
  await waitForEnd(killed, DYING_MS);
  failed ??= ended ?? (isDone ? null : 'it ended too early');
  return { failed, ms: performance.now() - from, peakMb };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}

function describeEnd(code: number | null, by: string | null, said: string): string {
  if (said.includes('heap out of memory')) return 'it ran out of memory';
  if (by === 'SIGXCPU' || code === 152) return 'it used too much processor time';
  const last = said.split('\n').find((line) => /error|bwrap/i.test(line)) ?? '';
  return `it ended with ${by ?? `exit code ${code}`}${last === '' ? '' : `: ${last.trim().slice(0, 160)}`}`;
}

async function readLines(from: Readable, line: (text: string) => void, tooMuch: () => void): Promise<void> {
  let rest = '';
  let all = 0;
  try {
    for await (const piece of from.setEncoding('utf8') as AsyncIterable<string>) {
      all += piece.length;
      const parts = (rest + piece).split('\n');
      rest = parts.pop()!;
      if (all > MOST_ANSWERED || rest.length > MOST_LINE) return tooMuch();
      for (const each of parts) line(each);
    }
  } catch {
    // It was ended while it was writing.
  }
}

const KINDS = new Set<unknown>(['call', 'new', 'jsx', 'inherit', 'value']);
const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isText = (value: unknown): boolean => typeof value === 'string';
const isListOf = (value: unknown, holds: (each: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(holds);

/** Parses a line of the process, or returns null: the output is untrusted code of the repository. */
function parseLine(line: string): CompilerLine | null {
  let told: unknown;
  try {
    told = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof told !== 'object' || told === null) return null;
  const { file, done, failed } = told as Record<string, unknown>;
  if (isCount(done)) return { done: done as number };
  if (isText(failed)) return { failed: failed as string };
  const { path, references, imports } = (file ?? {}) as Record<string, unknown>;
  const isPlace = (value: unknown): boolean =>
    value === null || (Array.isArray(value) && isCount(value[0]) && isText(value[1]));
  const isTarget = (value: unknown): boolean =>
    Array.isArray(value) && isText(value[0]) && isCount(value[1]) && isText(value[2]);
  const isReference = (value: unknown): boolean =>
    Array.isArray(value) &&
    KINDS.has(value[0]) &&
    isCount(value[1]) &&
    isPlace(value[2]) &&
    isListOf(value[3], isTarget);
  return isText(path) && isListOf(imports, isText) && isListOf(references, isReference)
    ? { file: file as FileReferences }
    : null;
}
