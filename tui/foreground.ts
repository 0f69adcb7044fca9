import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Signals of the keyboard and the terminal, which are meant for the program in the foreground. */
const HELD_SIGNALS = ['SIGINT', 'SIGQUIT', 'SIGHUP'] as const;
type Listener = (...args: unknown[]) => void;

/** A shell adds the signal number to this for a program that a signal ended. */
const EXIT_BY_SIGNAL = 128;

/** Keeps this program alive while another one uses the terminal: Ctrl-C there reaches this one too, but is not meant for it. */
export async function holdSignalsDuring<T>(use: () => Promise<T>): Promise<T> {
  const ignoreSignal = (): void => undefined;
  const before = HELD_SIGNALS.map((signal) => ({
    signal,
    listeners: process.rawListeners(signal) as Listener[],
  }));
  for (const { signal, listeners } of before) {
    process.on(signal, ignoreSignal);
    // SIGHUP keeps its listeners: the terminal has closed.
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

/** Runs a program on this terminal and returns its exit code. If it fails, its output stays until Enter is pressed. */
export function runOnTerminal(
  argv: readonly string[],
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<number> {
  // The shell must survive the keyboard's signals too, but not by ignoring them: the program would inherit that.
  const script = `trap : INT QUIT HUP; "$@"; code=$?
if [ $code -ne 0 ] && [ $code -lt ${EXIT_BY_SIGNAL} ]; then
  printf '\\nPress Enter to return to the dashboard. '; read -r line
fi
exit $code`;
  return holdSignalsDuring(async () => {
    const child = spawn('/bin/sh', ['-c', script, 'svc', ...argv], { cwd, env, stdio: 'inherit' });
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? EXIT_BY_SIGNAL;
  });
}
