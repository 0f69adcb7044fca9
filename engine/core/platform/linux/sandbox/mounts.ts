import {
  findPinnedFolders,
  findRuleAround,
  isHiding,
  type MountedPlace,
  selectStrongest,
  sortByDepth,
} from '../../sandbox/rules.ts';

/**
 * Builds the mounts as bubblewrap's arguments, outermost first, so that the deepest rule is on top. `/` is already
 * there, read-only.
 */
export function buildMountArgs(places: readonly MountedPlace[]): string[] {
  const by = selectStrongest(places);
  const held = findPinnedFolders(by);
  for (const path of held) if (!by.has(path)) by.set(path, { path, show: 'write' });
  const ordered = sortByDepth(by.values());
  const words: string[] = [];
  const shut: string[] = [];
  for (const place of ordered) {
    const outer = findRuleAround(place.path, by);
    if ('link' in place) {
      // Elsewhere the link is visible anyway.
      if (outer !== null && isHiding(outer)) words.push('--symlink', place.link, place.path);
      continue;
    }
    const { path, show, from, mode } = place;
    if (show === 'read' || show === 'write') {
      const isPlain =
        from === undefined && (outer === null || 'link' in outer ? 'read' : outer.show) === show;
      const isOfOther = outer !== null && 'show' in outer && outer.from !== undefined;
      if (isPlain && !isOfOther && !held.has(path)) continue;
      words.push(show === 'read' ? '--ro-bind' : '--bind', from ?? path, path);
      continue;
    }
    if (mode !== undefined) words.push('--perms', mode);
    words.push('--tmpfs', path);
    if (show === 'shut') shut.push('--remount-ro', path);
  }
  // Last, because mount points are created in them before.
  return [...words, ...shut];
}
