import { constants, copyFileSync, existsSync, lstatSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SvcError } from '../../../core/base/errors.ts';
import { isInsideFolder } from '../../../core/base/paths.ts';
import { makeFoldersWithin } from '../../../core/base/private-files.ts';
import { sentence } from '../../../core/base/sentence.ts';
import type { HomeShare } from '../../agents/presets/index.ts';
import { isFolder, realOf } from './paths.ts';
import { type MountedPlace, showPath } from './rules.ts';

/** git's identity and settings, without the `credentials` next to them. */
const GIT = ['.gitconfig', '.config/git/config', '.config/git/ignore', '.config/git/attributes'];

/** Creates a folder below `kept`. An earlier run could write there, so its links must not lead elsewhere. */
function makeOwnFolder(kept: string, path: string): string {
  const folder = join(kept, path);
  const inTheWay = makeFoldersWithin(dirname(kept), folder);
  if (inTheWay === null) return folder;
  throw new SvcError('confinement_unavailable', `the worker has created something at ${inTheWay}`, {
    hint: sentence`{task.run} starts a new session`,
  });
}

/**
 * Clears a mount point inside a private folder: bubblewrap creates it there, and would follow a link that an earlier
 * run has left.
 */
function clearMountPoint(kept: string, path: string, source: string): void {
  const place = join(makeOwnFolder(kept, dirname(path)), basename(path));
  const found = lstatSync(place, { throwIfNoEntry: false });
  const isFit = isFolder(source) ? found?.isDirectory() : found?.isFile();
  if (found !== undefined && !isFit) rmSync(place, { recursive: true, force: true });
}

/**
 * Builds the rules for the person's home in a confined run. The agent's folders are private folders of the session,
 * so that nothing can be left in the person's configuration that runs later; they contain the settings, read-only,
 * and the login, which the agent must be able to renew.
 * @param home links resolved
 * @param kept a folder of the session that outlives a run
 */
export function buildHomeRules(home: string, share: HomeShare | null, kept: string): MountedPlace[] {
  const showInHome = (path: string, show: 'read' | 'write'): MountedPlace[] => {
    const from = realOf(join(home, path));
    if (from === null) return [];
    if (share?.own.some((folder) => isInsideFolder(folder, path))) clearMountPoint(kept, path, from);
    return [{ path: join(home, path), show, from }];
  };
  const git = GIT.flatMap((path) => showPath(join(home, path), 'read'));
  if (share === null) return git;

  const own = share.own.map(
    (path): MountedPlace => ({
      path: join(home, path),
      show: 'write',
      from: makeOwnFolder(kept, path),
    }),
  );
  const copied = share.copied.map((path): MountedPlace => {
    const copy = join(makeOwnFolder(kept, dirname(path)), basename(path));
    const isThere = lstatSync(copy, { throwIfNoEntry: false }) !== undefined;
    if (!isThere && existsSync(join(home, path)))
      copyFileSync(join(home, path), copy, constants.COPYFILE_EXCL);
    // A link, because agents replace such a file by a new one, which a mount prevents.
    return { path: join(home, path), link: copy };
  });
  return [
    ...git,
    ...own,
    ...copied,
    ...share.login.flatMap((path) => showInHome(path, 'write')),
    ...share.settings.flatMap((path) => showInHome(path, 'read')),
  ];
}
