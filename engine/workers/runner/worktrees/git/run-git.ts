import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import pLimit from 'p-limit';
import { SvcError } from '../../../../core/base/errors.ts';
import { findProgram } from '../../../../core/base/find-program.ts';
import { runProgramSync } from '../../../../core/base/run-program.ts';
import { signalGroup } from '../../../../core/base/signal-group.ts';
import { ENGINE_MARK } from '../../processes/marks.ts';
import { describeFailure } from './describe-failure.ts';
import type { Git, GitOptions, GitResult } from './git.ts';
import type { GitOverrides } from './git-programs.ts';
import { PATIENCE_MS, type StopReason, watchForPipes } from './watch-pipes.ts';

/** The longest time of a timer. */
const NEVER_MS = 2 ** 31 - 1;
/** How long a cancelled git may take to end by itself, ms. */
const END_MS = 2000;
const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;

/**
 * Calls that run at the same time; others wait. When a thousand machines return, each has work to read, and starting
 * a process for all of it at once would block the engine for seconds.
 */
const MOST_CALLS = 48;

/** Variables that would point git at another repository, or let a user's setup change what our own calls do. */
const REMOVED = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_COMMON_DIR',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_CONFIG_PARAMETERS',
  'GIT_NAMESPACE',
  'GIT_PREFIX',
  'GIT_QUARANTINE_PATH',
  'GIT_REFLOG_ACTION',
  'GIT_EXTERNAL_DIFF',
  'GIT_DIFF_OPTS',
  'GIT_LITERAL_PATHSPECS',
  'GIT_GLOB_PATHSPECS',
  'GIT_NOGLOB_PATHSPECS',
  'GIT_ICASE_PATHSPECS',
  'GIT_DEFAULT_HASH',
  'GIT_TRACE',
];

/** Settings of every call: no hooks (a worker can write them), no signing prompts, no background maintenance. */
const SETTINGS = [
  ['core.hooksPath', '/dev/null'],
  ['commit.gpgSign', 'false'],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['core.fsmonitor', 'false'], // its daemon would live on inside the worktree
  ['core.quotePath', 'false'],
  ['merge.autoStash', 'false'],
  ['rebase.autoStash', 'false'],
  ['rebase.autoSquash', 'false'],
  ['rebase.updateRefs', 'false'],
  ['submodule.recurse', 'false'],
  ['log.showSignature', 'false'],
  ['protocol.ext.allow', 'never'], // an address that is a command
  ['safe.bareRepository', 'explicit'], // three names in a folder of a worker's would make it one
].flatMap(([name, value]) => ['-c', `${name}=${value}`]);

function cleanEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const clean = { ...env };
  for (const name of REMOVED) delete clean[name];
  // A repository's filters and merge drivers see git's environment, and a worker can write them (R10). The engine's
  // mark stays: programs started by them must not be taken for the person.
  for (const name of Object.keys(clean))
    if (name.startsWith('SVC_') && name !== ENGINE_MARK) delete clean[name];
  return {
    ...clean,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'true',
    GIT_EDITOR: 'true',
    GIT_SEQUENCE_EDITOR: 'true',
    GIT_MERGE_AUTOEDIT: 'no',
    GIT_PAGER: 'cat',
    GIT_OPTIONAL_LOCKS: '0', // a look must not make a working agent's own git fail on index.lock
    GIT_LFS_SKIP_SMUDGE: '1', // large files stay pointers: fetching them is the user's decision
  };
}

function collectOutput(
  stream: NodeJS.ReadableStream | null,
  maxBytes: number,
  whenFull: () => void,
): { bytes(): Buffer; isFull(): boolean } {
  const chunks: Buffer[] = [];
  let left = maxBytes;
  let isFull = false;
  stream?.on('data', (chunk: Buffer) => {
    if (chunk.length > left && !isFull) {
      isFull = true;
      whenFull();
    }
    if (left > 0) chunks.push(chunk.subarray(0, left));
    left = Math.max(0, left - chunk.length);
  });
  return { bytes: () => Buffer.concat(chunks), isFull: () => isFull };
}

