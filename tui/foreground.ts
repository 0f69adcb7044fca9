import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The keyboard's signals belong to whoever has the terminal. */
const HELD_SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGHUP'] as const;
type Listener = (...args: unknown[]) => void;

/** A shell's way to say that a program was ended by a signal. */
const EXIT_BY_SIGNAL = 128;

/**
 * Keeps this program alive while `use` lets another one have the terminal: Ctrl-C there reaches this one too, and is not
 * meant for it.
 */
export async function holdSignalsDuring<T>(use: () => Promise<T>): Promise<T> {
  const ignoreSignal = (): void => undefined;
  const before = HELD_SIGNALS.map((signal) => ({
    signal,
    listeners: process.rawListeners(signal) as Listener[],
  }));
  for (const { signal, listeners } of before) {
    process.on(signal, ignoreSignal);
    // The end of the terminal is still heard.
    if (signal !== 'SIGHUP') for (const listener of listeners) process.off(signal, listener);
  }
  try {
    return await use();
  } finally {
    for (const { signal, listeners } of before) {
      if (signal !== 'SIGHUP') for (const listener of listeners) process.on(signal, listener);
      process.off(signal, ignoreSignal);
    }
  }
}

/**
 * Runs a program on this process's terminal and answers its exit code. When it fails, what it has said stays to be read
 * until Enter is pressed.
 */
export function runOnTerminal(
  argv: readonly string[],
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<number> {
  // The shell too has to outlive the keyboard's signals, but not by ignoring them, which the program would inherit.
  const script = `trap : INT QUIT HUP; "$@"; code=$?
if [ $code -ne 0 ] && [ $code -lt ${EXIT_BY_SIGNAL} ]; then
  printf '\\nEnter goes back to the dashboard. '; read -r line
fi
exit $code`;
  return holdSignalsDuring(async () => {
    const child = spawn('/bin/sh', ['-c', script, 'svc', ...argv], { cwd, env, stdio: 'inherit' });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? EXIT_BY_SIGNAL;
  });
}
