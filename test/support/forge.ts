import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findProgram } from '../../engine/core/base/find-program.ts';
import { type ScriptedGithub, startGithub } from '../../fixtures/forge/github.ts';
import { AUTHORITY } from '../../fixtures/tls/certificate.ts';
import { temporaryFolder } from './workspaces/git.ts';
import { makeWorkspace, type TestWorkspace } from './workspaces/workspace.ts';

/** Why tests that need the real gh are skipped; false if it is installed. */
export const GH_MISSING =
  findProgram('gh', { cwd: '/', path: process.env.PATH }) === undefined ? 'gh is not installed' : false;

/** A scripted GitHub for a real gh that is logged in there, and a real git. */
export interface TestForge {
  github: ScriptedGithub;
  /** The variables of a person who is logged in. */
  env: Record<string, string>;
  /** The bare repository behind it. */
  bare: string;
  close(): Promise<void>;
}

const TOKEN = 'gho_token';

export async function startForge(): Promise<TestForge> {
  const folder = temporaryFolder('svc-test-forge-');
  const bare = join(folder, 'shop.git');
  execFileSync('git', ['init', '-q', '--bare', '--initial-branch=main', bare]);
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, AUTHORITY);
  const github = await startGithub({ token: TOKEN, repository: bare });
  return {
    github,
    bare,
    env: {
      ...{ GH_HOST: github.host, GH_ENTERPRISE_TOKEN: TOKEN, GH_CONFIG_DIR: join(folder, 'gh') },
      ...{ SSL_CERT_FILE: authority, GIT_SSL_CAINFO: authority },
      ...{ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'credential.helper' },
      GIT_CONFIG_VALUE_0: '!gh auth git-credential',
    },
    async close() {
      await github.close();
      rmSync(dirname(bare), { recursive: true, force: true });
    },
  };
}

/** Creates a workspace whose repository is on the scripted GitHub, as `origin`. */
export async function makeForgeWorkspace(
  forge: TestForge,
  options: { yaml: string; hosted?: boolean },
): Promise<TestWorkspace> {
  const ws = await makeWorkspace({ hosted: true, ...options, env: forge.env });
  addForgeRemote(forge, ws);
  return ws;
}

/** Makes the scripted GitHub the `origin` of a workspace's repository. */
export function addForgeRemote({ github, bare }: TestForge, { repository }: TestWorkspace): void {
  repository.git('remote', 'add', 'origin', github.remote());
  execFileSync('git', ['push', '-q', bare, 'main'], { cwd: repository.root });
}
