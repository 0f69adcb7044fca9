import type { Expr } from '../../facts.ts';
import type { Scope } from '../scope.ts';

/** Where a walk is. */
export interface TablePlace {
  scope: Scope;
  symbol: number;
  /** The class around, -1 for none. */
  self: number;
  returns: Expr[];
}
