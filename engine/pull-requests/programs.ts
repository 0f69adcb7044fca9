import type { ForgeKind } from '../forge/index.ts';
import type { GitRemote } from '../workers/runner/worktrees/index.ts';
import { findRemoteAddress, splitSshAddress } from './remote-address.ts';
import { readWebPlace } from './web-place.ts';

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
  /** The session's branch. */
  branch: string;
  /** The wanted name of the branch at the code host. */
  pushTo: string;
  base: string;
  /** The commit that is pushed. */
  head: string;
  title: string;
  body: string;
  isDraft: boolean;
  /** True if objects of Git LFS have to be pushed first. */
  usesLfs: boolean;
}

const HOSTS: readonly (readonly [RegExp, PullRequestProgram])[] = [
  [/github/i, 'gh'],
  [/gitlab/i, 'glab'],
  [/gitea|forgejo|codeberg/i, 'tea'],
];

/** Returns the host of an address with its port, including `git@host:path`; null for a folder. */
function findHost(url: string): string | null {
  const [, host] = /^[a-z+]+:\/\/(?:[^/@]*@)?([^/]+)/i.exec(url) ?? [];
  return host ?? splitSshAddress(url)?.host ?? null;
}

/** The program of each kind of code host. */
const PROGRAMS: Readonly<Record<ForgeKind, PullRequestProgram>> = {
  ...{ github: 'gh', gitlab: 'glab', gitea: 'tea' },
};

/** The part of a remote that identifies its repository. */
export type RemoteAddress = Pick<PublishRemote, 'url' | 'address'>;

/** A remote, and its code host. */
export interface PublishRemote extends GitRemote {
  /** Its address at the code host, if its url names a Host of the person's ssh configuration; else null. */
  address: string | null;
  /** The program of its code host; null if the engine cannot tell. */
  program: PullRequestProgram | null;
}

/** Stands for the remote in the commands of a repository that has none yet. */
export const MISSING_REMOTE: PublishRemote = { name: 'origin', url: '', address: null, program: null };

/** Returns the address of a remote at its code host. */
export const getAddress = ({ url, address }: RemoteAddress): string => address ?? url;

/** The code hosts that the workspace and the person name. */
export interface KnownHosts {
  /** Those that svc.yaml names. */
  sources: readonly { kind: ForgeKind; host?: string | undefined }[];
  /** The person's variables. */
  env: NodeJS.ProcessEnv;
}

/** Finds out which code host a remote is at. */
export async function describeRemote(
  remote: GitRemote,
  { sources, env }: KnownHosts,
): Promise<PublishRemote> {
  const findSource = (host: string) => sources.find((each) => each.host === host);
  const isKnown = (host: string): boolean =>
    findSource(host) !== undefined || findProgramByVariables(host, env) !== null;
  const found = await findRemoteAddress(remote.url, isKnown, env);
  const source = findSource(findHost(found) ?? '');
  const named = source === undefined ? null : PROGRAMS[source.kind];
  const known = { ...remote, address: found === remote.url ? null : found, program: named };
  return { ...known, program: guessProgram(known, env) };
}

function findProgramByVariables(
  host: string,
  { GH_HOST, GITLAB_HOST = '' }: NodeJS.ProcessEnv,
): PullRequestProgram | null {
  if (host === GH_HOST) return 'gh';
  return host === GITLAB_HOST.replace(/^https?:\/\/|\/+$/g, '') ? 'glab' : null;
}

/** Returns the program for a remote: by the person's variables, svc.yaml, or the host's name; null if that is unclear. */
export function guessProgram(
  remote: Omit<PublishRemote, 'name'>,
  env: NodeJS.ProcessEnv,
): PullRequestProgram | null {
  const host = findHost(getAddress(remote));
  if (host === null) return null;
  const guessed = HOSTS.find(([pattern]) => pattern.test(host))?.[1] ?? null;
  return findProgramByVariables(host, env) ?? remote.program ?? guessed;
}

/** Names the repository for gh, which does not recognize a remote whose host has a port, and some Hosts of ssh. */
function nameRepository(remote: RemoteAddress | null): string[] {
  if (remote === null) return [];
  const { url, address } = remote;
  const unclear = address ?? (findHost(url)?.includes(':') ? url : null);
  const place = unclear === null ? null : readWebPlace(unclear);
  return place === null ? [] : [`--repo=${new URL(place.origin).host}/${place.path}`];
}

/** Returns the remote to push to: `origin`, or the only one. Null if a person has to choose. */
export const chooseRemote = <R extends GitRemote>(remotes: readonly R[]): R | null =>
  remotes.find(({ name }) => name === 'origin') ?? (remotes.length === 1 ? (remotes[0] ?? null) : null);

/**
 * Returns the arguments that push exactly the shown commit, to one branch and nothing else. Never forced, and without
 * hooks: a worker can write those of its repository.
 */
export const buildPush = ({ pushTo, head }: PullRequestWish, remote: string): string[] => [
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'protocol.ext.allow=never',
  'push',
  '--no-follow-tags',
  '--recurse-submodules=no',
  '--',
  remote,
  `${head}:refs/heads/${pushTo}`,
];

/** Returns the arguments that push the objects of Git LFS of that commit: hooks are off, including the hook of Git LFS. */
export const buildLfsPush = ({ head }: PullRequestWish, remote: string): string[] => [
  'lfs',
  'push',
  remote,
  head,
];

/** Returns the arguments that open a pull request. Each value is bound to its option: a title that starts with a dash is not an option. */
export function buildCreate(
  program: PullRequestProgram,
  { pushTo, base, title, body, isDraft }: PullRequestWish,
  remote: RemoteAddress,
): string[] {
  switch (program) {
    case 'gh':
      return [
        'pr',
        'create',
        ...nameRepository(remote),
        `--head=${pushTo}`,
        `--base=${base}`,
        `--title=${title}`,
        `--body=${body}`,
        ...(isDraft ? ['--draft'] : []),
      ];
    case 'glab':
      return [
        'mr',
        'create',
        `--source-branch=${pushTo}`,
        `--target-branch=${base}`,
        `--title=${title}`,
        `--description=${body}`,
        ...(isDraft ? ['--draft'] : []),
        '--yes',
      ];
    case 'tea':
      return [
        'pr',
        'create',
        `--head=${pushTo}`,
        `--base=${base}`,
        // Gitea and Forgejo recognize drafts by their title.
        `--title=${isDraft ? 'WIP: ' : ''}${title}`,
        `--description=${body}`,
      ];
  }
}

/** Builds the query for the state of a pull request. */
export function buildView(
  program: PullRequestProgram,
  number: number,
  remote: RemoteAddress | null,
): string[] {
  switch (program) {
    case 'gh':
      return ['pr', 'view', String(number), ...nameRepository(remote), '--json', 'number,url,state'];
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
