import { readSource, type SourceFile } from '../../sources/index.ts';
import { readGraphFile } from '../store/graph-file.ts';
import type { FileRow } from '../store/rows.ts';

/** A folder compared with an index by size and time of its files. */
export interface IndexSurvey {
  /** Files whose size or time differs, and new ones. */
  wanted: readonly SourceFile[];
  gone: readonly FileRow[];
}

/** Above this share of changed files a new index costs less than following the dependents of each change. */
const LARGE_SHARE = 0.3;
const FEWEST_LARGE = 200;
/** Files whose content is compared to estimate how many have changed. */
const SAMPLE = 60;

const countShare = <T>(all: readonly T[], isOne: (each: T) => boolean): number =>
  all.reduce((count, each) => count + (isOne(each) ? 1 : 0), 0) / Math.max(1, all.length);

/** Picks files at equal distances. */
function sampleFiles<T>(files: readonly T[]): T[] {
  const step = Math.max(1, Math.floor(files.length / SAMPLE));
  return files.filter((_, at) => at % step === 0);
}

/** Estimates the share of files whose content an index does not have. */
function measureOther(
  root: string,
  files: readonly { path: string }[],
  hashOf: (path: string) => string | undefined,
): number {
  return countShare(sampleFiles(files), ({ path }) => {
    const source = readSource(root, path);
    return typeof source === 'string' || source.hash !== hashOf(path);
  });
}

/** Reports whether so many files have other content that a new index costs less than an update. */
export function isLargeChange(
  root: string,
  { wanted, gone }: IndexSurvey,
  known: ReadonlyMap<string, FileRow>,
): boolean {
  if (known.size === 0 || wanted.length + gone.length < FEWEST_LARGE) return false;
  const changed = gone.length + wanted.length * measureOther(root, wanted, (path) => known.get(path)?.hash);
  return changed >= Math.max(FEWEST_LARGE, known.size * LARGE_SHARE);
}

/** Reports whether an update of another index of a folder is not a large change. False if that index is missing or outdated. */
export const fitsFolder = (root: string, file: string): boolean =>
  readGraphFile(file, (db) => {
    const rows = db.prepare("SELECT path, hash FROM file WHERE state = 'ok'").all() as FileRow[];
    const hashes = new Map(rows.map(({ path, hash }) => [path, hash]));
    return rows.length > 0 && measureOther(root, rows, (path) => hashes.get(path)) < LARGE_SHARE;
  }) ?? false;
