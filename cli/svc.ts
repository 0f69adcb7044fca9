#!/usr/bin/env node
import { enablePrivateCompileCache } from '../engine/core/base/compile-cache.ts';
import { loadProgram, makeKeptFolder } from '../engine/core/base/load-program.ts';

// The entry point. It imports only what every Node can load until the version is verified: an older Node would fail
// with an unrelated error.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const words = process.argv.slice(2);
// An agent is waiting: problems on our side must not block it, so even an error is silent.
const isHook = words[0] === 'hook' && !words.includes('--help') && !words.includes('-h');

if (process.platform === 'win32') {
  if (!isHook) tellProblem('svc runs on Linux and macOS', 'on Windows, install and run it in WSL 2');
} else if (major < 22 || (major === 22 && minor < 22)) {
  if (!isHook)
    tellProblem(
      `svc needs Node 22.22 or later; this is Node ${process.versions.node}`,
      'install a newer Node and run svc with it',
    );
} else {
  startProgram();
}

/** Runs a hook or a command. Other programs of the package are started by these. */
function startProgram(): void {
  const folder = import.meta.dirname;
  // The build inserts the value.
  const build = process.env.SVC_BUILD ?? '';
  const kept = makeKeptFolder(enablePrivateCompileCache(process.env), folder);
  const load = (name: 'run-command' | 'run-hook', start: string): unknown =>
    loadProgram(`${name}.js`, { folder, build, kept, start });
  if (!isHook)
    return void (load('run-command', nameStart()) as typeof import('./run-command.ts')).runCommandOfProcess(
      words,
    );
  try {
    const { runHook } = load('run-hook', 'hook') as typeof import('./hooks/run.ts');
    runHook(words.slice(1)).catch(() => undefined);
  } catch {
    // The agent continues.
  }
}

/** Names the kind of start, by what it loads. */
function nameStart(): string {
  const [first = '-'] = words;
  if (first.startsWith('-')) return 'dash';
  return ['daemon', 'dash', 'mcp'].includes(first) ? first : 'command';
}

function tellProblem(problem: string, hint: string): void {
  process.stderr.write(`error: ${problem}\nhint: ${hint}\n`);
  process.exitCode = 1;
}
