import type { GitRemote } from '../../../workers/runner/worktrees/index.ts';

/** Programs that open a pull request from a command line: for GitHub, GitLab, and Gitea and Forgejo. */
export const PULL_REQUEST_PROGRAMS = ['gh', 'glab', 'tea'] as const;
export type PullRequestProgram = (typeof PULL_REQUEST_PROGRAMS)[number];

export type PullRequestState = 'open' | 'merged' | 'closed';

/** A pull request as a program reports it; null for missing values. */
export interface ToldPullRequest {
  number: number | null;
  url: string | null;
  state: PullRequestState | null;
}

/** The input of a push and a pull request. */
export interface PullRequestWish {
  branch: string;
  base: string;
  /** The commit that is pushed. */
  head: string;
  title: string;
  body: string;
  /** True if objects of Git LFS have to be pushed first. */
  usesLfs: boolean;
}

const HOSTS: readonly (readonly [RegExp, PullRequestProgram])[] = [
  [/github/i, 'gh'],
  [/gitlab/i, 'glab'],
  [/gitea|forgejo|codeberg/i, 'tea'],
];

/** Returns the host of an address, including `git@host:path`; null for a folder. */
export function findHost(url: string): string | null {
  const [, host] = /^[a-z+]+:\/\/(?:[^/@]*@)?([^/:]+)/i.exec(url) ?? /^(?:[^/@:]+@)([^/:]+):/.exec(url) ?? [];
  return host ?? null;
}

/** Returns the program for a remote by its host's name; null if that is unclear. */
export function guessProgram(url: string): PullRequestProgram | null {
  const host = findHost(url);
  return host === null ? null : (HOSTS.find(([pattern]) => pattern.test(host))?.[1] ?? null);
}

/** Returns the remote to push to: `origin`, or the only one. Null if a person has to choose. */
export const chooseRemote = (remotes: readonly GitRemote[]): GitRemote | null =>
  remotes.find(({ name }) => name === 'origin') ?? (remotes.length === 1 ? (remotes[0] ?? null) : null);

/**
 * Returns the arguments that push exactly the shown commit, to the session's own branch and nothing else. Never
 * forced, and without hooks: a worker can write those of its repository.
 */
const buildPush = ({ branch, head }: PullRequestWish, remote: string): string[] => [
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'protocol.ext.allow=never',
  'push',
  '--no-follow-tags',
  '--recurse-submodules=no',
  '--',
  remote,
  `${head}:refs/heads/${branch}`,
];

/** Returns the arguments that push the objects of Git LFS of that commit: hooks are off, including the hook of Git LFS. */
const buildLfsPush = ({ head }: PullRequestWish, remote: string): string[] => ['lfs', 'push', remote, head];

/** Returns the commands that push a branch and open a pull request for it, in order; each is a program with its arguments. */
export const buildPullRequest = (
  wish: PullRequestWish,
  remote: string,
  program: PullRequestProgram,
): string[][] => [
  ...(wish.usesLfs ? [['git', ...buildLfsPush(wish, remote)]] : []),
  ['git', ...buildPush(wish, remote)],
  [program, ...buildCreate(program, wish)],
];

/** Each value is bound to its option: a title that starts with a dash is not an option. */
function buildCreate(program: PullRequestProgram, { branch, base, title, body }: PullRequestWish): string[] {
  switch (program) {
    case 'gh':
      return ['pr', 'create', `--head=${branch}`, `--base=${base}`, `--title=${title}`, `--body=${body}`];
    case 'glab':
      return [
        'mr',
        'create',
        `--source-branch=${branch}`,
        `--target-branch=${base}`,
        `--title=${title}`,
        `--description=${body}`,
        '--yes',
      ];
    case 'tea':
      return [
        'pr',
        'create',
        `--head=${branch}`,
        `--base=${base}`,
        `--title=${title}`,
        `--description=${body}`,
      ];
  }
}

/** Builds the query for the state of a pull request. */
export function buildView(program: PullRequestProgram, number: number): string[] {
  switch (program) {
    case 'gh':
      return ['pr', 'view', String(number), '--json', 'number,url,state'];
    case 'glab':
      return ['mr', 'view', String(number), '--output', 'json'];
    case 'tea':
      return ['pr', 'list', '--state=all', '--fields=index,state,url', '--output=json', '--limit=999'];
  }
}

const ADDRESS = /https?:\/\/[^\s"'<>]+\/(?:pull|pulls|merge_requests)\/(\d+)/;

/** Reads from a program's output which pull request it created, or found; null if it names none. */
export function readCreated(printed: string): ToldPullRequest | null {
  const [url = null, number] = ADDRESS.exec(printed) ?? [];
  if (url !== null) return { number: Number(number), url, state: 'open' };
  const [, counted] = /(?:already exists[^!#]*|^|\s)[!#](\d+)\b/m.exec(printed) ?? [];
  return counted === undefined ? null : { number: Number(counted), url: null, state: 'open' };
}

const STATES: Readonly<Record<string, PullRequestState>> = {
  open: 'open',
  opened: 'open',
  merged: 'merged',
  closed: 'closed',
};

/** Parses the answer to `buildView`; null for other output. */
export function readState(printed: string, number: number): ToldPullRequest | null {
  let told: unknown;
  try {
    told = JSON.parse(printed);
  } catch {
    return null;
  }
  const all = Array.isArray(told) ? told : [told];
  for (const each of all as Record<string, unknown>[]) {
    if (typeof each !== 'object' || each === null) continue;
    if (Number(each.number ?? each.iid ?? each.index) !== number) continue;
    const url = each.url ?? each.web_url;
    const state = STATES[String(each.state).toLowerCase()] ?? null;
    return { number, url: typeof url === 'string' ? url : null, state };
  }
  return null;
}
