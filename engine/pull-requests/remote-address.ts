import { runProgram } from '../core/base/run-program.ts';

/** Public code hosts, and the names under which they also accept ssh. */
const PUBLIC_HOSTS: Readonly<Record<string, string>> = {
  ...{ 'github.com': 'github.com', 'ssh.github.com': 'github.com' },
  ...{ 'gitlab.com': 'gitlab.com', 'altssh.gitlab.com': 'gitlab.com' },
  'codeberg.org': 'codeberg.org',
};

/** `ssh://git@host:22/path` or `git@host:path`: what is before the host, the host, the port, and the rest. */
const SSH_URL = /^(ssh:\/\/(?:[^/@]*@)?)([^/:]+)(:\d+)?(\/.*)$/;
const SSH_PATH = /^((?:[^/@:]+@)?)([^/@:]+)()(:(?!:|\/\/).+)$/;

/** Splits an address that git reaches by ssh; null for any other. See "GIT URLS" in git-fetch(1). */
export function splitSshAddress(url: string): { before: string; host: string; path: string } | null {
  const [, before = '', host, , path = ''] = SSH_URL.exec(url) ?? SSH_PATH.exec(url) ?? [];
  return host === undefined ? null : { before, host, path };
}

/**
 * Returns the address of a remote with the name of its code host in place of a Host of the person's ssh configuration,
 * such as `git@github.com:acme/shop` for `git@github-work:acme/shop`. Asks ssh, which knows its rules.
 * @param isKnown reports whether a name is that of a code host
 */
export async function findRemoteAddress(
  url: string,
  isKnown: (host: string) => boolean,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const split = splitSshAddress(url);
  if (split === null || PUBLIC_HOSTS[split.host] === split.host || isKnown(split.host)) return url;
  const { before, host, path } = split;
  // A `Match exec` of that configuration may take its time.
  const { stdout } = await runProgram('ssh', ['-G', '--', host], { env, timeoutMs: 5000 });
  const [, named = host] = /^hostname (.+)$/m.exec(stdout) ?? [];
  const real = PUBLIC_HOSTS[named] ?? named;
  // A full name that ssh replaces by that of an inner machine stays: its pages are at the full name.
  const isBetter = real in PUBLIC_HOSTS || isKnown(real) || !host.includes('.');
  return isBetter && real !== host ? `${before}${real}${path}` : url;
}
