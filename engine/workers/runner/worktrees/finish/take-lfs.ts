import { createHash } from 'node:crypto';
import { constants, lstatSync, mkdirSync, readdirSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SvcError } from '../../../../core/base/errors.ts';

const FOLDER = /^[0-9a-f]{2}$/;
/** The limit for taking files over. */
const MOST_BYTES = 4 * 1024 ** 3;
const SHA_256 = /^[0-9a-f]{64}$/;

/**
 * Moves what git-lfs has stored in a confined worker's folder into the repository's: content by its SHA-256, in
 * `objects/ab/cd/abcd…`. Only content with the right name is moved. Call it while no process of the worker is
 * running, since it could replace folders with links.
 * @param from the worker's `lfs` folder
 * @param to the repository's `lfs` folder
 */
export async function takeLfsObjects(from: string, to: string): Promise<void> {
  const objects = listObjects(from);
  const bytes = objects.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MOST_BYTES)
    throw new SvcError('worktree_unsafe', `its Git LFS files have ${bytes} bytes, more than ${MOST_BYTES}`);
  for (const { folder, name } of objects) await takeObject(join(from, folder, name), join(to, folder), name);
}

async function takeObject(file: string, folder: string, id: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const copy = join(folder, `${id}.svc`);
  const hash = createHash('sha256');
  const source = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    await rm(copy, { force: true });
    const target = await open(copy, 'wx', 0o644);
    await pipeline(
      source.createReadStream(),
      async function* (chunks: AsyncIterable<Buffer>) {
        for await (const chunk of chunks) {
          hash.update(chunk);
          yield chunk;
        }
      },
      target.createWriteStream({ flush: true }),
    );
    if (hash.digest('hex') !== id) return;
    await rename(copy, join(folder, id));
    await rm(file);
  } finally {
    await source.close();
    await rm(copy, { force: true });
  }
}

interface LfsObject {
  /** Relative to the `lfs` folder. */
  folder: string;
  name: string;
  /** Bytes. */
  size: number;
}

/** Lists a real folder: a worker may have replaced each with a link. */
function listObjects(from: string): LfsObject[] {
  const listFolders = (folder: string, pattern: RegExp): string[] =>
    readEntries(join(from, folder)).flatMap((each) =>
      each.isDirectory() && pattern.test(each.name) ? [join(folder, each.name)] : [],
    );
  const folders = listFolders('', /^objects$/)
    .flatMap((each) => listFolders(each, FOLDER))
    .flatMap((each) => listFolders(each, FOLDER));
  return folders.flatMap((folder) =>
    readEntries(join(from, folder)).flatMap(({ name }) => {
      const found = lstatSync(join(from, folder, name));
      return found.isFile() && SHA_256.test(name) ? [{ folder, name, size: found.size }] : [];
    }),
  );
}

function readEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
