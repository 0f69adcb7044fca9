import { existsSync, renameSync, rmSync } from 'node:fs';
import type { FileIndexer, RefreshResult } from './indexer.ts';
import { fitsFolder } from './survey.ts';

/** The files of a database, by what follows its name. */
const SUFFIXES = ['', '-wal', '-shm'];

const removeIndex = (file: string): void => {
  for (const suffix of SUFFIXES) rmSync(file + suffix, { force: true });
};

/** Moves a closed index. */
function moveIndex(from: string, to: string): void {
  removeIndex(to);
  if (existsSync(from)) renameSync(from, to);
}

export interface IndexReplacement {
  /** The file of the index. */
  file: string;
  /** The project's folder, with links resolved. */
  root: string;
  /** False if the index before is not worth its space. */
  isKept: boolean;
  openIndex(file: string): FileIndexer;
  /** Fills a new index. */
  fill(next: FileIndexer): Promise<RefreshResult>;
  /** Waits until no one uses the open index, closes it, and opens it again after `move`. */
  exchange(move: () => void): Promise<void>;
}

/**
 * Replaces an index after a large change, such as another branch: with the index before the last one, if that fits,
 * otherwise with a new one, whose result it returns. The open index answers in the meantime.
 */
export async function replaceIndex({
  file,
  root,
  isKept,
  openIndex,
  fill,
  exchange,
}: IndexReplacement): Promise<RefreshResult | null> {
  const [next, kept] = [`${file}.next`, `${file}.before`];
  if (isKept && fitsFolder(root, kept)) {
    await exchange(() => {
      moveIndex(file, next);
      moveIndex(kept, file);
      moveIndex(next, kept);
    });
    return null;
  }
  removeIndex(next);
  const made = openIndex(next);
  let filled: RefreshResult;
  try {
    filled = await fill(made);
  } finally {
    // Also writes what is in its log to the file.
    await made.close();
  }
  await exchange(() => {
    if (isKept) moveIndex(file, kept);
    moveIndex(next, file);
  });
  return filled;
}
