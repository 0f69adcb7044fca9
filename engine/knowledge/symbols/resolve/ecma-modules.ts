import { posix } from 'node:path';
import { parse } from 'jsonc-parser';

/** The project's files as module resolution needs them. */
export interface ModuleFiles {
  /** Returns the number of a source; undefined if the project has none at that path. */
  idOf(path: string): number | undefined;
  /** Returns the text of a package.json or tsconfig.json of the project; null if there is none. */
  readManifest(path: string): string | null;
  /** Paths of all of these. */
  manifests: readonly string[];
}

interface PackageManifest {
  folder: string;
  name: string | null;
  exports: unknown;
  imports: unknown;
  entries: string[];
}

interface PathMap {
  /** The folder that the paths are relative to. */
  base: string;
  paths: [pattern: string, targets: string[]][];
  baseUrl: string | null;
}

type Json = Record<string, unknown>;

const SCRIPTS = ['.ts', '.tsx', '.mts', '.cts', '.d.ts', '.js', '.jsx', '.mjs', '.cjs', '.d.mts', '.d.cts'];
const WRITTEN_AS: Readonly<Record<string, readonly string[]>> = {
  '.js': ['.ts', '.tsx', '.d.ts', '.jsx'],
  '.jsx': ['.tsx'],
  '.mjs': ['.mts', '.d.mts'],
  '.cjs': ['.cts', '.d.cts'],
};
/** Conditions of `exports`, those that may lead to sources first. */
const CONDITIONS = ['source', 'development', 'types', 'import', 'module', 'node', 'require', 'default'];
const MOST_EXTENDED = 10;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOr = <T>(value: unknown, other: T): string | T => (typeof value === 'string' ? value : other);

