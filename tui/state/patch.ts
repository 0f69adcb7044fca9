/** A line of a patch, and its position in the files. */
export interface PatchRow {
  kind: 'file' | 'hunk' | 'added' | 'removed' | 'same' | 'note';
  /** As git printed it. */
  text: string;
  /** The file's path, the new one if it was renamed; null above the first file. */
  path: string | null;
  /** The earlier path. */
  oldPath: string | null;
  /** Facts about a file, in the row of its heading. */
  about?: string;
  /** Number of this line in the old file, or of the next one there; 0 outside of a hunk. */
  oldLine: number;
  /** The same in the new file. */
  newLine: number;
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Reads a path as git prints it: quoted and escaped if it holds anything unusual. */
function unquotePath(text: string): string {
  const quoted = /^"(.*)"$/s.exec(text.replace(/\t$/, ''))?.[1];
  if (quoted === undefined) return text.replace(/\t$/, '');
  const bytes = quoted
    .split(/(\\(?:[0-7]{3}|.))/)
    .map((part) =>
      !part.startsWith('\\') || part.length < 2
        ? Buffer.from(part)
        : Buffer.from([
            part.length === 4 ? Number.parseInt(part.slice(1), 8) : (ESCAPES[part[1]!] ?? part.charCodeAt(1)),
          ]),
    );
  return Buffer.concat(bytes).toString('utf8');
}

/** Returns a path without `a/` or `b/`; null for a missing file. */
const readSidePath = (text: string): string | null => {
  const path = unquotePath(text);
  return path === '/dev/null' ? null : path.slice(2);
};

/** Returns the path of a file with equal names, from its first line: a change of mode or a binary file has nothing else. */
function readGitLine(text: string): string | null {
  const quoted = /^diff --git ("a\/.*") ("b\/.*")$/.exec(text);
  if (quoted !== null) return readSidePath(quoted[2]!);
  const names = text.slice('diff --git '.length);
  const half = (names.length - 1) / 2;
  return names.slice(2, half) === names.slice(half + 3) ? names.slice(half + 3) : null;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/**
 * Parses a unified diff as git prints it. The extent of hunks is taken from their counts, since their lines may look
 * like anything.
 */
export function parsePatch(patch: string): PatchRow[] {
  const rows: PatchRow[] = [];
  let place = { path: null as string | null, oldPath: null as string | null, oldLine: 0, newLine: 0 };
  let left = { old: 0, new: 0 };
  for (const text of patch === '' ? [] : patch.replace(/\n$/, '').split('\n')) {
    const pushRow = (kind: PatchRow['kind']): void => void rows.push({ kind, text, ...place });
    const sign = text[0] ?? ' ';
    if ((left.old > 0 || left.new > 0) && '+- '.includes(sign)) {
      pushRow(sign === '+' ? 'added' : sign === '-' ? 'removed' : 'same');
      const isOld = sign !== '+' ? 1 : 0;
      const isNew = sign !== '-' ? 1 : 0;
      left = { old: left.old - isOld, new: left.new - isNew };
      place = { ...place, oldLine: place.oldLine + isOld, newLine: place.newLine + isNew };
      continue;
    }
    const hunk = HUNK.exec(text);
    if (hunk !== null) {
      const [, oldFrom = '0', oldCount = '1', newFrom = '0', newCount = '1'] = hunk;
      left = { old: Number(oldCount), new: Number(newCount) };
      place = { ...place, oldLine: Number(oldFrom), newLine: Number(newFrom) };
      pushRow('hunk');
    } else if (text.startsWith('diff --git ')) {
      const path = readGitLine(text);
      left = { old: 0, new: 0 };
      place = { path, oldPath: path, oldLine: 0, newLine: 0 };
      pushRow('file');
    } else if (text.startsWith('\\')) pushRow('note');
    else {
      if (text.startsWith('--- ')) place = { ...place, oldPath: readSidePath(text.slice(4)) };
      if (text.startsWith('+++ ')) place = { ...place, path: readSidePath(text.slice(4)) };
      if (text.startsWith('rename from ')) place = { ...place, oldPath: unquotePath(text.slice(12)) };
      if (text.startsWith('rename to ')) place = { ...place, path: unquotePath(text.slice(10)) };
      pushRow('file');
    }
  }
  return rows;
}

/** The target of a comment on a line of a patch. */
export interface LineAnchor {
  path: string;
  side: 'new' | 'old';
  line: number;
}

/** Returns the file line of a row: of the old file if it was removed; null for a row without one. */
export function findLineAnchor(row: PatchRow | undefined): LineAnchor | null {
  if (row === undefined || !['added', 'removed', 'same'].includes(row.kind)) return null;
  const isOld = row.kind === 'removed';
  const path = isOld ? row.oldPath : row.path;
  return path === null
    ? null
    : { path, side: isOld ? 'old' : 'new', line: isOld ? row.oldLine : row.newLine };
}
