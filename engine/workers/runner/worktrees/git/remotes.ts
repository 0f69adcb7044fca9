import type { Git } from './git.ts';

/** Where a repository can be pushed to. */
export interface Remote {
  name: string;
  /** As git would push to it, all addresses of several; may hold a user's name, and no password. */
  url: string;
}

/** An address as it may be shown: whoever put a password into it did not mean it for a screen. */
const hidePassword = (url: string): string => url.replace(/^([a-z+]+:\/\/[^/@:]+):[^/@]*@/i, '$1@');

/** Lists the remotes of a repository with the addresses that they are pushed to. */
export async function listRemotes(git: Git, repository: string): Promise<Remote[]> {
  const lines = (await git.text(repository, ['remote', '-v'])).split('\n');
  const addresses = new Map<string, string[]>();
  for (const line of lines) {
    const [, name, url] = /^(.+?)\t(.*) \(push\)$/.exec(line) ?? [];
    if (name === undefined || url === undefined) continue;
    addresses.set(name, [...(addresses.get(name) ?? []), hidePassword(url)]);
  }
  return [...addresses].map(([name, urls]) => ({ name, url: urls.join(' and ') }));
}
