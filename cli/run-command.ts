import { continueWithHostOptions } from './host-options.ts';
import { main } from './main.ts';

/** Runs the command line of this process. */
export async function runCommandOfProcess(words: readonly string[]): Promise<void> {
  if (words[0] === 'server' && words[1] === 'serve') continueWithHostOptions();
  const { env, stdin, stdout, stderr } = process;
  const stop = new AbortController();
  let isOutputLost = false;
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // A closed reader (`svc task list | head`) is not an error.
    if (error.code === 'EPIPE') process.exit(0);
    if (isOutputLost) return;
    isOutputLost = true;
    stderr.write(`error: standard output cannot be written: ${error.message}\n`);
    process.exitCode = 1;
    // Ends output that would continue, such as --follow.
    stop.abort();
  });
  const onSignal = (): void => stop.abort();
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal).once('SIGHUP', onSignal);
  const { signal } = stop;
  const code = await main(words, { cwd: process.cwd(), env, stdin, stdout, stderr, signal });
  process.exitCode = isOutputLost ? 1 : code;
  process
    .removeListener('SIGINT', onSignal)
    .removeListener('SIGTERM', onSignal)
    .removeListener('SIGHUP', onSignal);
}
