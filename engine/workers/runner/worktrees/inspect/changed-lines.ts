import { type Git, type GitOptions, LOOKUP, NO_DIFF_PROGRAMS, NOT_INSIDE, splitRecords } from '../git/git.ts';
import { compareAllFiles } from '../git/index-flags.ts';

/** Lines of the current file, from 1. `isGap`: lines are missing between the two. */
export interface LineRange {
  from: number;
  to: number;
  isGap: boolean;
}

export interface ChangedLines {
  /** Relative to the folder, with `/`; null for a completely new file. */
  files: Map<string, LineRange[] | null>;
  /** Files that are gone. */
  removed: string[];
}

const ASKED: GitOptions = { ...LOOKUP, timeoutMs: 60_000, maxBytes: 64 * 1024 * 1024 };
const NO_BLOB = /^0+$/;
const HUNK = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/;

/**
 * Finds the changed lines of files below a folder since a commit: until another one, otherwise in the current files,
 * including untracked ones. Null if git cannot tell.
 */
export async function readChangedLines(
  folder: string,
  git: Git,
  { from, to }: { from: string; to: string | null },
): Promise<ChangedLines | null> {
  const options = [
    '--raw',
    '--no-abbrev',
    '-z',
    '--patch',
    '--unified=0',
    '--find-renames',
    '--relative',
    '--no-color',
    ...NO_DIFF_PROGRAMS,
    NOT_INSIDE,
  ];
  const { code, stdout, truncated } = await compareAllFiles(git, folder, ASKED, (asked) =>
    git.run(folder, ['diff', ...options, from, ...(to === null ? [] : [to]), '--'], asked),
  );
  if (code !== 0 || truncated) return null;
  const changed = readRawPatch(stdout);
  if (to !== null) return changed;
  const fresh = await git.run(folder, ['ls-files', '-z', '--others', '--exclude-standard'], ASKED);
  for (const path of splitRecords(fresh.stdout)) if (!path.endsWith('/')) changed.files.set(path, null);
  return changed;
}

/** Reads the list of files, then the patch, which has a part for each of them in the same order. */
function readRawPatch(text: string): ChangedLines {
  const changed: ChangedLines = { files: new Map(), removed: [] };
  const order: (LineRange[] | null)[] = [];
  let at = 0;
  const takeRecord = (): string => {
    const end = text.indexOf('\0', at);
    const record = text.slice(at, end);
    at = end + 1;
    return record;
  };
  while (text[at] === ':') {
    const [, , old = '', , kind = ''] = takeRecord().slice(1).split(' ');
    const first = takeRecord();
    const path = /^[RC]/.test(kind) ? takeRecord() : first;
    const lines: LineRange[] | null = NO_BLOB.test(old) ? null : [];
    // A file that becomes a link has two parts, and one in conflict has none.
    const parts = kind === 'T' ? 2 : kind === 'U' ? 0 : 1;
    for (let each = 0; each < parts; each += 1) order.push(lines);
    if (kind === 'D') changed.removed.push(path);
    else changed.files.set(path, lines);
  }
  let part = -1;
  for (const line of text.slice(at).split('\n')) {
    // A line of a file has a sign before it.
    if (line.startsWith('diff --git ') || line.startsWith('\0diff --git ')) part += 1;
    const [, start, count = '1'] = HUNK.exec(line) ?? [];
    if (start === undefined) continue;
    const first = Number(start);
    const range =
      count === '0'
        ? { from: first, to: first + 1, isGap: true }
        : { from: first, to: first + Number(count) - 1, isGap: false };
    order[part]?.push(range);
  }
  return changed;
}
