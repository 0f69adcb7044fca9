import { posix } from 'node:path';
import { isJsonObject } from '../../../core/base/json-object.ts';
import { matchPattern } from './package-exports.ts';
import type { ReadJson, SourceFinder } from './source-files.ts';

interface PathMap {
  /** The folder that the paths are relative to. */
  base: string;
  paths: [pattern: string, targets: string[]][];
  baseUrl: string | null;
}

const MOST_EXTENDED = 10;

/** Creates the search for files by the path mappings of configurations. */
export function createPathMaps(readJson: ReadJson, findFile: SourceFinder['findFile']) {
  const pathMaps = new Map<string, PathMap | null>();

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
    const options = isJsonObject(json.compilerOptions) ? json.compilerOptions : {};
    const folder = posix.dirname(path);
    const extended = [json.extends]
      .flat()
      .filter((each): each is string => typeof each === 'string' && each.startsWith('.'))
      .map((each) => posix.join(folder, each))
      .map((each) => readConfig(each.endsWith('.json') ? each : `${each}.json`, depth + 1))
      .findLast((each) => each !== null && (each.paths.length > 0 || each.baseUrl !== null));
    const baseUrl = typeof options.baseUrl === 'string' ? posix.join(folder, options.baseUrl) : null;
    const paths = isJsonObject(options.paths)
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
    const map = findAbove(folder, readPathMap);
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

  return findByPaths;
}

/** Returns the first value of a folder or one above it. */
export function findAbove<T>(folder: string, at: (folder: string) => T | null | undefined): T | null {
  for (let each = folder; ; each = posix.dirname(each)) {
    const value = at(each);
    if (value !== null && value !== undefined) return value;
    if (each === '.' || each === '/') return null;
  }
}
