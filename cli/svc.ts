#!/usr/bin/env node
import { enablePrivateCompileCache } from '../engine/core/base/compile-cache.ts';

// The entry point. It imports only what every Node can load until the version is verified: an older Node would fail
// with an unrelated error.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const words = process.argv.slice(2);
// An agent is waiting: problems on our side must not block it, so even an error is silent.
const isHook = words[0] === 'hook' && !words.includes('--help') && !words.includes('-h');

if (major < 22 || (major === 22 && minor < 22)) {
  if (!isHook) tellVersion();
} else {
  enablePrivateCompileCache(process.env);
  if (isHook) {
    await import('./hooks/run.ts').then(
      ({ runHook }) => runHook(words.slice(1)),
      () => undefined,
    );
  } else {
    if (words[0] === 'server' && words[1] === 'serve')
      (await import('./host-options.ts')).continueWithHostOptions();
    await runMain();
  }
}

async function runMain(): Promise<void> {
  const { main } = await import('./main.ts');
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
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  const { signal } = stop;
  const code = await main(words, { cwd: process.cwd(), env, stdin, stdout, stderr, signal });
  process.exitCode = isOutputLost ? 1 : code;
  process.removeListener('SIGINT', onSignal).removeListener('SIGTERM', onSignal);
}

function tellVersion(): void {
  process.stderr.write(
    `error: svc needs Node 22.22 or later; this is Node ${process.versions.node}\nhint: install a newer Node and run svc with it\n`,
  );
  process.exitCode = 1;
}
