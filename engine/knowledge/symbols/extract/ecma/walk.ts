import type { Expr, ReferenceKind, TypeExpr } from '../../facts.ts';
import type { Collector } from '../collect.ts';
import type { NodeId, Nodes } from '../nodes.ts';
import type { Scope } from '../scope.ts';

/** Where a walk through a text is. */
export interface Place {
  scope: Scope;
  /** The symbol around the place; 0 is the file. */
  symbol: number;
  /** The class whose object `this` is; -1 for none. */
  self: number;
  /** Whether `this` is the class itself. */
  isStatic: boolean;
  /** What `this` is where a function says so, or is a member of an object literal; null where the class says it. */
  thisValue: Expr | null;
  /** What the function around returns is gathered here. */
  returns: Expr[];
}

/** The parts of a walk, which call each other. */
export interface Walk {
  nodes: Nodes;
  collector: Collector;
  /** The symbols of declarations that were met when their block was begun. */
  declared: Map<NodeId, number>;
  /** Declares what the statements of a block declare, then reads them. */
  readBlock(statements: readonly NodeId[], place: Place): void;
  readStatement(node: NodeId, place: Place, isExported?: boolean): void;
  readNamedFunction(node: NodeId, symbol: number, place: Place, type?: TypeExpr): void;
  readImport(node: NodeId, place: Place): void;
  readExport(node: NodeId, place: Place): void;
  /** Reads an assignment that exports something or adds to a class; false for another one. */
  readCommonJs(node: NodeId, place: Place): boolean;
  /** Exports the names that are declared below the place where they are exported. */
  exportLater(): void;
  /** Reads an expression for the references in it. @param expected the type that it is to have */
  readValue(node: NodeId, place: Place, expected?: TypeExpr): Expr;
  readType(node: NodeId, place: Place): TypeExpr;
  /** Members of an object type or the body of an interface, as symbols below `owner`. */
  readMembers(body: NodeId, owner: number, place: Place): void;
  /** Binds the names of a parameter or a variable to parts of a value. */
  bindPattern(pattern: NodeId, value: Expr, place: Place): void;
  /** Reads parameters and the body of a function. @param argument what the function's parameters are when they do not say it */
  readFunction(node: NodeId, place: Place, argument?: (index: number) => Expr): FunctionParts;
  readClass(node: NodeId, symbol: number, place: Place): void;
  /** Binds the type parameters of a generic symbol, and returns what they are limited to. */
  readGenerics(node: NodeId, symbol: number, place: Place): TypeExpr[];
  refer(kind: ReferenceKind, value: Expr, node: NodeId, place: Place): void;
}

export interface FunctionParts {
  returnType?: TypeExpr;
  returns: Expr[];
  params: TypeExpr[];
  isAsync: boolean;
}

export const isFunctionKind = (kind: string): boolean =>
  kind === 'arrow_function' ||
  kind === 'function_expression' ||
  kind === 'generator_function' ||
  kind === 'function';

export const isClassKind = (kind: string): boolean =>
  kind === 'class' || kind === 'class_declaration' || kind === 'abstract_class_declaration';
