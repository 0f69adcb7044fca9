import { SvcError } from '../core/base/errors.ts';
import type { ForgeAccess } from './access.ts';
import type { ForgeKind } from './config.ts';
import type { Forge, PullRequestPlace } from './forge.ts';
import { createGiteaForge } from './gitea.ts';
import { createGithubForge, GITHUB_HEADERS } from './github.ts';
import { createGitlabForge } from './gitlab.ts';
import { createProgramTransport, type ForgeNames } from './program-transport.ts';
import {
  createRequests,
  type ForgeMemory,
  type ForgeRequests,
  type ForgeTransport,
  rememberAnswers,
} from './requests.ts';
import { createTeaTransport } from './tea-transport.ts';
import { createTokenTransport } from './token-transport.ts';

interface KindOfForge {
  names: ForgeNames;
  /** @param host null for that of the person's settings */
  openTransport(names: ForgeNames, access: ForgeAccess, host: string | null): ForgeTransport;
  headers: readonly string[];
  create(requests: ForgeRequests): Forge;
  /** The path of a pull request's page, with the repository and the number. */
  page: RegExp;
  /** The sign before its number in a reference. */
  sign: string;
}

/**
 * Opens requests by a program that accepts a host with a port only from a variable. Throws `program_failed`.
 * @param variable its name
 */
const openProgram =
  (variable: string): KindOfForge['openTransport'] =>
  (names, { programs, env }, host) => {
    const own = env[variable]?.replace(/^https?:\/\/|\/+$/g, '');
    if (host?.includes(':') && host !== own)
      throw new SvcError(
        'program_failed',
        `${names.program} asks a host with a port only if ${variable} names it: ${host}`,
      );
    return createProgramTransport(names, programs, host?.includes(':') ? null : host);
  };

/** Opens requests with the token that svc.yaml names for the host, otherwise by the person's tea. */
const openGitea: KindOfForge['openTransport'] = (names, { programs, env, findToken }, host) => {
  if (host === null) throw new SvcError('program_failed', `the host of the ${names.host} is not known`);
  const token = findToken(host);
  return token === null
    ? createTeaTransport(names, programs, host)
    : createTokenTransport(names.host, env, host, token);
};

const KINDS: Readonly<Record<ForgeKind, KindOfForge>> = {
  github: {
    names: { host: 'GitHub', program: 'gh', login: 'gh auth login', status: 'gh auth status' },
    openTransport: openProgram('GH_HOST'),
    headers: GITHUB_HEADERS,
    create: createGithubForge,
    page: /^\/([\w.-]+\/[\w.-]+)\/pull\/(\d+)$/,
    sign: '#',
  },
  gitea: {
    names: { host: 'Gitea', program: 'tea', login: 'tea logins add', status: 'tea logins list' },
    openTransport: openGitea,
    headers: [],
    create: createGiteaForge,
    page: /^\/([\w.-]+\/[\w.-]+)\/pulls\/(\d+)$/,
    sign: '#',
  },
  gitlab: {
    names: { host: 'GitLab', program: 'glab', login: 'glab auth login', status: 'glab auth status' },
    openTransport: openProgram('GITLAB_HOST'),
    headers: [],
    create: createGitlabForge,
    page: /^\/([\w.-]+(?:\/[\w.-]+)+)\/-\/merge_requests\/(\d+)$/,
    sign: '!',
  },
};

/**
 * Opens a code host for requests. Throws `program_failed` if its host cannot be asked.
 * @param host null for that of the person's settings
 * @param memory makes requests conditional on the answers that it keeps
 */
export function openForge(
  access: ForgeAccess,
  { kind, host }: { kind: ForgeKind; host: string | null },
  memory?: ForgeMemory,
): Forge {
  const { names, openTransport, headers, create } = KINDS[kind];
  const requests = createRequests(openTransport(names, access, host), access.now, headers);
  return create(memory === undefined ? requests : rememberAnswers(requests, memory));
}

/** Reads where a pull request is from the address of its page, by the program that opened it; null for another address. */
export function readPlace(program: string, url: string | null): PullRequestPlace | null {
  const found = Object.entries(KINDS).find(([, { names }]) => names.program === program);
  if (found === undefined || url === null || !URL.canParse(url)) return null;
  const [kind, { page, sign }] = found as [ForgeKind, KindOfForge];
  const { host, pathname } = new URL(url);
  const [, repository, number] = page.exec(pathname) ?? [];
  if (repository === undefined) return null;
  return { kind, host, repository, number: Number(number), reference: `${repository}${sign}${number}` };
}
