import type { SourceLanguage } from '../../../sources/index.ts';
import { type ExpressionFact, type SymbolFact, type TypeExpr, UNKNOWN } from '../../facts.ts';
import type { FactCollector } from '../collect.ts';
import type { NodeId, SyntaxNodes } from '../nodes.ts';
import type { NameScope } from '../scope.ts';

/** The state of a walk. */
export interface TablePlace {
  scope: NameScope;
  symbol: number;
  /** The enclosing class, -1 for none. */
  self: number;
  returns: ExpressionFact[];
}

export interface TableTypes {
  readType(node: NodeId, place: TablePlace): TypeExpr;
  isType(kind: string): boolean;
  /** Reports whether a type is inferred from the value, as with `var` and `auto`. */
  isInferred(node: NodeId): boolean;
}

/** Reads one kind of node; null if it is something else after all. */
export type TableReader = (walk: TableWalk, node: NodeId, place: TablePlace) => ExpressionFact | null;

/** Readers by their kind. */
export type TableReaders = Readonly<Record<string, TableReader>>;

/** The mutually recursive parts of a walk. */
export interface TableWalk {
  nodes: SyntaxNodes;
  language: SourceLanguage;
  collector: FactCollector;
  symbols: SymbolFact[];
  /** The symbols of declarations. */
  declared: Map<NodeId, number>;
  types: TableTypes;
  /** The names of the file. */
  top: NameScope;
  /** Returns the name of a declaration. */
  findName(node: NodeId): NodeId;
  /** Declares the declarations of a node and its descendants. */
  declare(node: NodeId, parent: number, outer: NodeId): void;
  /** Returns the content of a declaration. */
  findBody(node: NodeId): NodeId;
  /** Binds the direct children of a symbol. */
  bindMembers(symbol: number, scope: NameScope): void;
  /** Reads a name, without a reference to it. */
  nameValue(node: NodeId, place: TablePlace): ExpressionFact;
  /** Reads a callee, or the object of a member access. */
  readTarget(node: NodeId, place: TablePlace): ExpressionFact;
  /** Returns the object and the name of a member access; null for anything else. */
  memberOf(node: NodeId): { object: NodeId; name: string } | null;
  /** Binds the names of a pattern to parts of a value. */
  bindLocal(pattern: NodeId, value: ExpressionFact, place: TablePlace): void;
  /** Declares a variable with a type, a value, or both. */
  declareVariable(
    nameNode: NodeId,
    typeNode: NodeId,
    valueNode: NodeId,
    outer: NodeId,
    place: TablePlace,
  ): void;
  /** Parameters, result and body. */
  readFunction(node: NodeId, symbol: number, place: TablePlace): void;
  /** Bases and body. */
  readClass(node: NodeId, symbol: number, place: TablePlace): void;
  /** Reads an anonymous function for its references. @param given the values of its parameters */
  readLambda(node: NodeId, place: TablePlace, given?: (param: number) => ExpressionFact): ExpressionFact;
  /** A loop over a collection, with its bindings. */
  readLoop(node: NodeId, place: TablePlace): ExpressionFact;
  /** Reads a node for its references, and returns its type. */
  readValue(node: NodeId, place: TablePlace): ExpressionFact;
}

/** Returns the first result: a Go function that also returns an error returns a list. */
export const firstResult = (value: ExpressionFact | undefined, language: SourceLanguage): ExpressionFact =>
  value === undefined
    ? UNKNOWN
    : language === 'go' && value[0] === 'y'
      ? (value[1] as ExpressionFact)
      : value;