export interface GitDeps {
  /** How long a call may take before we look for a pipe that blocks it, ms. */
  patienceMs?: number;
  /** Finds overrides for the settings of the repository at a folder. Throws if git must not be called. */
  findOverrides(cwd: string, options: Pick<GitOptions, 'discover'>): Promise<GitOverrides>;
}

/** Returns the environment that passes these settings to git: a name may contain the character that `-c` splits at. */
function buildOverrideEnvironment(
  base: NodeJS.ProcessEnv,
  { settings, mayFetch }: GitOverrides,
): Record<string, string> {
  const noFetch = mayFetch ? {} : { GIT_NO_LAZY_FETCH: '1' };
  if (settings.length === 0) return noFetch;
  const from = Number(base.GIT_CONFIG_COUNT ?? 0) || 0;
  return Object.fromEntries([
    ...Object.entries(noFetch),
    ['GIT_CONFIG_COUNT', String(from + settings.length)],
    ...settings.flatMap(([name, value], at) => [
      [`GIT_CONFIG_KEY_${from + at}`, name],
      [`GIT_CONFIG_VALUE_${from + at}`, value],
    ]),
  ]);
}

/** Returns a function that finds git on PATH, again only if it is gone: the kernel would search for it at each call. */
function createGitLocator({ PATH }: NodeJS.ProcessEnv): () => string {
  let found: string | undefined;
  return () => {
    if (found === undefined || !existsSync(found)) found = findProgram('git', { cwd: '/', path: PATH });
    return found ?? 'git';
  };
}

interface LaunchDeps {
  base: NodeJS.ProcessEnv;
  patienceMs: number;
  locateGit(): string;
  /** The processes that run. */
  running: Set<ChildProcess>;
}

/** Returns the error of a call whose folder was removed: git itself only says that it is not in a work tree. */
function describeRemovedFolder(command: string | undefined, cwd: string): SvcError {
  return new SvcError('git_failed', `git ${command} failed: its folder was removed: ${cwd}`, {
    data: { cwd },
  });
}

function describeStop(command: string | undefined, cwd: string, reason: StopReason): SvcError {
  if (reason === 'folder_removed') return describeRemovedFolder(command, cwd);
  const { pipe } = reason;
  return new SvcError('git_failed', `git ${command} was waiting at a pipe, and was stopped: ${pipe}`, {
    hint: 'a worker created it: remove it if it still exists, and check its work',
    data: { cwd, path: pipe },
  });
}

/** Returns the error of a call that its signal has ended. */
function describeAbort(command: string | undefined, { reason }: AbortSignal): SvcError {
  const isLate = reason instanceof DOMException && reason.name === 'TimeoutError';
  return isLate
    ? new SvcError('git_failed', `git ${command} took too long and was ended`, {
        hint: 'a filter of git that waits for a network may hang: git status shows whether it does',
      })
    : new SvcError('cancelled', `git ${command} was cancelled`);
}

/** Ends a git and its filters when the signal aborts. Returns a function that gives that up. */
function endOnAbort({ pid }: ChildProcess, signal: AbortSignal): () => void {
  let killing: NodeJS.Timeout | undefined;
  const end = (): void => {
    // git removes its locks and what it has begun.
    signalGroup(pid, 'SIGTERM');
    killing = setTimeout(() => signalGroup(pid, 'SIGKILL'), END_MS);
  };
  signal.addEventListener('abort', end, { once: true });
  return () => {
    signal.removeEventListener('abort', end);
    clearTimeout(killing);
  };
}

