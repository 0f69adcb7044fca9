import { constants, copyFileSync, existsSync, lstatSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { SvcError } from '../../../core/base/errors.ts';
import { isInsideFolder } from '../../../core/base/paths.ts';
import { makeFoldersWithin } from '../../../core/base/private-files.ts';
import { findRealPath, isFolder } from '../../../core/base/real-paths.ts';
import { sentence } from '../../../core/base/sentence.ts';
import { type MountedPlace, showPath, sortByDepth } from '../../../core/platform/index.ts';
import type { HomeShare } from '../../agents/presets/index.ts';

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
    const from = findRealPath(join(home, path));
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

/** The home of a run in a sandbox without mounts. */
interface MovedHome {
  places: MountedPlace[];
  variables: Record<string, string>;
  /** Its folder for temporary files. */
  temporary: string;
}

/**
 * Moves the rules of the person's home to a private home, for a sandbox that cannot show one path in the place of
 * another: the agent's own folders are already there, and links lead to everything else. A guest gets an empty one.
 * @param home links resolved
 * @param kept the session's own folder, with `home/` of `buildHomeRules` in it
 */
export function movePlacesOfHome(
  places: readonly MountedPlace[],
  { home, kept, isGuest }: { home: string; kept: string; isGuest: boolean },
): MovedHome {
  if (isGuest) rmSync(join(kept, 'guest'), { recursive: true, force: true });
  const own = isGuest ? join(kept, 'guest') : kept;
  const privateHome = makeOwnFolder(kept, relative(kept, join(own, 'home')));
  const temporary = makeOwnFolder(kept, relative(kept, join(own, 'tmp')));
  const linked: string[] = [];
  const moved = sortByDepth(places).flatMap((place): MountedPlace[] => {
    if (!isInsideFolder(home, place.path)) return [place];
    const target = 'link' in place ? place.link : (place.from ?? place.path);
    const at = join(privateHome, relative(home, place.path));
    // A link around it leads there too.
    if (target !== at && !linked.some((other) => isInsideFolder(other, at))) {
      placeLink(privateHome, at, target);
      linked.push(at);
    }
    return 'link' in place ? [] : [{ path: target, show: place.show }];
  });
  return {
    places: isGuest ? [...moved, { path: own, show: 'write' }] : moved,
    variables: { HOME: privateHome, TMPDIR: temporary },
    temporary,
  };
}

/** Places a link in the private home, where an earlier run may have put something else. */
function placeLink(privateHome: string, at: string, target: string): void {
  makeOwnFolder(privateHome, relative(privateHome, dirname(at)));
  rmSync(at, { recursive: true, force: true });
  symlinkSync(target, at);
}
