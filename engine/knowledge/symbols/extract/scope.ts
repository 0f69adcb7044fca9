import type { Expr, TypeExpr } from '../facts.ts';

/** The meaning of a name at a position: as a value, as a type, or both. */
export interface Binding {
  value?: Expr;
  type?: TypeExpr;
}

/** The names of a block, nested in the outer blocks. */
export interface Scope {
  names: Map<string, Binding>;
  parent: Scope | null;
}

export const createScope = (parent: Scope | null): Scope => ({ names: new Map(), parent });

/** Binds a name as a value, a type or both; its other meaning stays. */
export function bindName(scope: Scope, name: string, binding: Binding): void {
  scope.names.set(name, { ...scope.names.get(name), ...binding });
}

export function findValue(scope: Scope, name: string): Expr | null {
  for (let at: Scope | null = scope; at !== null; at = at.parent) {
    const value = at.names.get(name)?.value;
    if (value !== undefined) return value;
  }
  return null;
}

export function findType(scope: Scope, name: string): TypeExpr | null {
  for (let at: Scope | null = scope; at !== null; at = at.parent) {
    const type = at.names.get(name)?.type;
    if (type !== undefined) return type;
  }
  return null;
}