function launchGit(
  { base, patienceMs, locateGit, running }: LaunchDeps,
  cwd: string,
  args: readonly string[],
  options: GitOptions,
  stdin: 'ignore' | 'pipe',
) {
  const child = spawn(locateGit(), [...SETTINGS, ...args], {
    cwd,
    env: {
      ...base,
      // R2: git looks for a repository in `cwd` itself and nowhere above it.
      ...(options.discover ? {} : { GIT_CEILING_DIRECTORIES: dirname(realpathSync(cwd)) }),
      ...options.env,
    },
    stdio: [stdin, 'pipe', 'pipe'],
    // A process group: git's filters end with it.
    detached: true,
  });
  running.add(child);
  const release = options.signal === undefined ? null : endOnAbort(child, options.signal);
  const kill = (): void => signalGroup(child.pid, 'SIGKILL');
  const watch = watchForPipes(cwd, kill, patienceMs);
  const { timeoutMs } = options;
  const limit = timeoutMs === undefined ? null : setTimeout(kill, timeoutMs);
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((done, fail) => {
    child.once('error', fail);
    child.once('close', (code, signal) => {
      const reason = code === null ? watch.findReason() : null;
      if (reason === null) return done({ code, signal });
      fail(describeStop(args[0], cwd, reason));
    });
  }).finally(() => {
    running.delete(child);
    watch.close();
    release?.();
    if (limit !== null) clearTimeout(limit);
  });
  return { child, ended };
}

function explainFailure(error: unknown, cwd: string): SvcError {
  if (error instanceof SvcError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' && existsSync(cwd)) {
    return new SvcError('tool_missing', 'git was not found on PATH', {
      cause: error,
      hint: 'install git 2.38 or newer',
    });
  }
  return new SvcError('git_failed', `git could not run in ${cwd}: ${message}`, { cause: error });
}

/** The part of `Git` that starts git. */
export type GitRunner = Omit<Git, 'readIdentity' | 'signSettings' | 'readCheckout' | 'readCommit'>;

/** Starts git, and ends it. */
export interface ClosableGitRunner {
  runner: GitRunner;
  /** Ends all running calls: one that waits at a worker's pipe would outlive the engine. git then removes its locks. */
  close(): void;
}

