/**
 * Node options for a program that serves in the background. By default V8 lets half of the young generation grow to
 * 64 MB under load, keeps three times that, and collects the old generation only when it is large; an idle process
 * releases nothing. With these options a program that needs 20 MB keeps little more, and releases the rest when idle.
 * The optimizing compiler of WebAssembly takes up to 600 MB for one function of a large grammar, to parse a third faster.
 */
export const HOST_OPTIONS: readonly string[] = [
  '--max-semi-space-size=4',
  '--initial-old-space-size=32',
  '--heap-growing-percent=50',
  '--expose-gc',
  '--no-wasm-tier-up',
  '--no-wasm-dynamic-tiering',
];

/**
 * Restarts the same process with these options, which only apply at the start of Node. Does nothing if the process
 * already has them, and where Node cannot do this.
 */
export function continueWithHostOptions(): void {
  const { execve, execPath, execArgv, argv, env } = process;
  if (execve === undefined || HOST_OPTIONS.every((option) => execArgv.includes(option))) return;
  execve(execPath, [execPath, ...execArgv, ...HOST_OPTIONS, ...argv.slice(1)], env);
}
