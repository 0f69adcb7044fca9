import type { Git } from './git.ts';
import { hidePassword } from './hide-password.ts';

/** The push targets of a repository. */
export interface GitRemote {
  name: string;
  /** As git would push to it, all of its addresses; may contain a user's name, but no password. */
  url: string;
}

/** Lists the remotes of a repository with the addresses that they are pushed to. */
export async function listRemotes(git: Git, repository: string): Promise<GitRemote[]> {
  const lines = (await git.text(repository, ['remote', '-v'])).split('\n');
  const addresses = new Map<string, string[]>();
  for (const line of lines) {
    const [, name, url] = /^(.+?)\t(.*) \(push\)$/.exec(line) ?? [];
    if (name === undefined || url === undefined) continue;
    addresses.set(name, [...(addresses.get(name) ?? []), hidePassword(url)]);
  }
  return [...addresses].map(([name, urls]) => ({ name, url: urls.join(' and ') }));
}
