import { posix } from 'node:path';
import type { SourceLanguage } from '../../sources/index.ts';
import { hashName } from '../store/digest.ts';
import type { GraphDatabase } from '../store/graph-file.ts';
import type { GraphRows } from '../store/rows.ts';
import { createEcmaModules } from './ecma-modules.ts';
import { createFileViews } from './file-views.ts';
import { createMethodFinder, listLanguageFamily } from './only-methods.ts';
import { createPackageFinder } from './packages.ts';
import type { FileView, GraphProject } from './project.ts';
import type { ModuleFiles } from './source-files.ts';

/** Dependencies on something other than a file: a common name, or a path that may appear. */
export const ANY_FILE = 0;
export const ANY_PATH = -1;

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
  const { viewFile, forgetFile, forgetPath } = createFileViews(db, rows);
  const findMethod = createMethodFinder(db);
  const folders = createFolderSet(paths);
  let uses = new Map<number, Set<number>>();
  const findPackage = createPackageIndex(db, viewFile);
  const packageNames = new Map<string, boolean>();
  const moduleFiles: ModuleFiles = {
    idOf: (path) => paths.get(path),
    readManifest: manifests.read,
    get manifests() {
      return manifests.list();
    },
  };
  let ecma: ReturnType<typeof createEcmaModules> | null = null;
  const hasPackage = db.prepare(
    "SELECT 1 FROM package WHERE name = ? OR (name > ? || '.' AND name < ? || '/') LIMIT 1",
  );

  function use(on: number, name: string): void {
    let names = uses.get(on);
    if (names === undefined) {
      names = new Set();
      uses.set(on, names);
    }
    names.add(hashName(name));
  }

  return {
    view: viewFile,
    forget(id) {
      findPackage.forget();
      packageNames.clear();
      findMethod.forget();
      forgetFile(id);
    },
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
    filesOfPackage(from, name, exported) {
      use(ANY_PATH, `package ${name}`);
      const family = listLanguageFamily(from.language);
      const folder = posix.dirname(from.path);
      const { files, byExport } = findPackage.get(name);
      const found = exported === null ? files : (byExport.get(exported) ?? []);
      return found.flatMap((each) => {
        // The default package of Java is that of a folder.
        const isNear = name !== '' || from.language === 'csharp' || each.folder === folder;
        const file = isNear && family.includes(each.language) ? viewFile(each.id) : null;
        return file === null ? [] : [file];
      });
    },
    isPackage(from, name) {
      use(ANY_PATH, `package ${name}`);
      const family = listLanguageFamily(from.language);
      return findPackage.get(name).files.some(({ language }) => family.includes(language));
    },
    hasPackage(name) {
      use(ANY_PATH, `package ${name}`);
      const known = packageNames.get(name) ?? hasPackage.get(name, name, name) !== undefined;
      packageNames.set(name, known);
      return known;
    },
    ...createPackageFinder({
      idOf: (path) => paths.get(path),
      view: viewFile,
      use: (name) => use(ANY_PATH, name),
      manifests,
      hasFolder: folders.has,
    }),
    findOnlyMethod(from, name) {
      use(ANY_FILE, name);
      return findMethod.findOnly(from.language, name);
    },
    findExtensions(from, name) {
      use(ANY_FILE, name);
      return findMethod.listExtensions(from.language, name);
    },
    addPath(path, id) {
      paths.set(path, id);
      forgetPath(id);
      ecma = null;
      folders.forget();
    },
    removePath(path) {
      findPackage.forget();
      packageNames.clear();
      findMethod.forget();
      paths.delete(path);
      ecma = null;
      folders.forget();
    },
    forgetManifests() {
      ecma = null;
    },
  };
}

interface PackageFile {
  id: number;
  language: SourceLanguage;
  folder: string;
}

/** The files of a package, all and by what they export: a large package is not read again for each name. */
interface PackageFiles {
  files: readonly PackageFile[];
  byExport: ReadonlyMap<string, readonly PackageFile[]>;
}

function createPackageIndex(db: GraphDatabase, viewFile: (id: number) => FileView | null) {
  const findFiles = db
    .prepare(
      `SELECT file.id FROM package JOIN file ON file.id = package.file WHERE package.name = ? ORDER BY file.path`,
    )
    .pluck();
  const known = new Map<string, PackageFiles>();

  function readPackage(name: string): PackageFiles {
    const files: PackageFile[] = [];
    const byExport = new Map<string, PackageFile[]>();
    for (const id of findFiles.all(name) as number[]) {
      const view = viewFile(id);
      if (view === null) continue;
      const file = { id, language: view.language, folder: posix.dirname(view.path) };
      files.push(file);
      for (const each of view.exports.keys()) {
        const others = byExport.get(each);
        if (others === undefined) byExport.set(each, [file]);
        else others.push(file);
      }
    }
    return { files, byExport };
  }

  return {
    get(name: string): PackageFiles {
      let found = known.get(name);
      if (found === undefined) {
        found = readPackage(name);
        known.set(name, found);
      }
      return found;
    },
    /** Called after a file was written or removed. */
    forget: () => known.clear(),
  };
}

/** Creates the set of folders that have a source. */
function createFolderSet(paths: ReadonlyMap<string, number>) {
  let folders: Set<string> | null = null;
  return {
    has(folder: string): boolean {
      if (folders === null) {
        folders = new Set();
        for (const path of paths.keys())
          for (let at = posix.dirname(path); at !== '.' && !folders.has(at); at = posix.dirname(at))
            folders.add(at);
      }
      return folders.has(folder);
    },
    forget(): void {
      folders = null;
    },
  };
}
