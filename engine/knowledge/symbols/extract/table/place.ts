import type { Language } from '../../../sources/index.ts';
import type { Expr, SymbolFact, TypeExpr } from '../../facts.ts';
import type { Collector } from '../collect.ts';
import type { NodeId, Nodes } from '../nodes.ts';
import type { Scope } from '../scope.ts';

/** Where a walk is. */
export interface TablePlace {
  scope: Scope;
  symbol: number;
  /** The class around, -1 for none. */
  self: number;
  returns: Expr[];
}

export interface TableTypes {
  readType(node: NodeId, place: TablePlace): TypeExpr;
  /** The nodes of the types that a class extends, implements or embeds. */
  listBases(node: NodeId): NodeId[];
  isType(kind: string): boolean;
  /** `var` and `auto`: the type is that of the value. */
  isInferred(node: NodeId): boolean;
}

/** The parts of a walk, which call each other. */
export interface TableWalk {
  nodes: Nodes;
  language: Language;
  collector: Collector;
  symbols: SymbolFact[];
  /** The symbols of declarations. */
  declared: Map<NodeId, number>;
  types: TableTypes;
  /** The names of the file. */
  top: Scope;
  /** The name of a declaration. */
  findName(node: NodeId): NodeId;
  /** Declares what a node and those below it declare. */
  declare(node: NodeId, parent: number, outer: NodeId): void;
  /** What a declaration holds. */
  findBody(node: NodeId): NodeId;
  /** Whether other files may use it. */
  isExported(node: NodeId, name: string): boolean;
  /** Binds what stands directly below a symbol. */
  bindMembers(symbol: number, scope: Scope): void;
  /** A name, without a reference to it. */
  nameValue(node: NodeId, place: TablePlace): Expr;
  /** What is called or whose member is taken. */
  readTarget(node: NodeId, place: TablePlace): Expr;
  /** The object and the name of a member; null for what is none. */
  memberOf(node: NodeId): { object: NodeId; name: string } | null;
  /** A call or a new object. */
  readCall(node: NodeId, place: TablePlace): Expr;
  /** The calls in a macro of Rust. */
  readMacro(node: NodeId, place: TablePlace): void;
  /** Binds the names of a pattern to parts of a value. */
  bindLocal(pattern: NodeId, value: Expr, place: TablePlace): void;
  /** A variable with a type, a value, or both. */
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
  /** A loop over a collection, with what it binds. */
  /** Reads a function without a name, for the references in it. */
  readLambda(node: NodeId, place: TablePlace): void;
  readLoop(node: NodeId, place: TablePlace): Expr;
  /** Reads a node for the references in it, and says what it is. */
  readValue(node: NodeId, place: TablePlace): Expr;
}
