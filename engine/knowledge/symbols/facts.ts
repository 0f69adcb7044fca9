/** The kind of a symbol. `file` is the code outside of every other symbol. */
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
 * A value as written, with its names bound as far as the file alone allows. The resolver determines it.
 *
 * `s` a symbol of this file; `i` an import; `g` a name without a declaration here; `l` a local variable; `o` an
 * object literal; `m` a member of a value; `c` the result of a call; `n` an instance of a class; `t` a value of a
 * type; `w` the result of a promise; `e` an element of a collection, by index if known; `y` a list of these; `b`
 * parameter `[3]` of the function that is argument `[2]` of a call; `B` parameter `[2]` of a function type; `self`
 * and `super` the object of a class; `x` external, such as a literal; `?` unknown. For functions with overloads, `c` has
 * the number of arguments, and `x` the name of its type.
 */
export type ExpressionFact =
  | readonly ['s', number]
  | readonly ['i', number]
  | readonly ['g', string]
  | readonly ['l', number]
  | readonly ['o', number]
  | readonly ['m', ExpressionFact, string]
  | readonly ['c', ExpressionFact, number?]
  | readonly ['n', ExpressionFact, ...TypeExpr[]]
  | readonly ['t', TypeExpr]
  | readonly ['w', ExpressionFact]
  | readonly ['e', ExpressionFact, number?]
  | readonly ['y', ...ExpressionFact[]]
  | readonly ['b', ExpressionFact, number, number]
  | readonly ['B', TypeExpr, number]
  | readonly ['self', number]
  | readonly ['super', number]
  | readonly ['|', ...ExpressionFact[]]
  | readonly ['x', string?]
  | readonly ['?'];

/**
 * A type as written. `r` a name with its arguments; `u` one of several; `&` all of several; `a` a collection of it;
 * `f` a function with its result and parameters; `l` members of a symbol; `q` the type of a value; `k` a member's
 * type; `p` parameter `[2]` of the generic symbol `[1]`; `x` external, `?` unknown, such as a type parameter: both have
 * their name where functions have overloads.
 */
export type TypeExpr =
  | readonly ['r', ExpressionFact, ...TypeExpr[]]
  | readonly ['u', ...TypeExpr[]]
  | readonly ['&', ...TypeExpr[]]
  | readonly ['a', TypeExpr]
  | readonly ['f', TypeExpr, ...TypeExpr[]]
  | readonly ['l', number]
  | readonly ['q', ExpressionFact]
  | readonly ['k', TypeExpr, string]
  | readonly ['p', number, number]
  | readonly ['x', string?]
  | readonly ['?', string?];

/** A symbol as its file declares it; others refer to it by its index in the list. */
export interface SymbolFact {
  name: string;
  kind: SymbolKind;
  /** The enclosing symbol, -1 for none. */
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
  /** The type of a method declared outside of it: a Go receiver, a Rust `impl`. */
  owner?: string;
  /** The type of the objects that a function extends as if it were theirs: `fun A.f()` in Kotlin, `f(this A a)` in C#. */
  receiver?: TypeExpr;
  /** True for a static member. */
  isStatic?: true;
  /** True if a call returns a promise of its result. */
  isAsync?: true;
  /** The type of a variable or field; the target of a type alias. */
  type?: TypeExpr;
  /** The initial value of a variable or field. */
  init?: ExpressionFact;
  /** The declared result of a call, otherwise its returned values. */
  returnType?: TypeExpr;
  returns?: ExpressionFact[];
  params?: TypeExpr[];
  /** The least and the most arguments, `MANY_ARGUMENTS` for no limit, if they are not the number of parameters. */
  arity?: readonly [least: number, most: number];
  /** The types that a class or interface extends, implements or embeds. */
  bases?: TypeExpr[];
  /** The labels of the arguments in Swift, by which overloads differ; `_` for none. */
  labels?: string[];
  /** The constraints of a generic symbol's parameters. */
  generics?: TypeExpr[];
}

export const isFunction = ({ kind }: Pick<SymbolFact, 'kind'>): boolean =>
  kind === 'function' || kind === 'method';

/** A name from another file. */
export interface ImportFact {
  /** As written in the file: `./x.ts`, `pkg/sub`, `a.b`. */
  from: string;
  /** The exported name, `*` for the module as a whole, `default`. */
  name: string;
  /** The local name; empty for a mere re-export. */
  local: string;
  line: number;
}

/** A name that other files may import. */
export interface ExportFact {
  /** `*` re-exports all exports of a module. */
  name: string;
  value: ExpressionFact;
}

/** A reference to a symbol: by a call, as a base, as a value, or as a type. */
export type ReferenceKind = 'call' | 'new' | 'jsx' | 'inherit' | 'value' | 'type';

/** Kind, target, line, and the enclosing symbol; for a call that chooses among overloads, its arguments. */
export type ReferenceFact = readonly [ReferenceKind, ExpressionFact, number, number, ExpressionFact[]?];

/** An object literal: its members, and its spread values. */
export interface ObjectFact {
  members: Record<string, ExpressionFact>;
  spreads: ExpressionFact[];
}

/** The facts of one file alone: the same text gives the same facts. */
export interface FileFacts {
  /** The first one is the file. */
  symbols: SymbolFact[];
  imports: ImportFact[];
  exports: ExportFact[];
  locals: ExpressionFact[];
  objects: ObjectFact[];
  references: ReferenceFact[];
  /** The package or namespace that the file declares. */
  packageName?: string;
  /** Places with syntax errors. */
  errors: number;
}

/** Reports whether a value is a name alone, which may be a member of an enclosing class. */
export function isBareName(expr: ExpressionFact): boolean {
  const last = expr.at(-1) as ExpressionFact | undefined;
  return expr[0] === '|' && expr.length > 2 && last?.[0] === 'g';
}

/** Replaces the index of an element: an unknown key or index, which for a map means a value, not a pair. */
export const ANY_KEY = -1;

/** The number of arguments of a function that takes any number. */
export const MANY_ARGUMENTS = 999;

export const UNKNOWN: ExpressionFact = ['?'];
export const OUTSIDE: ExpressionFact = ['x'];
export const UNKNOWN_TYPE: TypeExpr = ['?'];
export const OUTSIDE_TYPE: TypeExpr = ['x'];
