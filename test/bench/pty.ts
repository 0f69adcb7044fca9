import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import { quoteForShell } from '../../engine/core/base/text.ts';
import { childrenOf, processesOfSession, sessionEnded } from '../support/processes/processes.ts';
import { type Program, programEnvironment } from '../support/terminals/terminal.ts';
import { until } from '../support/wait.ts';

/** Longest wait for an expected output, ms. */
const LIMIT_MS = 30_000;

export interface PtyOptions extends Program {
  columns: number;
  rows: number;
}

/** A program in a pseudo-terminal, with timestamps of its output, as returned by `performance.now()`. */
export interface Pty {
  /** Time of the spawn. */
  spawned: number;
  /** Number of bytes printed so far. */
  bytes(): number;
  write(text: string): void;
  /** Resolves with the time of the next output. */
  next(): Promise<number>;
  /** Resolves with the time at which new output, without escape sequences, first contains the text. */
  prints(text: string | RegExp): Promise<number>;
  /** Waits until nothing was printed for this long, at most ten times as long. */
  rests(ms: number): Promise<void>;
  /** Memory of the programs in the terminal, bytes. */
  memory(): number;
  close(): Promise<void>;
}

/** Queries that programs send to a terminal at their start, with its answers; some wait for them before they draw. */
const ANSWERS: readonly [question: RegExp, answer: string][] = [
  [/\x1b\[0?c/, '\x1b[?62;22c'],
  [/\x1b\[6n/, '\x1b[1;1R'],
];

/**
 * Opens a pseudo-terminal with `script` of util-linux, which passes bytes on unchanged: a terminal that draws, such
 * as tmux, would add its own time. Awaiting `prints` in the same turn misses nothing.
 */
export function openPty({ command, columns, rows, cwd, env = {} }: PtyOptions): Pty {
  const words = command.map(quoteForShell).join(' ');
  const listeners = new Set<(text: string, at: number) => void>();
  let bytes = 0;
  let last = '';
  let lastAt = performance.now();
  const spawned = performance.now();
  const script = spawn('script', ['-qfec', `stty rows ${rows} cols ${columns}; exec ${words}`, '/dev/null'], {
    cwd,
    env: { ...programEnvironment(env, 'xterm-256color'), SHELL: '/bin/sh' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<Error>((resolve) => {
    script.once('error', resolve);
    script.once('exit', (status) =>
      resolve(new Error(`${command[0]} ended with status ${status}; it printed last: ${last}`)),
    );
  });
  script.stdin.on('error', () => undefined); // It has ended; see `ended`.
  script.stdout.setEncoding('utf8');
  script.stdout.on('data', (text: string) => {
    lastAt = performance.now();
    bytes += Buffer.byteLength(text);
    last = stripVTControlCharacters(text).slice(-400);
    for (const listener of listeners) listener(text, lastAt);
    for (const [question, answer] of ANSWERS) if (question.test(text)) script.stdin.write(answer);
  });

  function when(fits: (text: string) => boolean, what: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const settle = (error: Error | null, at = 0): void => {
        clearTimeout(timer);
        listeners.delete(listen);
        error === null ? resolve(at) : reject(error);
      };
      const listen = (text: string, at: number): void => {
        if (fits(text)) settle(null, at);
      };
      const timer = setTimeout(
        () => settle(new Error(`${command[0]} did not print ${what} in ${LIMIT_MS} ms; last: ${last}`)),
        LIMIT_MS,
      );
      listeners.add(listen);
      void ended.then(settle);
    });
  }

  return {
    spawned,
    bytes: () => bytes,
    write: (text) => void script.stdin.write(text),
    next: () => when(() => true, 'anything'),
    prints(text) {
      let printed = '';
      return when((more) => {
        printed += more;
        const plain = stripVTControlCharacters(printed);
        return typeof text === 'string' ? plain.includes(text) : plain.search(text) >= 0;
      }, String(text));
    },
    async rests(ms) {
      const begin = performance.now();
      await until(
        () => performance.now() - Math.max(begin, lastAt) >= ms || performance.now() - begin > 10 * ms,
      );
    },
    memory: () =>
      childrenOf(script.pid ?? 0)
        .flatMap(({ pid }) => processesOfSession(pid))
        .reduce((sum, { pid }) => sum + memoryOf(pid), 0),
    async close() {
      for (const leader of childrenOf(script.pid ?? 0)) {
        process.kill(leader.pid, 'SIGHUP');
        await sessionEnded(leader);
      }
      await ended;
    },
  };
}

/**
 * Its proportional share of memory (shared pages count in part), or all of its memory if the share is not readable.
 */
function memoryOf(pid: number): number {
  for (const [file, line] of [
    ['smaps_rollup', /^Pss:\s+(\d+) kB/m],
    ['status', /^VmRSS:\s+(\d+) kB/m],
  ] as const) {
    try {
      const kilobytes = line.exec(readFileSync(`/proc/${pid}/${file}`, 'utf8'))?.[1];
      if (kilobytes !== undefined) return Number(kilobytes) * 1024;
    } catch {
      // The file is not readable, or the process has just ended.
    }
  }
  return 0;
}
