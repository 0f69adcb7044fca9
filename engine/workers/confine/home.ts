import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { HomeShare } from '../presets/preset.ts';
import { realOf } from './paths.ts';
import { type Place, showing } from './rules.ts';

/** git's identity and settings; not `credentials`, which lies beside them. */
const GIT = ['.gitconfig', '.config/git/config', '.config/git/ignore', '.config/git/attributes'];

/**
 * What a confined run sees of the person's home. The agent's folders there are private ones of the session, so that
 * nothing can be left in the person's configuration that runs later; into them come the settings, read-only, and the
 * login, which the agent has to be able to renew.
 * @param home links resolved
 * @param kept a folder of the session alone, which outlives a run
 */
export function homeRules(home: string, share: HomeShare | null, kept: string): Place[] {
  const inHome = (path: string, show: 'read' | 'write'): Place[] => {
    const from = realOf(join(home, path));
    return from === null ? [] : [{ path: join(home, path), show, from }];
  };
  const git = GIT.flatMap((path) => showing(join(home, path), 'read'));
  if (share === null) return git;

  const own = share.own.map((path): Place => {
    const from = join(kept, path);
    mkdirSync(from, { recursive: true, mode: 0o700 });
    return { path: join(home, path), show: 'write', from };
  });
  const copied = share.copied.map((path): Place => {
    const copy = join(kept, path);
    mkdirSync(dirname(copy), { recursive: true, mode: 0o700 });
    if (!existsSync(copy) && existsSync(join(home, path))) copyFileSync(join(home, path), copy);
    // A link, because agents replace such a file by a new one, which a mount does not allow.
    return { path: join(home, path), link: copy };
  });
  return [
    ...git,
    ...own,
    ...copied,
    ...share.login.flatMap((path) => inHome(path, 'write')),
    ...share.settings.flatMap((path) => inHome(path, 'read')),
  ];
}
