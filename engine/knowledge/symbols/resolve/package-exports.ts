import { posix } from 'node:path';
import { isJsonObject } from '../../../core/base/json-object.ts';
import type { ReadJson, SourceFinder } from './source-files.ts';

export interface PackageManifest {
  folder: string;
  name: string | null;
  exports: unknown;
  imports: unknown;
  entries: string[];
}

/** Conditions of `exports`, those that may lead to sources first. */
const CONDITIONS = ['source', 'development', 'types', 'import', 'module', 'node', 'require', 'default'];
const textOr = <T>(value: unknown, other: T): string | T => (typeof value === 'string' ? value : other);

/** Creates the search for files in packages. */
export function createPackageExports({ findFile, findBuilt }: SourceFinder) {
  function findInMap(map: unknown, key: string, folder: string): number | undefined {
    if (!isJsonObject(map)) return undefined;
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
      const isMap = isJsonObject(exports) && Object.keys(exports).some((each) => each.startsWith('.'));
      const id = findInMap(isMap ? exports : { '.': exports }, key, folder);
      if (id !== undefined) return id;
    }
    if (subpath !== '')
      return findFile(posix.join(folder, subpath)) ?? findFile(posix.join(folder, 'src', subpath));
    return findEntry(known);
  }

  /** Returns the file that a package is as a folder. */
  function findEntry({ folder, entries }: PackageManifest): number | undefined {
    // Written declarations are the last resort: the program itself is next to them.
    const isDeclared = (entry: string): boolean =>
      /\.d\.[cm]?ts$/.test(entry) && findFile(posix.join(folder, entry)) !== undefined;
    const last = entries.filter(isDeclared);
    for (const entry of [...entries.filter((each) => !last.includes(each)), ...last]) {
      const id = findBuilt(folder, entry);
      if (id !== undefined) return id;
    }
    return undefined;
  }

  return { findInMap, findInPackage, findEntry };
}

export function readPackage(readJson: ReadJson, path: string): PackageManifest[] {
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

/** Returns all targets of an entry of `exports` or `imports`, most likely first. */
function listTargets(entry: unknown): string[] {
  if (typeof entry === 'string') return [entry];
  if (Array.isArray(entry)) return entry.flatMap(listTargets);
  if (!isJsonObject(entry)) return [];
  const known = CONDITIONS.filter((each) => each in entry);
  const others = Object.keys(entry).filter((each) => !CONDITIONS.includes(each));
  return [...known, ...others].flatMap((each) => listTargets(entry[each]));
}

/** Returns the text that matches the `*` of a pattern; null if there is no match. */
export function matchPattern(pattern: string, text: string): string | null {
  const star = pattern.indexOf('*');
  if (star < 0) return pattern === text ? '' : null;
  const [before, after] = [pattern.slice(0, star), pattern.slice(star + 1)];
  const fits = text.length >= before.length + after.length && text.startsWith(before) && text.endsWith(after);
  return fits ? text.slice(before.length, text.length - after.length) : null;
}
