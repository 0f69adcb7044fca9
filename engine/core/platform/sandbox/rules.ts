import { dirname, sep } from 'node:path';
import { isInsideFolder } from '../../base/paths.ts';
import { findLinks, findRealPath } from '../../base/real-paths.ts';

/**
 * The view of a confined run at a path and below: `empty` is a private folder in memory, `shut` an empty read-only
 * one. The deepest rule that covers a path applies.
 */
export interface MountRule {
  /** Absolute, without links. */
  path: string;
  show: 'empty' | 'shut' | 'read' | 'write';
  /** The source of the contents, if it is another path. */
  from?: string;
  /** Of an empty folder; 0755. */
  mode?: string;
}

/** A link that must be visible although the folder around it is hidden. */
export interface LinkRule {
  path: string;
  link: string;
}

export type MountedPlace = MountRule | LinkRule;

/** Reports whether a rule hides a path. */
export const isHiding = (place: MountedPlace): boolean =>
  'show' in place && (place.show === 'empty' || place.show === 'shut');

/** Shows a path that exists, including the links that lead to it; nothing when it does not exist. */
export function showPath(path: string, show: 'read' | 'write'): MountedPlace[] {
  const real = findRealPath(path);
  if (real === null) return [];
  return [
    { path: real, show },
    ...findLinks(path).map(({ path: at, target }) => ({ path: at, link: target })),
  ];
}

/** Hides a folder that exists. */
export function hidePath(path: string, show: 'empty' | 'shut', mode?: string): MountedPlace[] {
  const real = findRealPath(path);
  return real === null ? [] : [{ path: real, show, ...(mode === undefined ? {} : { mode }) }];
}

const countDepth = (path: string): number => path.split(sep).filter((part) => part !== '').length;

/** Sorts rules outermost first. */
export const sortByDepth = <Place extends MountedPlace>(places: Iterable<Place>): Place[] =>
  [...places].sort((one, other) => countDepth(one.path) - countDepth(other.path));

/** At the same path hiding takes precedence over showing, and writing over reading. */
const RANK = { empty: 3, shut: 3, write: 2, read: 1 } as const;

/** Selects the one rule that applies at each path. */
export function selectStrongest<Place extends MountedPlace>(places: readonly Place[]): Map<string, Place> {
  const by = new Map<string, Place>();
  for (const place of places) {
    const known = by.get(place.path);
    const rankPlace = (each: MountedPlace): number => ('show' in each ? RANK[each.show] : 0);
    // Of two equal rules the later one applies.
    if (known === undefined || rankPlace(place) >= rankPlace(known)) by.set(place.path, place);
  }
  return by;
}

/** Finds the rule that applies above a path; null is the read-only file system itself. */
export function findRuleAround(path: string, by: ReadonlyMap<string, MountedPlace>): MountedPlace | null {
  for (let folder = path; folder !== dirname(folder); ) {
    folder = dirname(folder);
    const place = by.get(folder);
    if (place !== undefined && 'show' in place) return place;
  }
  return null;
}

/**
 * Finds writable folders around read-only paths: a run could move such a folder away and create another one, but
 * mounts cannot be moved.
 */
export function findPinnedFolders(by: ReadonlyMap<string, MountedPlace>): Set<string> {
  const found = new Set<string>();
  for (const place of by.values()) {
    if (!('show' in place) || place.show === 'write') continue;
    for (let folder = dirname(place.path); folder !== dirname(folder); folder = dirname(folder)) {
      const shown = by.get(folder) ?? findRuleAround(folder, by);
      if (shown === null || !('show' in shown) || shown.show !== 'write' || shown.from !== undefined) break;
      found.add(folder);
    }
  }
  return found;
}

/** Finds how a path is shown. */
export function findShownAs(path: string, places: readonly MountedPlace[]): MountRule['show'] {
  let best: MountRule = { path: sep, show: 'read' };
  for (const place of selectStrongest(places).values()) {
    if ('show' in place && isInsideFolder(place.path, path) && place.path.length >= best.path.length)
      best = place;
  }
  return best.show;
}
