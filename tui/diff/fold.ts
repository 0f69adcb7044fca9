import type { PatchRow } from '../state/patch.ts';

/** Lines about a file whose facts its heading has. */
const FACTS: readonly (readonly [pattern: RegExp, about: (match: RegExpExecArray) => string])[] = [
  [/^index [0-9a-f]+\.\.[0-9a-f]+/, () => ''],
  [/^(?:---|\+\+\+) /, () => ''],
  [/^(?:dis)?similarity index /, () => ''],
  [/^new file mode (\d+)/, ([, mode]) => (mode === '100755' ? 'new, executable' : 'new')],
  [/^deleted file mode /, () => 'deleted'],
  [/^old mode (\d+)/, ([, mode]) => `mode ${mode}`],
  [/^new mode (\d+)/, ([, mode]) => `→ ${mode}`],
  [/^(rename|copy) from (.*)/, ([, what, from]) => `${what === 'copy' ? 'copied' : 'renamed'} from ${from}`],
  [/^(?:rename|copy) to /, () => ''],
  [/^Binary files /, () => 'binary'],
];

/** Returns the fact of a line about a file; null if the line has to stay. */
function findFact(text: string): string | null {
  for (const [pattern, about] of FACTS) {
    const match = pattern.exec(text);
    if (match !== null) return about(match);
  }
  return null;
}

/** Folds the lines about each file into its first one, whose `about` has their facts. Lines that it does not know stay, as notes. */
export function foldMetadata(rows: readonly PatchRow[]): PatchRow[] {
  const folded: PatchRow[] = [];
  let heading: PatchRow | null = null;
  for (const row of rows) {
    if (row.kind !== 'file') {
      folded.push(row);
      continue;
    }
    const isStart = row.text.startsWith('diff --git ');
    const fact = isStart ? '' : findFact(row.text);
    if (isStart || (heading === null && fact !== null)) {
      heading = { ...row, about: '' };
      folded.push(heading);
    } else if (fact === null) folded.push({ ...row, kind: 'note' });
    if (heading === null || fact === null) continue;
    heading.about = [heading.about, fact].filter(Boolean).join(', ');
    heading.path = row.path ?? heading.path;
    heading.oldPath = row.oldPath ?? heading.oldPath;
  }
  return folded;
}
