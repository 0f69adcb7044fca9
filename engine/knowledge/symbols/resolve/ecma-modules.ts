import { posix } from 'node:path';
import { parse } from 'jsonc-parser';
import { isJsonObject } from '../../../core/base/json-object.ts';
import { createPackageExports, readPackage } from './package-exports.ts';
import { createPathMaps, findAbove } from './path-maps.ts';
import { createSourceFinder, type ModuleFiles } from './source-files.ts';

/** Finds the file of a TypeScript or JavaScript import like the usual tools, but always the source. */
export function createEcmaModules(files: ModuleFiles) {
  const finder = createSourceFinder(files);
  const { findFile } = finder;
  const { findInMap, findInPackage, findEntry } = createPackageExports(finder);
  const findByPaths = createPathMaps(readJson, findFile);
  const packages = files.manifests
    .filter((path) => posix.basename(path) === 'package.json')
    .flatMap((path) => readPackage(readJson, path));
  const byName = new Map(
    packages.flatMap((each) => (each.name === null ? [] : [[each.name, each] as const])),
  );
  const byFolder = new Map(packages.map((each) => [each.folder, each] as const));
  const found = new Map<string, number | 'outside' | 'missing'>();

  function readJson(path: string): Record<string, unknown> | null {
    const text = files.readManifest(path);
    const value: unknown = text === null ? null : parse(text, [], { allowTrailingComma: true });
    return isJsonObject(value) ? value : null;
  }

  function findModule(folder: string, specifier: string): number | 'outside' | 'missing' {
    if (specifier.startsWith('.')) {
      const path = posix.join(folder, specifier);
      // The folder of a package is its entry, `require('..')`, whatever it exports by its name.
      const own = byFolder.get(path.replace(/(?<=.)\/$/, ''));
      const entry = own === undefined ? undefined : findEntry(own);
      return entry ?? findFile(path) ?? 'missing';
    }
    if (specifier.startsWith('#')) {
      const own = findAbove(folder, (each) => byFolder.get(each));
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
