import type { ChildProcess } from 'node:child_process';
import type { PlainCheckout } from './plain-checkout.ts';

export interface GitOptions {
  /** A non-zero exit is an answer, not an error. */
  allowFail?: boolean;
  env?: Readonly<Record<string, string>>;
  /** Written to git's stdin; without it stdin is empty. */
  input?: string;
  /** Lets git search for the repository above `cwd` too. Only for finding it; see R2. */
  discover?: boolean;
  /** Stop reading and kill git after this many bytes of output; 256 MiB. */
  maxBytes?: number;
  /** Kill git after this time, ms; without it there is no limit. */
  timeoutMs?: number;
  /** Ends git, with everything that it has started such as a person's filters, when it aborts. */
  signal?: AbortSignal | undefined;
}

export interface GitResult {
  code: number;
  stdout: string;
  stderr: string;
  /** True if more output followed than `maxBytes`. */
  truncated: boolean;
}

/** The parts of a commit that lead to other objects. */
export interface CommitLinks {
  tree: string;
  parents: readonly string[];
}

export interface Git {
  /** Runs git without a shell. Throws `git_failed` with git's first line, `tool_missing` without git. */
  run(cwd: string, args: readonly string[], options?: GitOptions): Promise<GitResult>;
  /** The output without its last newline. */
  text(cwd: string, args: readonly string[], options?: GitOptions): Promise<string>;
  /** True if the command succeeded. */
  succeeds(cwd: string, args: readonly string[], options?: GitOptions): Promise<boolean>;
  /** Pipes the output of one command into the next; returns the second one's output. Throws as `run` does. */
  pipe(
    cwd: string,
    from: readonly string[],
    to: readonly string[],
    options?: {
      from?: Omit<GitOptions, 'allowFail' | 'maxBytes'>;
      to?: Pick<GitOptions, 'env' | 'timeoutMs' | 'signal'>;
    },
  ): Promise<string>;
  /**
   * Starts a git that waits for commands on its standard input, and ends when that ends, as it does with this process.
   * @param gitDir the git folder that it works in
   */
  open(
    gitDir: string,
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Promise<ChildProcess>;
  /** The host's environment as git sees it. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Returns the configured names and addresses of commits at a folder, by setting; see `read-settings.ts`. */
  readIdentity(cwd: string): Promise<ReadonlyMap<string, string>>;
  /**
   * Identifies the settings and attributes with which git writes files of a repository; null if they cannot be told
   * apart.
   */
  signSettings(cwd: string): Promise<string | null>;
  /**
   * Reads the checkout at a folder from its files, without starting git; null if only git can tell. Throws where `run`
   * with `discover` would.
   */
  readCheckout(cwd: string, options?: Pick<GitOptions, 'discover'>): PlainCheckout | null;
  /**
   * Reads a commit without starting a git for each; null if it is missing or no commit, or if git has to be asked in
   * another way.
   * @param commonDir the git folder that all worktrees of the repository share
   * @param id a full object id
   */
  readCommit(commonDir: string, id: string): Promise<CommitLinks | null>;
}

/** Options for checking a project's folder: searches upwards, fails without an error and fetches nothing. */
export const LOOKUP = {
  allowFail: true,
  discover: true,
  env: { GIT_NO_LAZY_FETCH: '1' },
} as const satisfies GitOptions;

/**
 * Makes git ignore changes inside a nested repository: git would otherwise run in it, and a worker may have created
 * it with a configuration that names programs. `findNestedRepositories` reports its existence.
 */
export const NOT_INSIDE = '--ignore-submodules=dirty';

/** Prevents a diff from running configured programs. */
export const NO_DIFF_PROGRAMS = ['--no-ext-diff', '--no-textconv'] as const;

/** Returns the same git with additional options at every call; `open` does not heed the signal. */
function bindOptions(git: Git, bound: Pick<GitOptions, 'env' | 'signal'>): Git {
  const more = <T extends GitOptions>(options: T | undefined) => ({
    ...bound,
    ...options,
    env: { ...bound.env, ...options?.env },
  });
  return {
    ...git,
    run: (cwd, args, options) => git.run(cwd, args, more(options)),
    open: (gitDir, args, own) => git.open(gitDir, args, { ...bound.env, ...own }),
    text: (cwd, args, options) => git.text(cwd, args, more(options)),
    succeeds: (cwd, args, options) => git.succeeds(cwd, args, more(options)),
    pipe: (cwd, from, to, options) =>
      git.pipe(cwd, from, to, { from: more(options?.from), to: more(options?.to) }),
  };
}

/** Returns the same git with additional variables at every call. */
export const withEnvironment = (git: Git, env: Readonly<Record<string, string>>): Git =>
  bindOptions(git, { env });

/** Returns the same git, whose calls end, or are refused, when the signal aborts. */
export const withSignal = (git: Git, signal: AbortSignal): Git => bindOptions(git, { signal });

/** Splits the records of a NUL-separated answer. */
export const splitRecords = (text: string): string[] => text.split('\0').filter((record) => record !== '');

/**
 * Returns the variables that give a worker's own git the user's configured identity, for agents that hide the home
 * folder from their shells. Empty if none is configured, or if the environment already has it.
 */
export async function findUserIdentity(git: Git, cwd: string): Promise<Record<string, string>> {
  const configured = await git.readIdentity(cwd);
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
 * Returns the identity for our own commits, as variables: empty if the user has one, svc's if none is configured (a
 * fresh machine, a service account).
 */
export async function findFallbackIdentity(git: Git, cwd: string): Promise<Record<string, string>> {
  const configured = await git.readIdentity(cwd);
  const fallback: Record<string, string> = {};
  for (const role of ['AUTHOR', 'COMMITTER']) {
    if (!git.env[`GIT_${role}_NAME`] && !configured.get('user.name')) fallback[`GIT_${role}_NAME`] = 'svc';
    if (!git.env[`GIT_${role}_EMAIL`] && !git.env.EMAIL && !configured.get('user.email')) {
      fallback[`GIT_${role}_EMAIL`] = 'svc@localhost';
    }
  }
  return fallback;
}