/** Finds the file of a TypeScript or JavaScript import like the usual tools, but always the source. */
export function createEcmaModules(files: ModuleFiles) {
  const packages = files.manifests
    .filter((path) => posix.basename(path) === 'package.json')
    .flatMap((path) => readPackage(path));
  const byName = new Map(
    packages.flatMap((each) => (each.name === null ? [] : [[each.name, each] as const])),
  );
  const byFolder = new Map(packages.map((each) => [each.folder, each] as const));
  const pathMaps = new Map<string, PathMap | null>();
  const found = new Map<string, number | 'outside' | 'missing'>();

  function readJson(path: string): Json | null {
    const text = files.readManifest(path);
    const value: unknown = text === null ? null : parse(text, [], { allowTrailingComma: true });
    return isObject(value) ? value : null;
  }

  function readPackage(path: string): PackageManifest[] {
    const json = readJson(path);
    if (json === null) return [];
    const entries = ['source', 'types', 'typings', 'module', 'main'].flatMap((key) => textOr(json[key], []));
    return [
      {
        folder: posix.dirname(path),
        name: textOr(json.name, null),
        exports: json.exports,
        imports: json.imports,
        entries: [...entries, 'index', 'src/index', 'lib/index'],
      },
    ];
  }

  /** Returns a file by its path, with or without its extension, or the index of a folder. */
  function findFile(path: string): number | undefined {
    const clean = posix.normalize(path).replace(/\/$/, '');
    if (clean.startsWith('..')) return undefined;
    const extension = posix.extname(clean);
    for (const other of WRITTEN_AS[extension] ?? []) {
      const id = files.idOf(clean.slice(0, -extension.length) + other);
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

  /** Maps a build output to its source: dist/a.js is written as src/a.ts. */
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

  /** Returns all targets of an entry of `exports` or `imports`, most likely first. */
  function listTargets(entry: unknown): string[] {
    if (typeof entry === 'string') return [entry];
    if (Array.isArray(entry)) return entry.flatMap(listTargets);
    if (!isObject(entry)) return [];
    const known = CONDITIONS.filter((each) => each in entry);
    const others = Object.keys(entry).filter((each) => !CONDITIONS.includes(each));
    return [...known, ...others].flatMap((each) => listTargets(entry[each]));
  }

  function findInMap(map: unknown, key: string, folder: string): number | undefined {
    if (!isObject(map)) return undefined;
    for (const [pattern, entry] of Object.entries(map)) {
      const middle = matchPattern(pattern, key);
      if (middle === null) continue;
      for (const target of listTargets(entry)) {
        const id = findBuilt(folder, target.replace('*', middle));
        if (id !== undefined) return id;
      }
    }
    return undefined;
  }

  function findInPackage(known: PackageManifest, subpath: string): number | undefined {
    const { folder, exports } = known;
    const key = subpath === '' ? '.' : `./${subpath}`;
    if (exports !== undefined && exports !== null) {
      const isMap = isObject(exports) && Object.keys(exports).some((each) => each.startsWith('.'));
      const id = findInMap(isMap ? exports : { '.': exports }, key, folder);
      if (id !== undefined) return id;
    }
    if (subpath !== '')
      return findFile(posix.join(folder, subpath)) ?? findFile(posix.join(folder, 'src', subpath));
    for (const entry of known.entries) {
      const id = findBuilt(folder, entry);
      if (id !== undefined) return id;
    }
    return undefined;
  }

  function nearest<T>(folder: string, at: (folder: string) => T | null | undefined): T | null {
    for (let each = folder; ; each = posix.dirname(each)) {
      const value = at(each);
      if (value !== null && value !== undefined) return value;
      if (each === '.' || each === '/') return null;
    }
  }

  function readPathMap(folder: string): PathMap | null {
    const known = pathMaps.get(folder);
    if (known !== undefined) return known;
    const map =
      readConfig(posix.join(folder, 'tsconfig.json'), 0) ??
      readConfig(posix.join(folder, 'jsconfig.json'), 0);
    pathMaps.set(folder, map);
    return map;
  }

  /** Returns the path mappings of a configuration, its own or inherited. */
  function readConfig(path: string, depth: number): PathMap | null {
    const json = readJson(path);
    if (json === null || depth > MOST_EXTENDED) return null;
    const options = isObject(json.compilerOptions) ? json.compilerOptions : {};
    const folder = posix.dirname(path);
    const extended = [json.extends]
      .flat()
      .filter((each): each is string => typeof each === 'string' && each.startsWith('.'))
      .map((each) => posix.join(folder, each))
      .map((each) => readConfig(each.endsWith('.json') ? each : `${each}.json`, depth + 1))
      .findLast((each) => each !== null && (each.paths.length > 0 || each.baseUrl !== null));
    const baseUrl = typeof options.baseUrl === 'string' ? posix.join(folder, options.baseUrl) : null;
    const paths = isObject(options.paths)
      ? Object.entries(options.paths).map(([pattern, targets]): [string, string[]] => [
          pattern,
          [targets].flat().filter((each): each is string => typeof each === 'string'),
        ])
      : null;
    return {
      base: paths === null ? (extended?.base ?? folder) : (baseUrl ?? folder),
      paths: paths ?? extended?.paths ?? [],
      baseUrl: baseUrl ?? extended?.baseUrl ?? null,
    };
  }

  function findByPaths(folder: string, specifier: string): number | undefined {
    const map = nearest(folder, readPathMap);
    if (map === null) return undefined;
    const matching = map.paths
      .map(([pattern, targets]) => ({ pattern, targets, middle: matchPattern(pattern, specifier) }))
      .filter((each) => each.middle !== null)
      .sort((one, other) => other.pattern.length - one.pattern.length);
    for (const { targets, middle } of matching)
      for (const target of targets) {
        const id = findFile(posix.join(map.base, target.replace('*', middle!)));
        if (id !== undefined) return id;
      }
    return map.baseUrl === null ? undefined : findFile(posix.join(map.baseUrl, specifier));
  }

  function findModule(folder: string, specifier: string): number | 'outside' | 'missing' {
    if (specifier.startsWith('.')) return findFile(posix.join(folder, specifier)) ?? 'missing';
    if (specifier.startsWith('#')) {
      const own = nearest(folder, (each) => byFolder.get(each));
      const id = own === null ? undefined : findInMap(own.imports, specifier, own.folder);
      if (id !== undefined) return id;
    }
    if (specifier.startsWith('/') || specifier.includes(':')) return 'outside';
    const mapped = findByPaths(folder, specifier);
    if (mapped !== undefined) return mapped;
    const parts = specifier.split('/');
    const name = parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
    const known = byName.get(name);
    if (known === undefined) return 'outside';
    return findInPackage(known, parts.slice(specifier.startsWith('@') ? 2 : 1).join('/')) ?? 'outside';
  }

  return {
    /** Returns the number of the source that an import in a file means. */
    resolve(from: string, specifier: string): number | 'outside' | 'missing' {
      const folder = posix.dirname(from);
      const key = `${folder}\0${specifier}`;
      const known = found.get(key);
      if (known !== undefined) return known;
      const result = findModule(folder, specifier);
      found.set(key, result);
      return result;
    },
  };
}

/** Returns the text that matches the `*` of a pattern; null if there is no match. */
function matchPattern(pattern: string, text: string): string | null {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === text ? '' : null;
  const [before, after] = [pattern.slice(0, star), pattern.slice(star + 1)];
  const fits = text.length >= before.length + after.length && text.startsWith(before) && text.endsWith(after);
  return fits ? text.slice(before.length, text.length - after.length) : null;
}
