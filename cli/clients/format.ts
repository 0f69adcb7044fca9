/**
 * A file format in which one entry can be set while everything else stays unchanged, including comments and order.
 * Throws `SyntaxError`, with the rest of a sentence about the file, for an unreadable text.
 */
export interface ClientFormat {
  /** Returns the value at the path; undefined for none. */
  find(text: string, path: readonly string[]): unknown;
  /** Returns the text with the entry at the path; null if it is written in a way that cannot be changed in place. */
  put(text: string, path: readonly string[], entry: Record<string, unknown>): string | null;
  /** Formats the entry alone, with the keys that lead to it. */
  show(path: readonly string[], entry: Record<string, unknown>): string;
  /** The text of a new file. */
  fresh(start: Record<string, unknown>, path: readonly string[], entry: Record<string, unknown>): string;
}

type Tree = Record<string, unknown>;

export function requireTree(value: unknown, name: string): Tree {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Tree;
  throw new SyntaxError(`cannot take an entry: ${name} is not a table of names and values`);
}

export function readEntry(tree: Tree, path: readonly string[]): unknown {
  let value: unknown = tree;
  for (const [depth, key] of path.entries()) {
    if (value === undefined) return undefined;
    const holder = requireTree(value, path.slice(0, depth).join('.') || 'the file');
    value = Object.hasOwn(holder, key) ? holder[key] : undefined;
  }
  return value;
}

export const nestEntry = (path: readonly string[], entry: unknown): Tree =>
  path.reduceRight<unknown>((inside, key) => ({ [key]: inside }), entry) as Tree;

/** Returns a copy of the tree with the entry. */
export function addEntry(tree: Tree, [key = '', ...rest]: readonly string[], entry: unknown): Tree {
  const inside = rest.length === 0 ? entry : addEntry((tree[key] ?? {}) as Tree, rest, entry);
  return { ...tree, [key]: inside };
}
