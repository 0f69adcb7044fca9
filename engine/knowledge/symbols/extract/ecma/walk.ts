import type { ExpressionFact, ReferenceKind, TypeExpr } from '../../facts.ts';
import type { FactCollector } from '../collect.ts';
import type { NodeId, SyntaxNodes } from '../nodes.ts';
import type { NameScope } from '../scope.ts';

/** The state of a walk through a text. */
export interface WalkState {
  scope: NameScope;
  /** The enclosing symbol; 0 is the file. */
  symbol: number;
  /** The class of `this`; -1 for none. */
  self: number;
  /** True if `this` is the class itself. */
  isStatic: boolean;
  /** The type of `this` if a function declares it, or in an object literal; null if the class determines it. */
  thisValue: ExpressionFact | null;
  /** Collects the results of the enclosing function. */
  returns: ExpressionFact[];
}

/** Reads an expression. @param expected its expected type */
export type ValueReader = (
  walk: SyntaxWalk,
  node: NodeId,
  place: WalkState,
  expected?: TypeExpr,
) => ExpressionFact;

/** Readers of expressions by their kind. */
export type ValueReaders = Readonly<Record<string, ValueReader>>;

export type StatementReader = (walk: SyntaxWalk, node: NodeId, place: WalkState, isExported: boolean) => void;

/** Readers of statements by their kind. */
export type StatementReaders = Readonly<Record<string, StatementReader>>;

/** The mutually recursive parts of a walk. */
export interface SyntaxWalk {
  nodes: SyntaxNodes;
  collector: FactCollector;
  /** The symbols of declarations that were found when their block was entered. */
  declared: Map<NodeId, number>;
  /** Declares the names of a statement, so that earlier code may use them. */
  declare(outer: NodeId, place: WalkState): void;
  /** Declares the names of a block's statements, then reads them. */
  readBlock(statements: readonly NodeId[], place: WalkState): void;
  readStatement(node: NodeId, place: WalkState, isExported?: boolean): void;
  /** Reads a function that is a symbol. @param own what `this` is, if not what it is by its kind */
  readNamedFunction(
    node: NodeId,
    symbol: number,
    place: WalkState,
    type?: TypeExpr,
    own?: Partial<WalkState>,
  ): void;
  readImport(node: NodeId, place: WalkState): void;
  readExport(node: NodeId, place: WalkState): void;
  /** Reads an assignment that exports something or extends a class; false for any other. */
  readCommonJs(node: NodeId, place: WalkState): boolean;
  /** Reads an assignment to `exports`, and returns its value; null for any other. @param node the statement */
  readExports(assignment: NodeId, node: NodeId, place: WalkState): ExpressionFact | null;
  /** Exports a value as the whole module. */
  exportWhole(value: ExpressionFact): void;
  /** Exports names that are declared below their export. */
  exportLater(): void;
  /** Reads an expression for the references in it. @param expected its expected type */
  readValue(node: NodeId, place: WalkState, expected?: TypeExpr): ExpressionFact;
  /** Reads a value that is called or whose member is accessed: like `readValue`, without a reference as a value. */
  readTarget(node: NodeId, place: WalkState): ExpressionFact;
  /** Reads a name without a reference: its call adds one itself. */
  nameValue(node: NodeId, place: WalkState): ExpressionFact;
  readType(node: NodeId, place: WalkState): TypeExpr;
  /** Adds members of an object type or an interface as symbols below `owner`. */
  readMembers(body: NodeId, owner: number, place: WalkState): void;
  /** Binds the names of a parameter or a variable to parts of a value. */
  bindPattern(pattern: NodeId, value: ExpressionFact, place: WalkState): void;
  /** Reads parameters and the body of a function. @param argument the parameter types if the function does not declare them */
  readFunction(node: NodeId, place: WalkState, argument?: (index: number) => ExpressionFact): FunctionParts;
  readClass(node: NodeId, symbol: number, place: WalkState): void;
  /** Binds the type parameters of a generic symbol, and returns their constraints. */
  readGenerics(node: NodeId, symbol: number, place: WalkState): TypeExpr[];
  refer(kind: ReferenceKind, value: ExpressionFact, node: NodeId, place: WalkState): void;
}

export interface FunctionParts {
  returnType?: TypeExpr;
  returns: ExpressionFact[];
  params: TypeExpr[];
  isAsync: boolean;
}

/** Maximum inspected elements of a list, which are mostly alike. */
export const MOST_ITEMS = 8;

export const isFunctionKind = (kind: string): boolean =>
  kind === 'arrow_function' ||
  kind === 'function_expression' ||
  kind === 'generator_function' ||
  kind === 'function';

export const isFunctionDeclaration = (kind: string): boolean =>
  kind === 'function_declaration' ||
  kind === 'generator_function_declaration' ||
  kind === 'function_signature';

export const isClassKind = (kind: string): boolean =>
  kind === 'class' || kind === 'class_declaration' || kind === 'abstract_class_declaration';

/** Rebinds `this` for a function: only an arrow function has the surrounding one. */
export const rebindThis = (
  kind: string,
  { self, isStatic, thisValue }: WalkState,
): Pick<WalkState, 'self' | 'isStatic' | 'thisValue'> =>
  kind === 'arrow_function' ? { self, isStatic, thisValue } : { self: -1, isStatic: false, thisValue: null };

export const stripQuotes = (text: string): string => text.replace(/^(['"`])([\s\S]*)\1$/, '$2');
