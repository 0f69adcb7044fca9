import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProgram } from '../../engine/core/base/find-program.ts';
import { startGitea } from '../../fixtures/forge/gitea.ts';
import { startGithub } from '../../fixtures/forge/github.ts';
import { startGitlab } from '../../fixtures/forge/gitlab.ts';
import type { ScriptedForge } from '../../fixtures/forge/host.ts';
import { AUTHORITY } from '../../fixtures/tls/certificate.ts';
import { temporaryFolder } from './workspaces/git.ts';
import { makeWorkspace, type TestWorkspace } from './workspaces/workspace.ts';

/** Why tests that need the real gh are skipped; false if it is installed. */
export const GH_MISSING =
  findProgram('gh', { cwd: '/', path: process.env.PATH }) === undefined ? 'gh is not installed' : false;

const TOKEN = 'gho_token';

/** A kind of code host for tests. */
interface TestKind {
  start: typeof startGithub;
  /** Its name for people. */
  title: string;
  program: string;
  /** The name of its repository. */
  repository: string;
  /** The sign before the number of a pull request. */
  sign: string;
  /** Why its tests are skipped; false if they run. */
  missing: string | false;
  /** The name of a check by its own runners. */
  nameCheck(job: string): string;
  /** The keys of its source in svc.yaml, besides kind and repository. */
  listKeys(address: string): Record<string, string>;
  /** The variables of a person who is logged in. @param folder an empty one */
  login(address: string, folder: string): Record<string, string>;
}

/** Installs the stand-in of a program, which runs a script of fixtures/forge/. Returns the PATH with it. */
function installStandIn(program: string, folder: string): string {
  const script = fileURLToPath(new URL(`../../fixtures/forge/${program}.js`, import.meta.url));
  const path = join(folder, program);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    path,
    `#!/bin/sh\nNODE_EXTRA_CA_CERTS="$SSL_CERT_FILE" exec '${process.execPath}' '${script}' "$@"\n`,
  );
  chmodSync(path, 0o755);
  return `${folder}${delimiter}${process.env.PATH}`;
}

const PASSWORD = `!f() { echo username=person; echo password=${TOKEN}; }; f`;

/** Writes the logins of tea, one of them for another host. Returns the folder of its settings. */
function logTeaIn(address: string, folder: string): string {
  mkdirSync(join(folder, 'tea'));
  const logins = [
    { name: 'other', url: 'https://gitea.example', token: 'none', user: 'person', default: true },
    { name: 'here', url: `https://${address}`, token: TOKEN, user: 'person' },
  ];
  writeFileSync(join(folder, 'tea/config.yml'), JSON.stringify({ logins }));
  return folder;
}

const KINDS = {
  github: {
    start: startGithub,
    ...{ title: 'GitHub', program: 'gh', repository: 'acme/shop', missing: GH_MISSING },
    sign: '#',
    nameCheck: (job) => job,
    listKeys: () => ({}),
    login: (address, folder) => ({
      ...{ GH_HOST: address, GH_ENTERPRISE_TOKEN: TOKEN, GH_CONFIG_DIR: join(folder, 'gh') },
      GIT_CONFIG_VALUE_0: '!gh auth git-credential',
    }),
  },
  gitea: {
    start: startGitea,
    ...{ title: 'Gitea', program: 'tea', repository: 'acme/shop', missing: false },
    sign: '#',
    nameCheck: (job) => `test.yml / ${job} (pull_request)`,
    listKeys: (host) => ({ host }),
    login: (address, folder) => ({
      ...{ XDG_CONFIG_HOME: logTeaIn(address, folder), PATH: installStandIn('tea', join(folder, 'bin')) },
      GIT_CONFIG_VALUE_0: PASSWORD,
    }),
  },
  gitlab: {
    start: startGitlab,
    ...{ title: 'GitLab', program: 'glab', repository: 'acme/tools/shop', missing: false },
    sign: '!',
    nameCheck: (job) => job,
    listKeys: (host) => ({ host }),
    login: (address, folder) => ({
      ...{ GITLAB_HOST: address, GITLAB_TOKEN: TOKEN, PATH: installStandIn('glab', join(folder, 'bin')) },
      GIT_CONFIG_VALUE_0: PASSWORD,
    }),
  },
} as const satisfies Record<string, TestKind>;

export type TestForgeKind = keyof typeof KINDS;

export const describeKind = (kind: TestForgeKind): TestKind => KINDS[kind];

/** A scripted code host for the person's program, which is logged in there, and a real git. */
export interface TestForge extends Omit<TestKind, 'start' | 'login' | 'listKeys'> {
  kind: TestForgeKind;
  host: ScriptedForge;
  /** The variables of a person who is logged in. */
  env: Record<string, string>;
  /** The bare repository behind it. */
  bare: string;
  /** The entry of `sources` for its repository. */
  source: string;
  close(): Promise<void>;
}

export async function startForge(kind: TestForgeKind = 'github'): Promise<TestForge> {
  const { start, login, listKeys, ...names }: TestKind = KINDS[kind];
  const folder = temporaryFolder('svc-test-forge-');
  const bare = join(folder, 'shop.git');
  execFileSync('git', ['init', '-q', '--bare', '--initial-branch=main', bare]);
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, AUTHORITY);
  const host = await start({ token: TOKEN, repository: bare });
  const { address } = host;
  return {
    ...names,
    ...{ kind, host, bare },
    source: JSON.stringify({ kind, repository: names.repository, ...listKeys(address) }),
    env: {
      ...{ SSL_CERT_FILE: authority, GIT_SSL_CAINFO: authority },
      ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'credential.helper' },
      ...login(address, folder),
    },
    async close() {
      await host.close();
      rmSync(dirname(bare), { recursive: true, force: true });
    },
  };
}

/** Creates a workspace whose repository is on the scripted code host, as `origin`. */
export async function makeForgeWorkspace(
  forge: TestForge,
  options: { yaml: string; hosted?: boolean },
): Promise<TestWorkspace> {
  const ws = await makeWorkspace({ hosted: true, ...options, env: forge.env });
  addForgeRemote(forge, ws);
  return ws;
}

/** Makes the scripted code host the `origin` of a workspace's repository. */
export function addForgeRemote({ host, bare }: TestForge, { repository }: TestWorkspace): void {
  repository.git('remote', 'add', 'origin', host.remote());
  execFileSync('git', ['push', '-q', bare, 'main'], { cwd: repository.root });
}
