import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { SvcError } from '../../core/base/errors.ts';
import { isBelowFolder } from '../../core/base/paths.ts';
import { makePrivateFolder } from '../../core/base/private-files.ts';
import type { WorkspacePaths } from '../../core/workspace/workspace-path.ts';

/** Owns the files that notify agents of new messages. The inbox is authoritative; these only prompt them to check it. */
export interface Notices {
  /** Folder of the default notices, absolute. */
  folder: string;
  /**
   * Resolves a path of the configuration: below the data folder for `.svc/…`, otherwise inside the workspace. Throws
   * `path_outside`, `fields_invalid`.
   */
  file(path: string): string;
  /** Appends the block in one write, so that two writers never interleave. A full notice file is rotated first. */
  append(file: string, block: string): void;
  /** Reports whether the file, or the one rotated before it, contains that block. */
  has(file: string, block: string): boolean;
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY, O_RDONLY } = constants;
/** How much of a file's end is searched for a block. */
const TAIL_BYTES = 4 * 1024 * 1024;

export const noticesFolder = (data: string): string => join(data, 'notices');

/** The name of a rotated notice file. */
export const rotatedName = (file: string): string => `${file.replace(/\.md$/, '')}.1.md`;

export function createNotices({
  data,
  paths,
  maxBytes,
}: {
  data: string;
  paths: Pick<WorkspacePaths, 'resolveNamed'>;
  /** Size at which a notice file is rotated; 0 for never. */
  maxBytes(): number;
}): Notices {
  const folder = noticesFolder(data);

  function rotateWhenFull(file: string, length: number): void {
    const limit = maxBytes();
    if (limit === 0 || !isBelowFolder(folder, file) || !file.endsWith('.md')) return;
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > 0 && size + length > limit) renameSync(file, rotatedName(file));
  }

  return {
    folder,
    file(path) {
      if (!path.startsWith('.svc/')) return paths.resolveNamed(path).absolute;
      const file = resolve(data, path.slice('.svc/'.length));
      if (isBelowFolder(data, file)) return file;
      throw new SvcError('path_outside', `${JSON.stringify(path)} is outside the data folder`);
    },
    append(file, block) {
      const bytes = Buffer.from(block);
      if (isBelowFolder(data, file)) makePrivateFolder(data, dirname(file));
      else mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      rotateWhenFull(file, bytes.length);
      // Neither follows a symlink nor blocks on a pipe without a reader.
      const fd = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
      try {
        const before = fstatSync(fd);
        if (!before.isFile()) throw new SvcError('path_outside', `${file} is not a regular file`);
        if (writeSync(fd, bytes) === bytes.length) return;
        // The disk is full; half a block must not be read.
        ftruncateSync(fd, before.size);
        throw new SvcError('storage_full', `no space left for ${file}`);
      } finally {
        closeSync(fd);
      }
    },
    has: (file, block) => [file, rotatedName(file)].some((each) => readTail(each).includes(block)),
  };
}

function readTail(file: string): string {
  let fd: number | undefined;
  try {
    fd = openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const { size } = fstatSync(fd);
    if (size <= TAIL_BYTES) return readFileSync(fd, 'utf8');
    const tail = Buffer.alloc(TAIL_BYTES);
    const read = readSync(fd, tail, 0, TAIL_BYTES, size - TAIL_BYTES);
    return tail.toString('utf8', 0, read);
  } catch {
    return '';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
