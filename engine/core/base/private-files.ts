import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { writeFileAtomically } from './atomic-file.ts';
import { SvcError } from './errors.ts';

// svc's files are in places where a repository, a backup or a worker may have put something before. These functions
// never follow a link, wait for a pipe or write into a file with a second name.

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;

/** Modes of opening a file: `add` creates a missing one, `new` requires that none exists. */
export type PrivateUse = 'read' | 'change' | 'add' | 'new';

const FLAGS: Record<PrivateUse, number> = {
  read: O_RDONLY,
  change: O_RDWR,
  // Also opened for reading: an append checks whether the last line is complete.
  add: O_RDWR | O_APPEND | O_CREAT,
  new: O_WRONLY | O_CREAT | O_EXCL,
};

const unsafeFileError = (path: string, what: string): SvcError =>
  new SvcError('storage_unsafe', `${path} ${what}, so svc does not open it`, {
    hint: `inspect it, then remove it: ls -ld ${path}`,
    data: { path },
  });

/** Returns why a file cannot be one of ours, as the end of a sentence; null if it is fine. */
function findFileFault(found: Stats, mayBeLinked: boolean): string | null {
  if (found.isSymbolicLink()) return 'is a link';
  if (!found.isFile()) return 'is not a file';
  return found.nlink > 1 && !mayBeLinked ? 'has a second name (a hard link)' : null;
}

/**
 * Opens a file of svc, created with mode 0600. Throws `storage_unsafe` for a link, a pipe, a folder and a file with
 * two names; otherwise like `openSync`.
 * @param mayBeLinked allows a second name, which is left over from its creation
 */
export function openPrivate(file: string, use: PrivateUse, mayBeLinked = false): number {
  let fd: number;
  try {
    fd = openSync(file, FLAGS[use] | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP' || code === 'EMLINK') throw unsafeFileError(file, 'is a link');
    // A pipe without a reader, or a socket.
    if (code === 'ENXIO' || code === 'EISDIR') throw unsafeFileError(file, 'is not a file');
    throw error;
  }
  const fault = findFileFault(fstatSync(fd), mayBeLinked);
  if (fault === null) return fd;
  closeSync(fd);
  throw unsafeFileError(file, fault);
}

/** Creates a file of svc if it is missing, and gives it mode 0600, before another library opens it. Throws as `openPrivate`. */
export function makePrivateFile(file: string): void {
  const fd = openPrivate(file, 'add');
  fchmodSync(fd, 0o600);
  closeSync(fd);
}

/** Runs `work` with the open file and closes it. Throws as `openPrivate`. */
export function withPrivate<T>(
  file: string,
  use: PrivateUse,
  work: (fd: number) => T,
  mayBeLinked = false,
): T {
  const fd = openPrivate(file, use, mayBeLinked);
  try {
    return work(fd);
  } finally {
    closeSync(fd);
  }
}

/** Reads a file of at most `mostBytes`; null if there is none. Throws `storage_unsafe`. */
export function readPrivate(file: string, mostBytes: number, mayBeLinked = false): string | null {
  const readDescriptor = (fd: number): string => {
    const { size } = fstatSync(fd);
    if (size > mostBytes) throw unsafeFileError(file, `has ${size} bytes`);
    const bytes = Buffer.alloc(size);
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, size, 0));
  };
  try {
    return withPrivate(file, 'read', readDescriptor, mayBeLinked);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

/** Appends in one write. Throws as `openPrivate`. */
export const appendPrivate = (file: string, text: string): void =>
  withPrivate(file, 'add', (fd) => void writeSync(fd, text));

/** Replaces a file of svc, mode 0600, in one step; `isDurable` if it must survive a power cut. */
export const replacePrivate = (file: string, text: string, { isDurable = false } = {}): void =>
  writeFileAtomically(file, text, { isDurable });

/**
 * Creates a folder below the existing `top`, mode 0700, step by step, so that nothing is created behind a link.
 * Returns null, or the path that is in the way.
 */
export function makeFoldersWithin(top: string, folder: string): string | null {
  let at = top;
  for (const part of relative(top, folder).split(sep)) {
    if (part === '') continue;
    at = join(at, part);
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (found?.isDirectory()) continue;
    if (found !== undefined) return at;
    try {
      mkdirSync(at, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (!lstatSync(at).isDirectory()) return at;
    }
  }
  return null;
}

/**
 * Creates the folder that a path is in, mode 0700. Throws `storage_failed` if it cannot, also if the folder above is
 * missing: a data folder that was deleted must not come back.
 */
export function makeParentFolder(path: string): void {
  const folder = dirname(path);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    const why = code === 'ENOENT' ? `${dirname(folder)} no longer exists` : message;
    throw new SvcError('storage_failed', `${folder} cannot be created: ${why}`, { cause: error });
  }
}

/** Creates a folder of svc below an existing one. Throws `storage_unsafe` for a link or a file in the way. */
export function makePrivateFolder(top: string, folder: string): void {
  const inTheWay = makeFoldersWithin(top, folder);
  if (inTheWay !== null) throw unsafeFileError(inTheWay, 'is not a folder');
}
