import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { ENGINE_MARK } from '../processes/probe.ts';
import { PATIENCE_MS, watchForPipes } from './watch-pipes.ts';

export interface GitOptions {
  /** A non-zero exit is an answer, not an error. */
  allowFail?: boolean;
  env?: Readonly<Record<string, string>>;
  /** Written to git's stdin; without it stdin is empty. */
  input?: string;
  /** Let git search for the repository above `cwd` too. Only for finding it; see R2. */
  discover?: boolean;
  /** Stop reading and kill git after this many bytes of output; 256 MiB. */
  maxBytes?: number;
  /** Kill git after this time, ms; without it there is no limit. */
  timeoutMs?: number;
}

export interface GitResult {
  code: number;
  stdout: string;
  stderr: string;
  /** More output followed than `maxBytes`. */
  truncated: boolean;
}

export interface Git {
  /** Runs git without a shell. Throws `git_failed` with git's first line, `tool_missing` without git. */
  run(cwd: string, args: readonly string[], options?: GitOptions): Promise<GitResult>;
  /** The output without its last newline. */
  text(cwd: string, args: readonly string[], options?: GitOptions): Promise<string>;
  /** Whether the command succeeded. */
  succeeds(cwd: string, args: readonly string[], options?: GitOptions): Promise<boolean>;
  /** Pipes the output of one command into the next; returns the second one's output. Throws as `run` does. */
  pipe(
    cwd: string,
    from: readonly string[],
    to: readonly string[],
    options?: {
      from?: Omit<GitOptions, 'allowFail' | 'maxBytes'>;
      to?: Pick<GitOptions, 'env' | 'timeoutMs'>;
    },
  ): Promise<string>;
  /** The host's environment as git sees it. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
}

const DEFAULT_MAX_BYTES = 256 * 1024 * 1024;

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

/**
 * Makes git ignore changes inside a nested repository: git would otherwise run in it, and a worker may have made it
 * with a configuration that names programs. `findNestedRepositories` reports that it is there.
 */
export const NOT_INSIDE = '--ignore-submodules=dirty';

function cleanEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const clean = { ...env };
  for (const name of REMOVED) delete clean[name];
  // A repository's filters and merge drivers see git's environment, and a worker can write them (R10).
  // The engine's mark stays: what such a program calls must not be taken for the person.
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

/** git's own words, without its prefix. */
function findErrorLine(stderr: string): string {
  const lines = stderr.split('\n').filter((line) => line.trim() !== '');
  const line = lines.find((text) => /^(fatal|error):/.test(text)) ?? lines[0] ?? '';
  return line.replace(/^(fatal|error): /, '').trim();
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
  /** Overrides for the repository's own settings; see `createGitPrograms`. */
  findOverrides?(cwd: string): Promise<readonly (readonly [string, string])[]>;
}

/**
 * The git command line, with an environment of its own making.
 */
export function createGit(
  env: NodeJS.ProcessEnv = process.env,
  { patienceMs = PATIENCE_MS, findOverrides = async () => [] }: GitDeps = {},
): Git {
  const base = cleanEnvironment(env);

  /** The environment that passes these settings to git: a name may contain what `-c` would split it at. */
  async function overrideEnvironment(cwd: string): Promise<Record<string, string>> {
    const settings = await findOverrides(cwd);
    if (settings.length === 0) return {};
    const from = Number(base.GIT_CONFIG_COUNT ?? 0) || 0;
    return Object.fromEntries([
      ['GIT_CONFIG_COUNT', String(from + settings.length)],
      ['GIT_NO_LAZY_FETCH', '1'],
      ...settings.flatMap(([name, value], at) => [
        [`GIT_CONFIG_KEY_${from + at}`, name],
        [`GIT_CONFIG_VALUE_${from + at}`, value],
      ]),
    ]);
  }

  const launchGit = (cwd: string, args: readonly string[], options: GitOptions, stdin: 'ignore' | 'pipe') => {
    const child = spawn('git', [...SETTINGS, ...args], {
      cwd,
      env: {
        ...base,
        // R2: git looks for a repository in `cwd` itself and nowhere above it.
        ...(options.discover ? {} : { GIT_CEILING_DIRECTORIES: dirname(realpathSync(cwd)) }),
        ...options.env,
      },
      stdio: [stdin, 'pipe', 'pipe'],
    });
    const watch = watchForPipes(cwd, () => child.kill('SIGKILL'), patienceMs);
    const { timeoutMs } = options;
    const limit = timeoutMs === undefined ? null : setTimeout(() => child.kill('SIGKILL'), timeoutMs);
    const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((done, fail) => {
      child.once('error', fail);
      child.once('close', (code, signal) => {
        const pipe = code === null ? watch.found() : null;
        if (pipe === null) return done({ code, signal });
        fail(
          new SvcError('git_failed', `git ${args[0]} waited at a pipe, and was ended: ${pipe}`, {
            hint: 'a worker has put it there: remove it when it is still there, and look at its work',
            data: { cwd, path: pipe },
          }),
        );
      });
    }).finally(() => {
      watch.close();
      if (limit !== null) clearTimeout(limit);
    });
    return { child, ended };
  };

  const explainFailure = (error: unknown, cwd: string): SvcError => {
    if (error instanceof SvcError) return error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && existsSync(cwd)) {
      return new SvcError('tool_missing', 'git was not found on PATH', {
        cause: error,
        hint: 'install git 2.38 or newer',
      });
    }
    return new SvcError('git_failed', `git could not run in ${cwd}: ${message}`, { cause: error });
  };

