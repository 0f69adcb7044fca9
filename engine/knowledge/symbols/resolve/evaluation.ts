import type { ExpressionFact, TypeExpr } from '../facts.ts';
import type { NameRules, NameSpace } from './language-rules.ts';
import type { FileView, GraphProject } from './project.ts';
import type { ResolvedValue, SymbolValue, TypeSubstitution } from './values.ts';
import type { WorkLimit } from './work-limit.ts';

/** The use of a member: as a value, as a type, or in a call. */
export type MemberUse = NameSpace | 'call';

/** A found member, and how it was found. */
export interface FoundMember {
  value: ResolvedValue;
  /** True if the class itself has it, not a base class. */
  isOwn: boolean;
}

/** The mutually recursive parts of evaluation. */
export interface ValueEvaluation extends WorkLimit {
  project: GraphProject;
  rulesOf(file: FileView): NameRules;
  evaluate(file: FileView, expr: ExpressionFact, owner?: TypeSubstitution | null): ResolvedValue;
  evaluateType(file: FileView, type: TypeExpr, owner?: TypeSubstitution | null): ResolvedValue;
  /** Returns the target of an import; files may import each other in a cycle. */
  readImport(file: FileView, index: number, space: NameSpace): ResolvedValue;
  /** Returns the meaning of a name that the file does not declare. */
  readFree(file: FileView, name: string, space: NameSpace): ResolvedValue;
  /** Returns the meaning of a name as a type. */
  lookUpType(file: FileView, named: ExpressionFact): ResolvedValue;
  /** Returns the object that a class, or a variable with a class, makes. */
  instanceOf(value: ResolvedValue, types: readonly ResolvedValue[]): ResolvedValue;
  /** Returns the value of a variable or field, which may be another one; any other symbol is itself. */
  valueOfSymbol(value: SymbolValue): ResolvedValue;
  /** Returns the final value of a variable that is declared by others; unknown for cycles. */
  settle(value: SymbolValue): ResolvedValue;
  /** @param given the number of arguments, where functions have overloads */
  callValue(value: ResolvedValue, given?: number): ResolvedValue;
  awaitValue(value: ResolvedValue): ResolvedValue;
  elementOf(value: ResolvedValue, at?: number): ResolvedValue;
  /** Returns the expected type of the function that is argument `index` of a call. */
  argumentOf(callee: ResolvedValue, index: number, param: number): ResolvedValue;
  /** Returns the type of a parameter of a function that is known by its type. */
  parameterOf(value: ResolvedValue, index: number): ResolvedValue;
  /** Finds a member of a value by name; null if the project is not known to have one. */
  findMember(value: ResolvedValue, name: string, use?: MemberUse): FoundMember | null;
  /** Finds a member that is called: methods first, then functions that extend the value, then fields. */
  findCalled(file: FileView, value: ResolvedValue, name: string): FoundMember | null;
  /** Returns an export of a file by name, through re-exporting files. */
  findExport(file: FileView, name: string, space: NameSpace): ResolvedValue | null;
}

/** The part that others use. */
export type ValueEvaluator = Pick<
  ValueEvaluation,
  | 'beginFile'
  | 'beginReference'
  | 'remember'
  | 'evaluate'
  | 'evaluateType'
  | 'readImport'
  | 'lookUpType'
  | 'findMember'
  | 'findCalled'
  | 'findExport'
  | 'settle'
>;

/** Symbols that stand for their content. */
export const HOLDS: ReadonlySet<string> = new Set(['variable', 'field']);
