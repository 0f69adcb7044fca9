import type { TypeExpr } from '../facts.ts';
import type { FileView } from './project.ts';

/** The values of generic parameters at a position: by file and symbol. */
export interface Substitution {
  file: FileView;
  symbol: number;
  values: readonly Value[];
}

/**
 * The evaluation of an expression: a symbol itself, an object of a class or interface, a module, an object literal, a
 * collection or record, a list with known elements, a promise, a function type, a method of a collection or promise,
 * a package or another namespace, or one of several.
 */
export type Value =
  | { is: 'symbol'; file: FileView; index: number; owner?: Substitution | null }
  | { is: 'instance'; file: FileView; index: number; types: readonly Value[] }
  | { is: 'module'; file: FileView }
  | { is: 'object'; file: FileView; index: number }
  | { is: 'many'; of: Value; isMap: boolean; isRecord?: true }
  | { is: 'list'; items: readonly Value[] }
  | { is: 'promise'; of: Value }
  | {
      is: 'function';
      file: FileView;
      type: Extract<TypeExpr, readonly ['f', ...unknown[]]>;
      with: Substitution | null;
      /** The symbol of the same file that names the type; an inline function type has none. */
      named?: number;
    }
  | { is: 'method'; of: Value; name: string }
  | { is: 'space'; find(name: string, space: 'value' | 'type'): Value | null }
  | { is: 'either'; values: readonly Value[] }
  | { is: 'outside' }
  | { is: 'unknown' };

export type SymbolValue = Extract<Value, { is: 'symbol' }>;

export const OUTSIDE_VALUE: Value = { is: 'outside' };
export const UNKNOWN_VALUE: Value = { is: 'unknown' };

const isSame = (one: Value, other: Value): boolean =>
  one.is === other.is &&
  'index' in one &&
  'index' in other &&
  one.file === other.file &&
  one.index === other.index;

/** Returns one of several values: external ones such as null, and unknown ones, are dropped. */
export function joinValues(values: readonly Value[]): Value {
  const flat = values.flatMap((value) => (value.is === 'either' ? value.values : [value]));
  const known: Value[] = [];
  for (const value of flat)
    if (value.is !== 'outside' && value.is !== 'unknown' && !known.some((each) => isSame(each, value)))
      known.push(value);
  if (known.length === 1) return known[0]!;
  if (known.length > 1) return { is: 'either', values: known };
  return flat.some(({ is }) => is === 'unknown') ? UNKNOWN_VALUE : (flat[0] ?? UNKNOWN_VALUE);
}
