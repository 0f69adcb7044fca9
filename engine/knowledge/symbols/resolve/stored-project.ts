import { posix } from 'node:path';
import type { SourceLanguage } from '../../sources/index.ts';
import type { SymbolKind } from '../facts.ts';
import { hashName } from '../store/digest.ts';
import type { GraphDatabase } from '../store/graph-file.ts';
import type { GraphRows } from '../store/rows.ts';
import { createEcmaModules, type ModuleFiles } from './ecma-modules.ts';
import { createPackageFinder } from './packages.ts';
import { createFileView, DECLARES_OUTSIDE, type FileView, type GraphProject } from './project.ts';

/** Dependencies on something other than a file: a common name, or a path that may appear. */
export const ANY_FILE = 0;
export const ANY_PATH = -1;

/** Symbols that may be called as a member by name: a unique name is bound to its symbol. */
export const MEMBER_KINDS: readonly SymbolKind[] = ['method', 'field', 'function'];

/** Languages whose code may call each other. */
const FAMILIES: Partial<Record<SourceLanguage, readonly SourceLanguage[]>> = {
  typescript: ['typescript', 'tsx', 'javascript'],
  tsx: ['typescript', 'tsx', 'javascript'],
  javascript: ['typescript', 'tsx', 'javascript'],
  c: ['c', 'cpp'],
  cpp: ['c', 'cpp'],
  java: ['java', 'kotlin'],
  kotlin: ['java', 'kotlin'],
};

export const familyOf = (language: SourceLanguage): readonly SourceLanguage[] =>
  FAMILIES[language] ?? [language];

/** Maximum cached facts of files, as characters of JSON. */
const MOST_HELD = 6_000_000;

export interface StoredProject extends GraphProject {
  /** Starts recording the dependencies of the next file. */
  begin(): Map<number, Set<number>>;
  /** Forgets cached facts after a file was written or removed. */
  forget(id: number): void;
  addPath(path: string, id: number): void;
  removePath(path: string): void;
  /** Forgets cached facts after package.json, tsconfig.json or the like changed. */
  forgetManifests(): void;
}

/** Creates access to the project as stored in a graph.db. */
export function createStoredProject(
  db: GraphDatabase,
  rows: GraphRows,
  manifests: { list(): readonly string[]; read(path: string): string | null },
): StoredProject {
  const paths = new Map<string, number>();
  const info = new Map<number, { path: string; language: SourceLanguage }>();
  const held = new Map<number, { view: FileView; size: number }>();
  let heldSize = 0;
  let uses = new Map<number, Set<number>>();
  const moduleFiles: ModuleFiles = {
    idOf: (path) => paths.get(path),
    readManifest: manifests.read,
    get manifests() {
      return manifests.list();
    },
  };
  let ecma: ReturnType<typeof createEcmaModules> | null = null;
  const findFile = db.prepare('SELECT path, language FROM file WHERE id = ?');
  const findSymbols = db.prepare(
    `SELECT symbol.file, symbol.place, symbol.kind, outer.kind AS outer, file.language
       FROM symbol JOIN file ON file.id = symbol.file
       LEFT JOIN symbol AS outer ON outer.file = symbol.file AND outer.place = symbol.parent
      WHERE symbol.name = ? AND symbol.kind IN (SELECT value FROM json_each(?))
        AND file.language IN (SELECT value FROM json_each(?)) LIMIT 2`,
  );
  const memberKinds = JSON.stringify(MEMBER_KINDS);
  const findPackage = db
    .prepare(
      `SELECT file.id FROM package JOIN file ON file.id = package.file WHERE package.name = ? ORDER BY file.path`,
    )
    .pluck();

  function use(on: number, name: string): void {
    let names = uses.get(on);
    if (names === undefined) {
      names = new Set();
      uses.set(on, names);
    }
    names.add(hashName(name));
  }

  function viewFile(id: number): FileView | null {
    const known = held.get(id);
    if (known !== undefined) {
      // Recently used entries are dropped last.
      held.delete(id);
      held.set(id, known);
      return known.view;
    }
    const file = info.get(id) ?? (findFile.get(id) as { path: string; language: SourceLanguage } | undefined);
    const facts = file === undefined ? null : rows.readFacts(id);
    if (file === undefined || facts === null) return null;
    info.set(id, file);
    const made = createFileView(id, file.path, file.language, facts);
    const size = facts.symbols.length * 150 + facts.locals.length * 60 + facts.imports.length * 80 + 500;
    held.set(id, { view: made, size });
    heldSize += size;
    for (const [oldest, each] of held) {
      if (heldSize <= MOST_HELD || oldest === id) break;
      held.delete(oldest);
      heldSize -= each.size;
    }
    return made;
  }

  /** Reports whether a source is below a folder. */
  function hasFolder(folder: string): boolean {
    if (folders === null) {
      folders = new Set();
      for (const path of paths.keys())
        for (let at = posix.dirname(path); at !== '.' && !folders.has(at); at = posix.dirname(at))
          folders.add(at);
    }
    return folders.has(folder);
  }
  let folders: Set<string> | null = null;

  function forgetFile(id: number): void {
    heldSize -= held.get(id)?.size ?? 0;
    held.delete(id);
    info.delete(id);
  }

  return {
    view: viewFile,
    forget: forgetFile,
    begin() {
      uses = new Map();
      return uses;
    },
    use: (file, name) => use(file.id, name),
    resolveModule(from, specifier) {
      for (const part of specifier.split('/')) {
        const name = part.replace(/\.[^.]+$/, '');
        if (name !== '' && name !== '.' && name !== '..') use(ANY_PATH, name);
      }
      if (/^\.{1,2}(?:\/\.{1,2})*\/?$/.test(specifier)) use(ANY_PATH, 'index');
      ecma ??= createEcmaModules(moduleFiles);
      const found = ecma.resolve(from.path, specifier);
      if (typeof found !== 'number') return found;
      const file = viewFile(found);
      if (file === null) return 'missing';
      use(ANY_PATH, posix.basename(file.path).replace(/\.[^.]+$/, ''));
      return { file };
    },
    filesOfPackage(from, name) {
      use(ANY_PATH, `package ${name}`);
      const family = familyOf(from.language);
      return (findPackage.all(name) as number[]).flatMap((id) => {
        const file = viewFile(id);
        return file === null || !family.includes(file.language) ? [] : [file];
      });
    },
    ...createPackageFinder({
      idOf: (path) => paths.get(path),
      view: viewFile,
      use: (name) => use(ANY_PATH, name),
      manifests,
      hasFolder,
    }),
    findOnlyMethod(from, name) {
      use(ANY_FILE, name);
      const found = findSymbols.all(name, memberKinds, JSON.stringify(familyOf(from.language))) as {
        file: number;
        place: number;
        kind: SymbolKind;
        outer: SymbolKind | null;
        language: SourceLanguage;
      }[];
      const [only] = found;
      if (only === undefined || found.length > 1 || only.kind !== 'method') return null;
      // A member of an object literal is called through the object's expected type.
      const isOfType =
        only.outer === 'class' || only.outer === 'interface' || DECLARES_OUTSIDE.has(only.language);
      return isOfType ? { file: only.file, index: only.place } : null;
    },
    addPath(path, id) {
      paths.set(path, id);
      info.delete(id);
      ecma = null;
      folders = null;
    },
    removePath(path) {
      paths.delete(path);
      ecma = null;
      folders = null;
    },
    forgetManifests() {
      ecma = null;
    },
  };
}
