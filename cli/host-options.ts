/**
 * What Node is given for a program that serves in the background. Left to itself V8 lets half of the young generation grow to
 * 64 MB under load, keeps three times that, and first looks through the old one when that is large; an idle process gives none
 * of it back. With these one that needs 20 MB keeps little more; what is left after a load it collects when it is idle.
 */
export const HOST_OPTIONS: readonly string[] = [
  '--max-semi-space-size=4',
  '--initial-old-space-size=32',
  '--heap-growing-percent=50',
  '--expose-gc',
];

/**
 * Goes on as the same process with these options, which count only from the start of Node. Does nothing where the process has
 * them already, and on Windows, which knows no such step.
 */
export function continueWithHostOptions(): void {
  const { execve, execPath, execArgv, argv, env, platform } = process;
  if (
    execve === undefined ||
    platform === 'win32' ||
    HOST_OPTIONS.every((option) => execArgv.includes(option))
  )
    return;
  execve(execPath, [execPath, ...execArgv, ...HOST_OPTIONS, ...argv.slice(1)], env);
}
