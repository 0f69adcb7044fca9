import type { TypeExpr } from '../facts.ts';
import type { FileView } from './project.ts';

/** The values of generic parameters at a position: by file and symbol. */
export interface TypeSubstitution {
  file: FileView;
  symbol: number;
  values: readonly ResolvedValue[];
}

/**
 * The evaluation of an expression: a symbol itself, an object of a class or interface, a module, an object literal, a
 * collection or record, a list with known elements, a promise, a function type, a method of a collection or promise,
 * a package or another namespace, or one of several. External types and collections have their name where functions
 * have overloads.
 */
export type ResolvedValue =
  | { is: 'symbol'; file: FileView; index: number; owner?: TypeSubstitution | null }
  | { is: 'instance'; file: FileView; index: number; types: readonly ResolvedValue[] }
  | { is: 'module'; file: FileView }
  | { is: 'object'; file: FileView; index: number }
  | { is: 'many'; of: ResolvedValue; isMap: boolean; isRecord?: true; name?: string }
  | { is: 'list'; items: readonly ResolvedValue[] }
  | { is: 'promise'; of: ResolvedValue }
  | {
      is: 'function';
      file: FileView;
      type: Extract<TypeExpr, readonly ['f', ...unknown[]]>;
      with: TypeSubstitution | null;
      /** The symbol of the same file that names the type; an inline function type has none. */
      named?: number;
    }
  | { is: 'method'; of: ResolvedValue; name: string }
  | { is: 'space'; find(name: string, space: 'value' | 'type'): ResolvedValue | null }
  | { is: 'either'; values: readonly ResolvedValue[] }
  | { is: 'outside'; name?: string }
  | { is: 'unknown' };

export type SymbolValue = Extract<ResolvedValue, { is: 'symbol' }>;

export const OUTSIDE_VALUE: ResolvedValue = { is: 'outside' };
export const UNKNOWN_VALUE: ResolvedValue = { is: 'unknown' };

const isSameValue = (one: ResolvedValue, other: ResolvedValue): boolean =>
  one.is === other.is &&
  'index' in one &&
  'index' in other &&
  one.file.id === other.file.id &&
  one.index === other.index;

/** Returns one of several values: external ones such as null, and unknown ones, are dropped. */
export function joinValues(values: readonly ResolvedValue[]): ResolvedValue {
  const flat = values.flatMap((value) => (value.is === 'either' ? value.values : [value]));
  const known: ResolvedValue[] = [];
  for (const value of flat)
    if (value.is !== 'outside' && value.is !== 'unknown' && !known.some((each) => isSameValue(each, value)))
      known.push(value);
  if (known.length === 1) return known[0]!;
  if (known.length > 1) return { is: 'either', values: known };
  return flat.some(({ is }) => is === 'unknown') ? UNKNOWN_VALUE : (flat[0] ?? UNKNOWN_VALUE);
}