  const run: Git['run'] = async (cwd, args, options = {}) => {
    const { input, allowFail = false, maxBytes = DEFAULT_MAX_BYTES } = options;
    try {
      const env = { ...(await overrideEnvironment(cwd)), ...options.env };
      const { child, ended } = launchGit(
        cwd,
        args,
        { ...options, env },
        input === undefined ? 'ignore' : 'pipe',
      );
      const stdout = collectOutput(child.stdout, maxBytes, () => child.kill());
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
      if (result.code !== 0 && !allowFail) {
        const detail =
          findErrorLine(result.stderr) || (signal === null ? `exit code ${code}` : `ended by ${signal}`);
        throw new SvcError('git_failed', `git ${args[0]}: ${detail}`, {
          data: { cwd, exit_code: result.code },
        });
      }
      return result;
    } catch (error) {
      throw explainFailure(error, cwd);
    }
  };

  return {
    run,
    env: base,
    async text(cwd, args, options) {
      return (await run(cwd, args, options)).stdout.replace(/\n$/, '');
    },
    async succeeds(cwd, args, options) {
      return (await run(cwd, args, { ...options, allowFail: true })).code === 0;
    },
    async pipe(cwd, from, to, options = {}) {
      const { input } = options.from ?? {};
      try {
        const told = await overrideEnvironment(cwd);
        const withTold = (given: GitOptions = {}) => ({ ...given, env: { ...told, ...given.env } });
        const first = launchGit(cwd, from, withTold(options.from), input === undefined ? 'ignore' : 'pipe');
        const second = launchGit(cwd, to, withTold(options.to), 'pipe');
        first.child.stdin?.on('error', () => {});
        first.child.stdin?.end(input);
        const stdout = collectOutput(second.child.stdout, DEFAULT_MAX_BYTES, () => second.child.kill());
        const firstError = collectOutput(first.child.stderr, 64 * 1024, () => {});
        const secondError = collectOutput(second.child.stderr, 64 * 1024, () => {});
        second.child.stdin?.on('error', () => {});
        first.child.stdout?.pipe(second.child.stdin!);
        const [one, two] = await Promise.all([first.ended, second.ended]);
        if (one.code !== 0 || two.code !== 0) {
          const said = findErrorLine(firstError.bytes().toString() || secondError.bytes().toString());
          const text = said || `ended by ${one.signal ?? two.signal ?? 'a failure'}`;
          throw new SvcError('git_failed', `git ${from[0]} | git ${to[0]}: ${text}`, { data: { cwd } });
        }
        return stdout.bytes().toString('utf8');
      } catch (error) {
        throw explainFailure(error, cwd);
      }
    },
  };
}

/** The same git with additional variables at every call. */
export function withEnvironment(git: Git, env: Readonly<Record<string, string>>): Git {
  const more = <T extends GitOptions>(options: T | undefined) => ({
    ...options,
    env: { ...env, ...options?.env },
  });
  return {
    env: git.env,
    run: (cwd, args, options) => git.run(cwd, args, more(options)),
    text: (cwd, args, options) => git.text(cwd, args, more(options)),
    succeeds: (cwd, args, options) => git.succeeds(cwd, args, more(options)),
    pipe: (cwd, from, to, options) =>
      git.pipe(cwd, from, to, { from: more(options?.from), to: more(options?.to) }),
  };
}

/** The records of a NUL-separated answer. */
export const splitRecords = (text: string): string[] => text.split('\0').filter((record) => record !== '');

/** Reads `user.name` and `user.email` as configured for a folder, the user's own file included. */
async function readConfiguredUser(git: Git, cwd: string): Promise<Map<string, string>> {
  const { stdout } = await git.run(cwd, ['config', '--null', '--get-regexp', '^user\\.(name|email)$'], {
    allowFail: true,
  });
  return new Map(
    splitRecords(stdout).map((record) => {
      const [key = '', value = ''] = record.split('\n');
      return [key, value] as const;
    }),
  );
}

/**
 * The variables that give a worker's own git the user's configured identity, for agents that hide the home folder
 * from their shells. Empty where none is configured, or where the environment has it already.
 */
export async function findUserIdentity(git: Git, cwd: string): Promise<Record<string, string>> {
  const configured = await readConfiguredUser(git, cwd);
  const found: Record<string, string> = {};
  for (const role of ['AUTHOR', 'COMMITTER'])
    for (const part of ['NAME', 'EMAIL']) {
      const name = `GIT_${role}_${part}`;
      const value = configured.get(`user.${part.toLowerCase()}`);
      if (value && !git.env[name]) found[name] = value;
    }
  return found;
}

/**
 * The identity for our own commits, as variables: empty where the user has one, svc's where none is configured (a
 * fresh machine, a service account).
 */
export async function findFallbackIdentity(git: Git, cwd: string): Promise<Record<string, string>> {
  const configured = await readConfiguredUser(git, cwd);
  const fallback: Record<string, string> = {};
  for (const role of ['AUTHOR', 'COMMITTER']) {
    if (!git.env[`GIT_${role}_NAME`] && !configured.get('user.name')) fallback[`GIT_${role}_NAME`] = 'svc';
    if (!git.env[`GIT_${role}_EMAIL`] && !git.env.EMAIL && !configured.get('user.email')) {
      fallback[`GIT_${role}_EMAIL`] = 'svc@localhost';
    }
  }
  return fallback;
}
