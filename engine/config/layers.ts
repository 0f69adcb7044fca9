/** Plain values from a YAML file. */
export type ConfigTree = Record<string, unknown>;

/** A path in a tree: names of objects and indexes of lists. */
export type KeyPath = readonly PropertyKey[];

export const isTree = (value: unknown): value is ConfigTree =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the value at `path`, or undefined. */
export function getAt(tree: unknown, path: KeyPath): unknown {
  let at = tree;
  for (const segment of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, segment)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[segment];
  }
  return at;
}

/** Sets `value` at `path`, creating objects on the way. */
export function setAt(tree: ConfigTree, path: readonly string[], value: unknown): void {
  let at = tree;
  for (const segment of path.slice(0, -1)) {
    const inside = Object.hasOwn(at, segment) ? at[segment] : undefined;
    const next = isTree(inside) ? inside : {};
    defineName(at, segment, next);
    at = next;
  }
  defineName(at, path.at(-1)!, value);
}

/** Merges `over` into `under`: objects are merged name by name, everything else is replaced. */
export function mergeLayers(under: ConfigTree, over: ConfigTree): ConfigTree {
  const merged = { ...under };
  for (const [name, value] of Object.entries(over)) {
    const below = Object.hasOwn(merged, name) ? merged[name] : undefined;
    defineName(merged, name, isTree(value) && isTree(below) ? mergeLayers(below, value) : value);
  }
  return merged;
}

/** Returns the tree without names that have no value: an empty `timeout_sec:` is an absent key. */
export function dropNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropNulls);
  if (!isTree(value)) return value;
  const kept: ConfigTree = {};
  for (const [name, member] of Object.entries(value)) {
    if (member !== null) defineName(kept, name, dropNulls(member));
  }
  return kept;
}

/** Formats a path as people write it: `notify.webhooks[0].url`. */
export const formatPath = (path: KeyPath): string =>
  path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text ? `${text}.${String(part)}` : String(part),
    '',
  );

// Plain assignment to `__proto__` would change the object's prototype instead of adding a name.
function defineName(tree: ConfigTree, name: string, value: unknown): void {
  Object.defineProperty(tree, name, { value, writable: true, enumerable: true, configurable: true });
}
