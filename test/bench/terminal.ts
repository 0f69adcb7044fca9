import { setTimeout as delay } from 'node:timers/promises';
import { median, percentile } from './figure.ts';
import { openPty, type Pty, type PtyOptions } from './pty.ts';

/** Number of starts per program for the first frame. */
const STARTS = 5;
/** Milliseconds of silence before a key is pressed, so that the next output is its answer. */
const REST_MS = 50;
/** Milliseconds without input, to record what a program prints by itself. */
const IDLE_MS = 5000;

export interface TerminalProgram extends PtyOptions {
  /** Text that identifies the first frame. */
  ready: RegExp;
  /** Keys to press in turn; each must change the screen. */
  keys: readonly string[];
  keyCount: number;
}

export interface TerminalMeasure {
  /** Median time from the spawn to the first frame. */
  firstFrameMs: number;
  /** Time from the key to the first output after it. */
  keyToPaintMs: { p50: number; p95: number };
  idleBytesPerSecond: number;
  memoryBytes: number;
}

/** Measures a program that draws on a real terminal. */
export async function measureTerminal({
  ready,
  keys,
  keyCount,
  ...program
}: TerminalProgram): Promise<TerminalMeasure> {
  const starts: number[] = [];
  for (let start = 1; start < STARTS; start += 1) {
    const pty = openPty(program);
    starts.push((await pty.prints(ready)) - pty.spawned);
    await pty.close();
  }
  const pty = openPty(program);
  try {
    starts.push((await pty.prints(ready)) - pty.spawned);
    const paints = await keyToPaint(pty, keys, keyCount);
    await pty.rests(REST_MS);
    const before = pty.bytes();
    await delay(IDLE_MS);
    return {
      firstFrameMs: median(starts),
      keyToPaintMs: { p50: median(paints), p95: percentile(paints, 0.95) },
      idleBytesPerSecond: (pty.bytes() - before) / (IDLE_MS / 1000),
      memoryBytes: pty.memory(),
    };
  } finally {
    await pty.close();
  }
}

/** Time from writing a key to the first output after it, for each key. */
async function keyToPaint(pty: Pty, keys: readonly string[], count: number): Promise<number[]> {
  const paints: number[] = [];
  for (let index = 0; index < count; index += 1) {
    await pty.rests(REST_MS);
    const painted = pty.next();
    const pressed = performance.now();
    pty.write(keys[index % keys.length] ?? '');
    paints.push((await painted) - pressed);
  }
  return paints;
}

/**
 * Measures the overhead of the measurement: a program that prints one word, and then every key. Subtract it from the
 * figures of a program.
 */
export const measureOverhead = (): Promise<TerminalMeasure> =>
  measureTerminal({
    command: ['sh', '-c', 'stty raw -echo; echo ready; exec cat'],
    ...{ columns: 80, rows: 24, cwd: '/', ready: /ready/, keys: ['j'], keyCount: 50 },
  });
