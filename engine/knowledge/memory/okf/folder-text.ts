import { toPrintable } from '../../../core/base/text.ts';
import { foldText } from '../../search/index.ts';

/** A concept in its folder. */
export interface PlacedText {
  /** From the top of the bundle, with `/`. */
  path: string;
  title: string;
  description: string;
  /** RFC 3339. */
  changedAt: string;
  endedAt: string | null;
}

const RESERVED = new Set(['index.md', 'log.md']);
const LONGEST_SLUG = 60;
const LONGEST_SHOWN = 200;

/** Reports whether a file is `index.md` or `log.md`, which are not concepts in any folder. */
export const isReservedName = (path: string): boolean =>
  RESERVED.has((path.split('/').at(-1) ?? '').toLowerCase());

/** Returns the name of a file without its extension. */
export const nameFile = (path: string): string => (path.split('/').at(-1) ?? '').replace(/\.md$/i, '');

/** Reports whether an index or a log contains only lines that an export writes. */
export function isWrittenHere(text: string): boolean {
  const lines = text.replace(/^---\nokf_version: "0\.2"\n---\n/, '').split('\n');
  const isLog = lines[0] === '# Log';
  const line = isLog
    ? /^(?:|# Log|## \d{4}-\d\d-\d\d|\* \*\*(?:Update|Deprecation)\*\*: \[.*)$/
    : /^(?:|# Folders|# Concepts|\* \[.*)$/;
  return lines.every((each) => line.test(each));
}

/** Returns the path of a memory: from its title, and its id for uniqueness. */
export function placeConcept({ id, type, title }: { id: string; type: string; title: string }): string {
  const slug = foldText(title)
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST_SLUG)
    .replace(/^-+|-+$/g, '');
  return `${type}/${slug === '' ? '' : `${slug}-`}${id.slice('m-'.length)}.md`;
}

/** Reports whether a path of a bundle can be written everywhere: plain names, not hidden, not too long. */
export const isPlainPath = (path: string): boolean =>
  path.length <= 400 &&
  path.endsWith('.md') &&
  !isReservedName(path) &&
  path
    .split('/')
    .every(
      (name) =>
        /^[\p{L}\p{N}_][\p{L}\p{N}\p{M} ._()+-]*$/u.test(name) &&
        Buffer.byteLength(name) <= 200 &&
        !/[ .]$/.test(name),
    );

/** Returns the comparison form of a path: some file systems ignore case and accent normalisation. */
export const comparePathKey = (path: string): string => path.normalize('NFC').toLowerCase();

const flatten = (text: string): string => {
  const line = [...toPrintable(text).replace(/\s+/g, ' ').trim()];
  return line.length <= LONGEST_SHOWN ? line.join('') : `${line.slice(0, LONGEST_SHOWN - 1).join('')}…`;
};
const escapeMarkdown = (text: string): string => flatten(text).replace(/[\\[\]*_`<>#|]/g, '\\$&');
const writeLink = (title: string, path: string): string =>
  `[${escapeMarkdown(title) || '(no title)'}](${path.split('/').map(encodeURIComponent).join('/')})`;

const byPath = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** Writes `index.md` of every folder, by path. */
export function writeIndexes(concepts: readonly PlacedText[]): Map<string, string> {
  const folders = new Map<string, { folders: Map<string, number>; files: PlacedText[] }>();
  const folderAt = (path: string) => {
    const found = folders.get(path) ?? { folders: new Map<string, number>(), files: [] };
    folders.set(path, found);
    return found;
  };
  folderAt('');
  for (const each of concepts) {
    const parts = each.path.split('/');
    folderAt(parts.slice(0, -1).join('/')).files.push(each);
    for (let depth = 0; depth < parts.length - 1; depth += 1) {
      const { folders: below } = folderAt(parts.slice(0, depth).join('/'));
      const name = parts[depth] ?? '';
      below.set(name, (below.get(name) ?? 0) + 1);
    }
  }
  const texts = new Map<string, string>();
  for (const [path, { folders: below, files }] of folders) {
    const lines = [
      ...(below.size === 0 ? [] : ['# Folders', '']),
      ...[...below]
        .sort(([one], [other]) => byPath(one, other))
        .map(([name, count]) => `* ${writeLink(name, `${name}/`).replace(/%2F\)$/, '/)')} - ${count} in it`),
      ...(below.size === 0 ? [] : ['']),
      ...(files.length === 0 && below.size > 0 ? [] : ['# Concepts', '']),
      ...files
        .sort((one, other) => byPath(one.path, other.path))
        .map(
          ({ path: file, title, description }) =>
            `* ${writeLink(title, file.split('/').at(-1) ?? '')}${description === '' ? '' : ` - ${escapeMarkdown(description)}`}`,
        ),
    ];
    const version = path === '' ? '---\nokf_version: "0.2"\n---\n\n' : '';
    texts.set(path === '' ? 'index.md' : `${path}/index.md`, `${version}${lines.join('\n').trimEnd()}\n`);
  }
  return texts;
}

/** Writes `log.md`: additions and removals by day, newest first. */
export function writeLog(concepts: readonly PlacedText[]): string {
  const days = new Map<string, { path: string; line: string }[]>();
  const addPlace = (at: string, word: string, { path, title }: PlacedText): void => {
    const day = at.slice(0, 'YYYY-MM-DD'.length);
    const entries = days.get(day) ?? [];
    days.set(day, entries);
    entries.push({ path, line: `* **${word}**: ${writeLink(title, path)}` });
  };
  for (const each of concepts) {
    addPlace(each.changedAt, 'Update', each);
    if (each.endedAt !== null) addPlace(each.endedAt, 'Deprecation', each);
  }
  const groups = [...days]
    .sort(([one], [other]) => byPath(other, one))
    .map(([day, entries]) => {
      const lines = entries.sort((one, other) =>
        byPath(`${one.path} ${one.line}`, `${other.path} ${other.line}`),
      );
      return `## ${day}\n${lines.map(({ line }) => line).join('\n')}\n`;
    });
  return `# Log\n${groups.map((group) => `\n${group}`).join('')}`;
}
