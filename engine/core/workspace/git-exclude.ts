import { appendFileSync, lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';

/** The exclude file of a repository, which lists a folder that git must ignore. */
interface ExcludePlace {
  /** `info/exclude` of the git folder that all checkouts of the repository share. */
  file: string;
  /** The line that excludes the folder. */
  entry: string;
  /** Lines that have the same effect. */
  equal: readonly string[];
}

/**
 * Excludes a folder from git in the enclosing repository, so that `git stash -u` and `git clean` ignore it; the
 * project's .gitignore stays unchanged. Reads a few files and starts no git. An existing entry is not repeated.
 * Throws if the file cannot be written. Returns the exclude file, or null outside a repository.
 */
export function excludeFromGit(folder: string): string | null {
  const place = findExcludePlace(folder);
  if (place === null) return null;
  addEntry(place);
  return place.file;
}

/** Excludes `.svc/` in all checkouts of a repository. @param commonDir the git folder that they share */
export const excludeSvcFolder = (commonDir: string): void =>
  addEntry({ file: join(commonDir, 'info', 'exclude'), entry: '.svc/', equal: ['.svc', '/.svc/', '/.svc'] });

function addEntry({ file, entry, equal }: ExcludePlace): void {
  // A pipe would block.
  const found = statSync(file, { throwIfNoEntry: false });
  if (found !== undefined && !found.isFile()) throw new Error(`${file} is not a file`);
  const text = found === undefined ? '' : readFileSync(file, 'utf8');
  const lines = text.split('\n').map((line) => line.trimEnd());
  if (lines.some((line) => line === entry || equal.includes(line))) return;
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${text === '' || text.endsWith('\n') ? '' : '\n'}${entry}\n`);
}

function findExcludePlace(folder: string): ExcludePlace | null {
  for (let top = dirname(folder); ; top = dirname(top)) {
    const common = readCommonFolder(join(top, '.git'));
    if (common !== null) {
      const path = relative(top, folder).split(sep).join('/');
      const file = join(common, 'info', 'exclude');
      // Another user's enclosing repository could redirect us to any file by a link.
      if (!isOwnFolder(join(top, '.git'), top) || !isOwnFolder(file, dirname(common)))
        throw new Error(`the repository at ${top} belongs to another user`);
      const anchored = `/${escapePattern(path)}`;
      const isUsual = basename(folder) === '.svc';
      if (path.includes('\n')) throw new Error(`git has no pattern for the name ${JSON.stringify(path)}`);
      return isUsual
        ? { file, entry: '.svc/', equal: ['.svc', anchored, `${anchored}/`] }
        : { file, entry: `${anchored}/`, equal: [anchored, anchored.slice(1), `${anchored.slice(1)}/`] };
    }
    if (top === dirname(top)) return null;
  }
}

/** Converts a path to a git pattern that matches only that path. */
export const escapePattern = (path: string): string => path.replace(/[\\*?[]/g, '\\$&').replace(/ $/, '\\ ');

/** Reports whether this user created a file or folder, and each folder of its path below another one. */
function isOwnFolder(path: string, above: string): boolean {
  const user = process.getuid?.();
  if (user === undefined) return true;
  for (let at = path; at !== above && at !== dirname(at); at = dirname(at)) {
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (found !== undefined && found.uid !== user) return false;
  }
  return true;
}

/** Returns the git folder that `.git` of a checkout leads to, shared with its other checkouts; null for none. */
function readCommonFolder(mark: string): string | null {
  const found = statSync(mark, { throwIfNoEntry: false });
  if (found === undefined) return null;
  const named = found.isFile() ? /^gitdir: (.+)$/m.exec(readFileSync(mark, 'utf8'))?.[1] : undefined;
  if (!found.isDirectory() && named === undefined) return null;
  const own = named === undefined ? mark : resolve(dirname(mark), named);
  if (lstatSync(join(own, 'HEAD'), { throwIfNoEntry: false }) === undefined) return null;
  const shared = join(own, 'commondir');
  if (!statSync(shared, { throwIfNoEntry: false })?.isFile()) return own;
  return resolve(own, readFileSync(shared, 'utf8').trim());
}
