import { posix } from 'node:path';

/** The project's files as module resolution needs them. */
export interface ModuleFiles {
  /** Returns the number of a source; undefined if the project has none at that path. */
  idOf(path: string): number | undefined;
  /** Returns the text of a package.json or tsconfig.json of the project; null if there is none. */
  readManifest(path: string): string | null;
  /** Paths of all of these. */
  manifests: readonly string[];
}

/** Sources first: declarations may be written next to a program. */
const SCRIPTS = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs', '.d.ts', '.d.mts', '.d.cts'];
const WRITTEN_AS: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx', '.jsx', '', '.d.ts'],
  '.jsx': ['.tsx'],
  '.mjs': ['.mts', '', '.d.mts'],
  '.cjs': ['.cts', '', '.d.cts'],
};

/** Reads a JSON file that may have comments; null if it has no object. */
export type ReadJson = (path: string) => Record<string, unknown> | null;

/** Finds sources by the paths that code gives. */
export interface SourceFinder {
  /** Returns a file by its path, with or without its extension, or the index of a folder. */
  findFile(path: string): number | undefined;
  /** Maps a build output to its source: dist/a.js is written as src/a.ts. */
  findBuilt(folder: string, target: string): number | undefined;
}

export function createSourceFinder(files: Pick<ModuleFiles, 'idOf'>): SourceFinder {
  function findFile(path: string): number | undefined {
    const clean = posix.normalize(path).replace(/\/$/, '');
    if (clean.startsWith('..')) return undefined;
    const extension = posix.extname(clean);
    for (const other of WRITTEN_AS[extension] ?? []) {
      // An empty one is the file itself.
      const id = files.idOf(other === '' ? clean : clean.slice(0, -extension.length) + other);
      if (id !== undefined) return id;
    }
    const exact = files.idOf(clean);
    if (exact !== undefined) return exact;
    for (const each of SCRIPTS) {
      const id = files.idOf(clean + each);
      if (id !== undefined) return id;
    }
    for (const each of SCRIPTS) {
      const id = files.idOf(`${clean === '.' ? '' : `${clean}/`}index${each}`);
      if (id !== undefined) return id;
    }
    return undefined;
  }

  function findBuilt(folder: string, target: string): number | undefined {
    const path = posix.join(folder, target);
    const direct = findFile(path);
    if (direct !== undefined) return direct;
    const inside = target.replace(/^\.\//, '').replace(/\.d\.([cm]?ts)$/, '.$1');
    const [first = '', ...rest] = inside.split('/');
    if (rest.length === 0 || !/^(?:dist|lib|build|out|esm|cjs|es|types|output)$/.test(first))
      return undefined;
    const without = rest.join('/');
    for (const each of [without, rest.slice(1).join('/')])
      for (const source of ['src', 'source', 'lib', '.']) {
        const id = each === '' ? undefined : findFile(posix.join(folder, source, each));
        if (id !== undefined) return id;
      }
    return undefined;
  }

  return { findFile, findBuilt };
}
