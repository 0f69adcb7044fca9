/** What a symbol is. `file` is the code outside of every other symbol. */
export type SymbolKind =
  | 'file'
  | 'function'
  | 'method'
  | 'class'
  | 'interface'
  | 'type'
  | 'enum'
  | 'namespace'
  | 'variable'
  | 'field';

/**
 * A value as a text says it, with its names bound as far as the file alone can tell. The resolver finds out what it is.
 *
 * `s` a symbol of this file; `i` an import; `g` a name that nothing here declares; `l` a local variable; `o` an object
 * literal; `m` a member of a value; `c` what a call of it returns; `n` an instance of a class; `t` a value of a type; `w`
 * what a promise brings; `e` an element of a collection,
 * the one at a place if it is known; `y` a list of these; `b` parameter `[3]` of the function that is argument `[2]` of a
 * call; `B` parameter `[2]` of a function type; `self` and `super` the object of a class; `x` nothing of the project's, such
 * as a literal; `?` unknown.
 */
export type Expr =
  | readonly ['s', number]
  | readonly ['i', number]
  | readonly ['g', string]
  | readonly ['l', number]
  | readonly ['o', number]
  | readonly ['m', Expr, string]
  | readonly ['c', Expr]
  | readonly ['n', Expr, ...TypeExpr[]]
  | readonly ['t', TypeExpr]
  | readonly ['w', Expr]
  | readonly ['e', Expr, number?]
  | readonly ['y', ...Expr[]]
  | readonly ['b', Expr, number, number]
  | readonly ['B', TypeExpr, number]
  | readonly ['self', number]
  | readonly ['super', number]
  | readonly ['|', ...Expr[]]
  | readonly ['x']
  | readonly ['?'];

/**
 * A type as a text says it. `r` a name with its arguments; `u` one of several; `&` all of several; `a` a collection of it;
 * `f` a function with what it returns and takes; `l` members that a symbol has; `q` the type of a value; `k` a member's type;
 * `p` parameter `[2]` of the generic symbol `[1]`; `x` nothing of the project's; `?` unknown.
 */
export type TypeExpr =
  | readonly ['r', Expr, ...TypeExpr[]]
  | readonly ['u', ...TypeExpr[]]
  | readonly ['&', ...TypeExpr[]]
  | readonly ['a', TypeExpr]
  | readonly ['f', TypeExpr, ...TypeExpr[]]
  | readonly ['l', number]
  | readonly ['q', Expr]
  | readonly ['k', TypeExpr, string]
  | readonly ['p', number, number]
  | readonly ['x']
  | readonly ['?'];

/** A symbol as its file declares it; others refer to it by its place in the list. */
export interface SymbolFact {
  name: string;
  kind: SymbolKind;
  /** The symbol around it, -1 for none. */
  parent: number;
  /** Characters of the text. */
  start: number;
  end: number;
  /** From 1. */
  line: number;
  endLine: number;
  /** The declaration up to its body, on one line. */
  signature: string;
  /** The first line of the comment above it. */
  doc?: string;
  isExported?: true;
  /** The type that a method belongs to when it is declared outside of it: a receiver of Go, an `impl` of Rust. */
  owner?: string;
  /** Of a class rather than of its objects. */
  isStatic?: true;
  /** A call brings a promise of what it returns. */
  isAsync?: true;
  /** Of a variable or field; what a type alias stands for. */
  type?: TypeExpr;
  /** What a variable or field begins with. */
  init?: Expr;
  /** What a call returns, as it is declared, else what its returns say. */
  returnType?: TypeExpr;
  returns?: Expr[];
  params?: TypeExpr[];
  /** Of a class or interface: what it extends, implements or embeds. */
  bases?: TypeExpr[];
  /** What parameters of a generic symbol are limited to. */
  generics?: TypeExpr[];
}

/** A name that comes from another file. */
export interface ImportFact {
  /** As the file says it: `./x.ts`, `pkg/sub`, `a.b`. */
  from: string;
  /** The exported name, `*` for the module as a whole, `default`. */
  name: string;
  /** The name here; empty for what is only re-exported. */
  local: string;
  line: number;
}

/** A name that other files may import. */
export interface ExportFact {
  /** `*` passes on all that a module exports. */
  name: string;
  value: Expr;
}

/** A place that refers to a symbol: by a call, by naming a base, as a value, or as a type. */
export type ReferenceKind = 'call' | 'new' | 'jsx' | 'inherit' | 'value' | 'type';

/** Kind, what is referred to, line, and the symbol in which it stands. */
export type Reference = readonly [ReferenceKind, Expr, number, number];

/** An object literal: what its members are, and what else is spread into it. */
export interface ObjectFact {
  members: Record<string, Expr>;
  spreads: Expr[];
}

/** What one file says, by itself: the same text gives the same facts. */
export interface FileFacts {
  /** The first one is the file. */
  symbols: SymbolFact[];
  imports: ImportFact[];
  exports: ExportFact[];
  locals: Expr[];
  objects: ObjectFact[];
  references: Reference[];
  /** The package or namespace that the file says it belongs to. */
  packageName?: string;
  /** Places that could not be parsed. */
  errors: number;
}

/** In place of the place of an element: under some key or index, which of a map is a value and no pair. */
export const ANY_KEY = -1;

export const UNKNOWN: Expr = ['?'];
export const OUTSIDE: Expr = ['x'];
export const UNKNOWN_TYPE: TypeExpr = ['?'];
export const OUTSIDE_TYPE: TypeExpr = ['x'];
