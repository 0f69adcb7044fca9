import type { FileIndexer } from '../index-files/indexer.ts';

/** The content of a folder, including everything below it at the last level. */
export interface FolderSummary {
  folder: string;
  files: number;
  symbols: number;
  functions: number;
  types: number;
  /** References out of the folder and into it. */
  edgesOut: number;
  edgesIn: number;
  languages: string[];
}

export interface ArchitectureReport {
  files: number;
  symbols: number;
  edges: number;
  languages: Record<string, number>;
  folders: FolderSummary[];
  /** The most likely entry points of the program. */
  entryPoints: string[];
  biggest: { path: string; lines: number; symbols: number }[];
  mostUsed: { name: string; path: string; line: number; id: number; uses: number }[];
  truncated: boolean;
}

const LEVELS = 2;
/** A folder with more files, and more than this share of all, is shown by its subfolders. */
const FEWEST_LARGE = 20;
const LARGE_SHARE = 0.2;
const MOST_FOLDERS = 40;
const MOST_SHOWN = 12;
const ENTRY =
  /(?:^|\/)(?:main|index|app|server|cli|__main__|manage|lib|mod)\.[^./]+$|(?:^|\/)(?:cmd|bin)\/[^/]+\/?[^/]*$/;

/** Summarises a project by its folders. */
export function describeArchitecture({ db }: FileIndexer): ArchitectureReport {
  const files = db
    .prepare(
      `SELECT id, path, language,
         (SELECT count(*) FROM symbol WHERE symbol.file = file.id AND kind NOT IN ('file', 'field')) AS symbols,
         (SELECT count(*) FROM symbol WHERE symbol.file = file.id AND kind IN ('function', 'method')) AS functions,
         (SELECT count(*) FROM symbol WHERE symbol.file = file.id AND kind IN ('class', 'interface', 'type', 'enum')) AS types,
         (SELECT end_line FROM symbol WHERE symbol.file = file.id AND place = 0) AS lines
       FROM file WHERE state = 'ok' ORDER BY path`,
    )
    .all() as FileSummary[];
  const folderOf = assignFolders(files.map(({ path }) => path));
  const folders = new Map<string, FolderSummary & { languageSet: Set<string> }>();
  const folderById = new Map<number, string>();
  const languages: Record<string, number> = {};
  for (const { id, path, language, symbols, functions, types } of files) {
    const name = folderOf(path);
    folderById.set(id, name);
    languages[language] = (languages[language] ?? 0) + 1;
    const folder = folders.get(name) ?? {
      folder: name,
      files: 0,
      symbols: 0,
      functions: 0,
      types: 0,
      edgesOut: 0,
      edgesIn: 0,
      languages: [],
      languageSet: new Set<string>(),
    };
    folder.files += 1;
    folder.symbols += symbols;
    folder.functions += functions;
    folder.types += types;
    folder.languageSet.add(language);
    folders.set(name, folder);
  }
  const between = db
    .prepare(
      'SELECT from_file, symbol.file AS to_file, count(*) AS n FROM edge JOIN symbol ON symbol.id = to_symbol WHERE symbol.file <> from_file GROUP BY 1, 2',
    )
    .all() as { from_file: number; to_file: number; n: number }[];
  for (const { from_file, to_file, n } of between) {
    const [from, to] = [folderById.get(from_file), folderById.get(to_file)];
    if (from === undefined || to === undefined || from === to) continue;
    folders.get(from)!.edgesOut += n;
    folders.get(to)!.edgesIn += n;
  }
  const used = db
    .prepare(
      `SELECT symbol.id, qualified AS name, path, symbol.line, count(*) AS uses FROM edge
         JOIN symbol ON symbol.id = to_symbol JOIN file ON file.id = symbol.file
        WHERE symbol.file <> from_file AND symbol.kind <> 'field' GROUP BY to_symbol ORDER BY uses DESC, path LIMIT ${MOST_SHOWN}`,
    )
    .all() as ArchitectureReport['mostUsed'];
  const sorted = [...folders.values()].sort((one, other) => other.symbols - one.symbols);
  const shallow = (path: string): number => path.split('/').length;
  return {
    files: files.length,
    symbols: files.reduce((sum, each) => sum + each.symbols, 0),
    edges: db.prepare('SELECT count(*) FROM edge').pluck().get() as number,
    languages,
    folders: sorted
      .slice(0, MOST_FOLDERS)
      .map(({ languageSet, ...folder }) => ({ ...folder, languages: [...languageSet].sort() }))
      .sort((one, other) => (one.folder < other.folder ? -1 : 1)),
    entryPoints: files
      .map(({ path }) => path)
      .filter((path) => ENTRY.test(path))
      .sort((one, other) => shallow(one) - shallow(other))
      .slice(0, MOST_SHOWN),
    biggest: [...files]
      .sort((one, other) => other.lines - one.lines)
      .slice(0, MOST_SHOWN)
      .map(({ path, lines, symbols }) => ({ path, lines, symbols })),
    mostUsed: used,
    truncated: folders.size > MOST_FOLDERS,
  };
}

/**
 * Returns the folder in which each file is counted: two levels deep, and deeper where a folder would have a large part
 * of all files, as `src/main` of a Java project.
 */
function assignFolders(paths: readonly string[]): (path: string) => string {
  const split = (path: string): string[] => path.split('/').slice(0, -1);
  const groups = new Map<string, string[]>();
  const addTo = (folder: string, path: string): void => {
    const group = groups.get(folder);
    if (group === undefined) groups.set(folder, [path]);
    else group.push(path);
  };
  for (const path of paths) addTo(split(path).slice(0, LEVELS).join('/'), path);
  const isLarge = ([folder, group]: [string, string[]]): boolean =>
    group.length > Math.max(FEWEST_LARGE, paths.length * LARGE_SHARE) &&
    group.some((path) => split(path).join('/') !== folder);
  for (let large = [...groups].find(isLarge); large !== undefined; large = [...groups].find(isLarge)) {
    const [folder, group] = large;
    const level = folder === '' ? 1 : folder.split('/').length + 1;
    groups.delete(folder);
    for (const path of group) addTo(split(path).slice(0, level).join('/'), path);
    if (groups.size > MOST_FOLDERS) break;
  }
  const found = new Map([...groups].flatMap(([folder, group]) => group.map((path) => [path, folder || '.'])));
  return (path) => found.get(path) ?? '.';
}

interface FileSummary {
  id: number;
  path: string;
  language: string;
  symbols: number;
  functions: number;
  types: number;
  lines: number;
}
