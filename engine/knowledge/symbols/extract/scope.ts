import type { ExpressionFact, TypeExpr } from '../facts.ts';

/** The meaning of a name at a position: as a value, as a type, or both. */
export interface NameBinding {
  value?: ExpressionFact;
  type?: TypeExpr;
}

/** The names of a block, nested in the outer blocks. */
export interface NameScope {
  names: Map<string, NameBinding>;
  parent: NameScope | null;
}

export const createScope = (parent: NameScope | null): NameScope => ({ names: new Map(), parent });

/** Binds a name as a value, a type or both; its other meaning stays. */
export function bindName(scope: NameScope, name: string, binding: NameBinding): void {
  scope.names.set(name, { ...scope.names.get(name), ...binding });
}

export function findValue(scope: NameScope, name: string): ExpressionFact | null {
  for (let at: NameScope | null = scope; at !== null; at = at.parent) {
    const value = at.names.get(name)?.value;
    if (value !== undefined) return value;
  }
  return null;
}

export function findType(scope: NameScope, name: string): TypeExpr | null {
  for (let at: NameScope | null = scope; at !== null; at = at.parent) {
    const type = at.names.get(name)?.type;
    if (type !== undefined) return type;
  }
  return null;
}