/** Runs the git command line, with its own environment. Called only by `createGit`, which knows the overrides. */
export function createGitRunner(
  env: NodeJS.ProcessEnv,
  { patienceMs = PATIENCE_MS, findOverrides }: GitDeps,
): ClosableGitRunner {
  const base = cleanEnvironment(env);
  const running = new Set<ChildProcess>();
  const how: LaunchDeps = { base, patienceMs, locateGit: createGitLocator(base), running };
  const limitCalls = pLimit({ concurrency: MOST_CALLS, rejectOnClear: true });

  const runGit: Git['run'] = (cwd, args, options) => limitCalls(() => runGitNow(cwd, args, options));

  const runGitNow: Git['run'] = async (cwd, args, options = {}) => {
    const { input, allowFail = false, maxBytes = DEFAULT_MAX_BYTES } = options;
    try {
      const env = { ...buildOverrideEnvironment(base, await findOverrides(cwd, options)), ...options.env };
      // Nothing is awaited from here to the listener.
      if (options.signal?.aborted) throw describeAbort(args[0], options.signal);
      const { child, ended } = launchGit(
        how,
        cwd,
        args,
        { ...options, env },
        input === undefined ? 'ignore' : 'pipe',
      );
      const stdout = collectOutput(child.stdout, maxBytes, () => signalGroup(child.pid, 'SIGTERM'));
      const stderr = collectOutput(child.stderr, 64 * 1024, () => {});
      if (input !== undefined) {
        child.stdin?.on('error', () => {}); // git may end without reading all of it
        child.stdin?.end(input);
      }
      const { code, signal } = await ended;
      const result: GitResult = {
        code: code ?? (stdout.isFull() ? 0 : 128),
        stdout: stdout.bytes().toString('utf8'),
        stderr: stderr.bytes().toString('utf8'),
        truncated: stdout.isFull(),
      };
      if (code === null && options.signal?.aborted) throw describeAbort(args[0], options.signal);
      if (result.code !== 0 && !allowFail) {
        if (!existsSync(cwd)) throw describeRemovedFolder(args[0], cwd);
        const detail =
          describeFailure(result.stderr) || (signal === null ? `exit code ${code}` : `ended by ${signal}`);
        throw new SvcError('git_failed', `git ${args[0]}: ${detail}`, {
          data: { cwd, exit_code: result.code },
        });
      }
      return result;
    } catch (error) {
      throw explainFailure(error, cwd);
    }
  };

  const runner: GitRunner = {
    run: runGit,
    env: base,
    async open(gitDir, args, more) {
      const env = buildOverrideEnvironment(base, await findOverrides(gitDir, {}));
      // It must not fetch: the settings about the source may change during its life.
      const own = { ...env, ...more, GIT_DIR: gitDir, GIT_NO_LAZY_FETCH: '1', GIT_ALLOW_PROTOCOL: '' };
      const { child, ended } = launchGit(
        { ...how, patienceMs: NEVER_MS },
        gitDir,
        args,
        { env: own },
        'pipe',
      );
      ended.catch(() => undefined);
      child.stderr?.resume();
      return child;
    },
    async text(cwd, args, options) {
      return (await runGit(cwd, args, options)).stdout.replace(/\n$/, '');
    },
    async succeeds(cwd, args, options) {
      return (await runGit(cwd, args, { ...options, allowFail: true })).code === 0;
    },
    async pipe(cwd, from, to, options = {}) {
      const { input } = options.from ?? {};
      try {
        const told = buildOverrideEnvironment(base, await findOverrides(cwd, options.from ?? {}));
        for (const { signal } of [options.from ?? {}, options.to ?? {}])
          if (signal?.aborted) throw describeAbort(from[0], signal);
        const withTold = (given: GitOptions = {}) => ({ ...given, env: { ...told, ...given.env } });
        const first = launchGit(
          how,
          cwd,
          from,
          withTold(options.from),
          input === undefined ? 'ignore' : 'pipe',
        );
        const second = launchGit(how, cwd, to, withTold(options.to), 'pipe');
        first.child.stdin?.on('error', () => {});
        first.child.stdin?.end(input);
        const stdout = collectOutput(second.child.stdout, DEFAULT_MAX_BYTES, () =>
          signalGroup(second.child.pid, 'SIGTERM'),
        );
        const firstError = collectOutput(first.child.stderr, 64 * 1024, () => {});
        const secondError = collectOutput(second.child.stderr, 64 * 1024, () => {});
        second.child.stdin?.on('error', () => {});
        first.child.stdout?.pipe(second.child.stdin!);
        const [one, two] = await Promise.all([first.ended, second.ended]);
        if (one.code !== 0 || two.code !== 0) {
          const said = describeFailure(firstError.bytes().toString() || secondError.bytes().toString());
          const text = said || `ended by ${one.signal ?? two.signal ?? 'a failure'}`;
          throw new SvcError('git_failed', `git ${from[0]} | git ${to[0]}: ${text}`, { data: { cwd } });
        }
        return stdout.bytes().toString('utf8');
      } catch (error) {
        throw explainFailure(error, cwd);
      }
    },
  };
  return {
    runner,
    close() {
      limitCalls.clearQueue();
      for (const child of running) signalGroup(child.pid, 'SIGTERM');
    },
  };
}

const HEAD_PATIENCE_MS = 5000;

/**
 * Reads what HEAD names, a branch or a commit; null for neither. Synchronous: reading refs runs none of a
 * repository's programs.
 */
export function readHeadByGit(env: NodeJS.ProcessEnv, cwd: string): string | null {
  const readLine = (...args: string[]): string | null => {
    const { exitCode, stdout } = runProgramSync('git', [...SETTINGS, ...args], {
      cwd,
      env,
      timeoutMs: HEAD_PATIENCE_MS,
    });
    return exitCode === 0 ? stdout.trimEnd() : null;
  };
  return (
    readLine('symbolic-ref', '--quiet', '--short', 'HEAD') ??
    readLine('rev-parse', '--verify', '--quiet', 'HEAD')
  );
}
