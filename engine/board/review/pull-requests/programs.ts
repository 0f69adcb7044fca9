import type { Remote } from '../../../workers/runner/worktrees/index.ts';

/** What opens a pull request from a command line: GitHub's, GitLab's, and that of Gitea and Forgejo. */
export const PULL_REQUEST_PROGRAMS = ['gh', 'glab', 'tea'] as const;
export type PullRequestProgram = (typeof PULL_REQUEST_PROGRAMS)[number];

export type PullRequestState = 'open' | 'merged' | 'closed';

/** A pull request as a program tells it; null is what it has not told. */
export interface ToldPullRequest {
  number: number | null;
  url: string | null;
  state: PullRequestState | null;
}

/** What is to be pushed and opened. */
export interface PullRequestWish {
  branch: string;
  base: string;
  /** The commit that is pushed. */
  head: string;
  title: string;
  body: string;
  /** Objects of Git LFS are to be pushed first. */
  usesLfs: boolean;
}

const HOSTS: readonly (readonly [RegExp, PullRequestProgram])[] = [
  [/github/i, 'gh'],
  [/gitlab/i, 'glab'],
  [/gitea|forgejo|codeberg/i, 'tea'],
];

/** The host of an address, `git@host:path` included; null for a folder. */
export function findHost(url: string): string | null {
  const [, host] = /^[a-z+]+:\/\/(?:[^/@]*@)?([^/:]+)/i.exec(url) ?? /^(?:[^/@:]+@)([^/:]+):/.exec(url) ?? [];
  return host ?? null;
}

/** The program for a remote by its host's name; null where that does not tell. */
export function guessProgram(url: string): PullRequestProgram | null {
  const host = findHost(url);
  return host === null ? null : (HOSTS.find(([pattern]) => pattern.test(host))?.[1] ?? null);
}

/** The remote to push to: `origin`, or the only one. Null where a person has to say. */
export const chooseRemote = (remotes: readonly Remote[]): Remote | null =>
  remotes.find(({ name }) => name === 'origin') ?? (remotes.length === 1 ? (remotes[0] ?? null) : null);

/**
 * The arguments that push exactly the commit that was shown, to the session's own branch and nothing else. Never forced,
 * and without hooks: a worker can write those of its repository.
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

/** The arguments that push the objects of Git LFS of that commit: hooks are off, and the hook of Git LFS with them. */
const buildLfsPush = ({ head }: PullRequestWish, remote: string): string[] => ['lfs', 'push', remote, head];

/** The commands that push a branch and open a pull request for it, in order; each is a program with its arguments. */
export const buildPullRequest = (
  wish: PullRequestWish,
  remote: string,
  program: PullRequestProgram,
): string[][] => [
  ...(wish.usesLfs ? [['git', ...buildLfsPush(wish, remote)]] : []),
  ['git', ...buildPush(wish, remote)],
  [program, ...buildCreate(program, wish)],
];

/** Each value is bound to its option: a title that begins with a dash is no option. */
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

/** Asks for the state of what has this number. */
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

/**
 * Reads which pull request a program made, or says is there already, from what it printed; null when it tells none.
 */
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

/** Reads the answer to `buildView`; null when it is none. */
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
