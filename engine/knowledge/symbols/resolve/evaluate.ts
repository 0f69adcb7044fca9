import { ANY_KEY, type ExpressionFact, type SymbolFact, type TypeExpr } from '../facts.ts';
import { callBuiltIn, findBuiltInType, parameterOfBuiltIn } from './built-in.ts';
import type { NameRules, NameSpace } from './language-rules.ts';
import { createMemberFinder, HOLDS } from './members.ts';
import { type FileView, findRoot, type GraphProject } from './project.ts';
import {
  joinValues,
  OUTSIDE_VALUE,
  type ResolvedValue,
  type SymbolValue,
  type TypeSubstitution,
  UNKNOWN_VALUE,
} from './values.ts';

export type ValueEvaluator = ReturnType<typeof createEvaluator>;

/** Maximum depth: self-referential code would never end. */
const MOST_STEPS = 60;

/**
 * Maximum evaluations for one reference, and for a file. Names that each use the previous one twice would grow
 * exponentially. Real code takes a thousand at most, and thirty thousand per file.
 */
const MOST_WORK = 10_000;
const MOST_WORK_OF_FILE = 1_000_000;

/** Maximum length of a chain of variable aliases. */
const MOST_ALIASES = 8;

/** Languages whose enums have no methods. */
const IS_ECMA: ReadonlySet<string> = new Set(['typescript', 'tsx', 'javascript']);

/** Evaluates expressions and types across files. */
export function createEvaluator(project: GraphProject, rulesOf: (file: FileView) => NameRules) {
  let steps = 0;
  const work = { ofReference: 0, ofFile: 0 };
  const running = new Set<string>();

  /** Counts the work for one reference, and for a file; throws a RangeError if it exceeds the limit. */
  function spendWork(): void {
    work.ofReference += 1;
    work.ofFile += 1;
    if (work.ofReference > MOST_WORK || work.ofFile > MOST_WORK_OF_FILE)
      throw new RangeError('there is too much to follow');
  }

  /** Follows one step further; a cycle is unknown. */
  function guard(key: string, follow: () => ResolvedValue): ResolvedValue {
    if (steps >= MOST_STEPS || running.has(key)) return UNKNOWN_VALUE;
    steps += 1;
    running.add(key);
    try {
      return follow();
    } finally {
      steps -= 1;
      running.delete(key);
    }
  }

  const symbolAt = (file: FileView, index: number): SymbolFact => file.facts.symbols[index]!;

  function symbolValue(file: FileView, index: number, owner: TypeSubstitution | null = null): ResolvedValue {
    project.use(file, findRoot(file, index).name);
    return { is: 'symbol', file, index, owner };
  }

  /** Returns the target of an import; files may import each other in a cycle. */
  const readImport = (file: FileView, index: number, space: NameSpace): ResolvedValue =>
    guard(`i${file.id}:${index}:${space}`, () => rulesOf(file).importValue(file, index, space));

  function evaluate(
    file: FileView,
    expr: ExpressionFact,
    owner: TypeSubstitution | null = null,
  ): ResolvedValue {
    spendWork();
    switch (expr[0]) {
      case 's':
        return symbolValue(file, expr[1], owner);
      case 'i':
        return readImport(file, expr[1], 'value');
      case 'g':
        return rulesOf(file).freeName(file, expr[1], 'value');
      case 'l':
        return guard(`l${file.id}:${expr[1]}`, () =>
          evaluate(file, file.facts.locals[expr[1]] ?? ['?'], owner),
        );
      case 'o':
        return { is: 'object', file, index: expr[1] };
      case 'm':
        return memberOf(evaluate(file, expr[1], owner), expr[2]);
      case 'c':
        return guard(`c${file.id}:${JSON.stringify(expr)}`, () => callValue(evaluate(file, expr[1], owner)));
      case 'n': {
        const [, made, ...types] = expr;
        return instanceOf(
          evaluate(file, made, owner),
          types.map((type) => evaluateType(file, type, owner)),
        );
      }
      case 't':
        return evaluateType(file, expr[1], owner);
      case 'w':
        return awaitValue(evaluate(file, expr[1], owner));
      case 'e':
        return elementOf(evaluate(file, expr[1], owner), expr[2]);
      case 'y':
        return {
          is: 'list',
          items: expr.slice(1).map((each) => evaluate(file, each as ExpressionFact, owner)),
        };
      case 'b': {
        const callee = evaluate(file, expr[1], owner);
        return guard(`b${file.id}:${JSON.stringify(expr)}`, () =>
          parameterOf(argumentOf(callee, expr[2], expr[3]), expr[3]),
        );
      }
      case 'B':
        return parameterOf(evaluateType(file, expr[1], owner), expr[2]);
      case 'self':
        return { is: 'instance', file, index: expr[1], types: [] };
      case 'super':
        return baseOf(file, expr[1]);
      case '|':
        return joinValues(expr.slice(1).map((each) => evaluate(file, each as ExpressionFact, owner)));
      case 'x':
        return OUTSIDE_VALUE;
      default:
        return UNKNOWN_VALUE;
    }
  }

  /** Finds a member: a missing member of a known value is external; of an unknown value it is unknown. */
  const memberOf = (object: ResolvedValue, name: string): ResolvedValue =>
    findMember(object, name)?.value ?? (object.is === 'outside' ? OUTSIDE_VALUE : UNKNOWN_VALUE);

  function baseOf(file: FileView, index: number): ResolvedValue {
    const [base] = symbolAt(file, index).bases ?? [];
    return base === undefined ? OUTSIDE_VALUE : evaluateType(file, base);
  }

  function evaluateType(
    file: FileView,
    type: TypeExpr,
    owner: TypeSubstitution | null = null,
  ): ResolvedValue {
    spendWork();
    switch (type[0]) {
      case 'r': {
        const [, named, ...types] = type;
        const key = `r${file.id}:${JSON.stringify(type)}`;
        return guard(key, () => namedType(file, named, types, owner));
      }
      case 'u':
        return joinValues(type.slice(1).map((each) => evaluateType(file, each as TypeExpr, owner)));
      case '&':
        return joinValues(type.slice(1).map((each) => evaluateType(file, each as TypeExpr, owner)));
      case 'a':
        return { is: 'many', of: evaluateType(file, type[1], owner), isMap: false };
      case 'f':
        return { is: 'function', file, type, with: owner };
      case 'l':
        return { is: 'instance', file, index: type[1], types: owner?.values ?? [] };
      case 'q':
        return evaluate(file, type[1], owner);
      case 'k': {
        const object = evaluateType(file, type[1], owner);
        return type[2] === '[]' ? elementOf(object) : (findMember(object, type[2])?.value ?? UNKNOWN_VALUE);
      }
      case 'p': {
        if (owner !== null && owner.file === file && owner.symbol === type[1])
          return owner.values[type[2]] ?? UNKNOWN_VALUE;
        const limit = symbolAt(file, type[1])?.generics?.[type[2]];
        return limit === undefined
          ? UNKNOWN_VALUE
          : guard(`p${file.id}:${type[1]}:${type[2]}`, () => evaluateType(file, limit));
      }
      case 'x':
        return OUTSIDE_VALUE;
      default:
        return UNKNOWN_VALUE;
    }
  }

  function namedType(
    file: FileView,
    named: ExpressionFact,
    types: readonly TypeExpr[],
    owner: TypeSubstitution | null,
  ): ResolvedValue {
    const values = types.map((each) => evaluateType(file, each, owner));
    const meant = named[0] === 'g' ? null : lookUpType(file, named);
    // Languages import them too: `typing.Optional`, `java.util.List`.
    const isOutside = meant === null || (meant.is === 'outside' && named[0] === 'i');
    const name = named[0] === 'g' ? named[1] : named[0] === 'i' ? file.facts.imports[named[1]]!.name : '';
    const builtIn = isOutside ? findBuiltInType(file.language, name, values) : null;
    if (builtIn !== null) return builtIn === 'called' ? callValue(values[0] ?? UNKNOWN_VALUE) : builtIn;
    return typeOfSymbol(meant ?? lookUpType(file, named), values);
  }

  /** Returns the meaning of a name as a type. */
  function lookUpType(file: FileView, named: ExpressionFact): ResolvedValue {
    if (named[0] === 'i') return readImport(file, named[1], 'type');
    if (named[0] === 'g') return rulesOf(file).freeName(file, named[1], 'type');
    if (named[0] === 'm')
      return findMember(lookUpType(file, named[1]), named[2], 'type')?.value ?? UNKNOWN_VALUE;
    return evaluate(file, named);
  }

  function typeOfSymbol(value: ResolvedValue, types: readonly ResolvedValue[]): ResolvedValue {
    if (value.is !== 'symbol') return value.is === 'module' ? UNKNOWN_VALUE : value;
    const { file, index } = value;
    const fact = symbolAt(file, index);
    if (fact.kind === 'type' && fact.type !== undefined) {
      const meant = evaluateType(file, fact.type, { file, symbol: index, values: types });
      return fact.type[0] === 'f' && meant.is === 'function' ? { ...meant, named: index } : meant;
    }
    if (fact.kind === 'enum' && IS_ECMA.has(file.language)) return OUTSIDE_VALUE;
    // A value where a type is expected: an import of something that exists only as a value.
    if (fact.kind === 'variable' || fact.kind === 'function') return UNKNOWN_VALUE;
    return { is: 'instance', file, index, types };
  }

  function instanceOf(value: ResolvedValue, types: readonly ResolvedValue[]): ResolvedValue {
    if (value.is === 'either') return joinValues(value.values.map((each) => instanceOf(each, types)));
    if (value.is === 'outside') return OUTSIDE_VALUE;
    if (value.is !== 'symbol') return UNKNOWN_VALUE;
    const { file, index } = value;
    const { kind } = symbolAt(file, index);
    if (kind === 'class' || kind === 'function' || kind === 'interface')
      return { is: 'instance', file, index, types };
    if (!HOLDS.has(kind)) return UNKNOWN_VALUE;
    const meant = settle(value);
    return meant.is === 'symbol' ? instanceOf(meant, types) : UNKNOWN_VALUE;
  }

  /** Returns the final value of a variable that is declared by others; unknown for cycles. */
  function settle(value: SymbolValue): ResolvedValue {
    let at: ResolvedValue = value;
    for (let steps = 0; steps < MOST_ALIASES; steps += 1) {
      if (at.is !== 'symbol' || !HOLDS.has(symbolAt(at.file, at.index).kind)) return at;
      at = valueOfSymbol(at);
    }
    return UNKNOWN_VALUE;
  }

  /** Returns the value of a variable or field; a function, class or namespace is itself. */
  function valueOfSymbol(value: SymbolValue): ResolvedValue {
    const { file, index, owner = null } = value;
    const { kind, type, init } = symbolAt(file, index);
    if (kind !== 'variable' && kind !== 'field') return value;
    return guard(`v${file.id}:${index}`, () => {
      if (type !== undefined && type[0] !== '?') return evaluateType(file, type, owner);
      return init === undefined ? UNKNOWN_VALUE : evaluate(file, init, owner);
    });
  }

  function callValue(value: ResolvedValue): ResolvedValue {
    switch (value.is) {
      case 'symbol': {
        const { file, index, owner = null } = value;
        const { kind, returnType, returns = [], isAsync } = symbolAt(file, index);
        if (kind === 'class') return { is: 'instance', file, index, types: [] };
        if (kind !== 'function' && kind !== 'method') {
          return HOLDS.has(kind) ? callValue(settle(value)) : UNKNOWN_VALUE;
        }
        if (returnType !== undefined) return evaluateType(file, returnType, owner);
        if (returns.length === 0) return OUTSIDE_VALUE;
        return guard(`f${file.id}:${index}`, () => {
          const result = joinValues(returns.map((each) => evaluate(file, each, owner)));
          return isAsync ? { is: 'promise', of: awaitValue(result) } : result;
        });
      }
      case 'function':
        return evaluateType(value.file, value.type[1], value.with);
      case 'method':
        return callBuiltIn(value);
      case 'either':
        return joinValues(value.values.map(callValue));
      case 'outside':
        return OUTSIDE_VALUE;
      default:
        return UNKNOWN_VALUE;
    }
  }

  function awaitValue(value: ResolvedValue): ResolvedValue {
    if (value.is === 'promise') return awaitValue(value.of);
    return value.is === 'either' ? joinValues(value.values.map(awaitValue)) : value;
  }

  function elementOf(value: ResolvedValue, at?: number): ResolvedValue {
    const held = value.is === 'symbol' ? settle(value) : value;
    if (held.is === 'many' && at === ANY_KEY) return held.of;
    if (held.is === 'many') return held.isMap && at !== undefined ? OUTSIDE_VALUE : elementOfEntry(held);
    if (held.is === 'list')
      return at === undefined || at === ANY_KEY ? joinValues(held.items) : (held.items[at] ?? UNKNOWN_VALUE);
    if (held.is === 'either') return joinValues(held.values.map((each) => elementOf(each, at)));
    return held.is === 'outside' ? OUTSIDE_VALUE : UNKNOWN_VALUE;
  }

  /** Returns the element of an entry: in `for (const [key, value] of map)` it is a pair. */
  const elementOfEntry = (held: Extract<ResolvedValue, { is: 'many' }>): ResolvedValue =>
    held.isMap ? { is: 'list', items: [OUTSIDE_VALUE, held.of] } : held.of;

  /** Returns the expected type of the function that is argument `index` of a call. */
  function argumentOf(callee: ResolvedValue, index: number, param: number): ResolvedValue {
    if (callee.is === 'method') return parameterOfBuiltIn(callee, param);
    if (callee.is === 'function') {
      const type = callee.type[2 + index] as TypeExpr | undefined;
      return type === undefined ? UNKNOWN_VALUE : evaluateType(callee.file, type, callee.with);
    }
    if (callee.is === 'either')
      return joinValues(callee.values.map((each) => argumentOf(each, index, param)));
    if (callee.is !== 'symbol') return callee.is === 'outside' ? OUTSIDE_VALUE : UNKNOWN_VALUE;
    const { file, owner = null } = callee;
    const fact = symbolAt(file, callee.index);
    if (fact.kind === 'class') {
      const [made] = file.members.get(callee.index)?.get('constructor') ?? [];
      return made === undefined
        ? UNKNOWN_VALUE
        : argumentOf({ is: 'symbol', file, index: made }, index, param);
    }
    const type = fact.params?.[index];
    if (type !== undefined) return evaluateType(file, type, owner);
    return HOLDS.has(fact.kind) ? argumentOf(settle(callee), index, param) : UNKNOWN_VALUE;
  }

  /** Returns the type of a parameter of a function that is known by its type. */
  function parameterOf(value: ResolvedValue, index: number): ResolvedValue {
    switch (value.is) {
      case 'function': {
        const type = value.type[2 + index] as TypeExpr | undefined;
        return type === undefined ? UNKNOWN_VALUE : evaluateType(value.file, type, value.with);
      }
      case 'symbol': {
        const { params, kind } = symbolAt(value.file, value.index);
        const type = params?.[index];
        if (type !== undefined) return evaluateType(value.file, type, value.owner ?? null);
        return HOLDS.has(kind) ? parameterOf(settle(value), index) : UNKNOWN_VALUE;
      }
      case 'either':
        return joinValues(value.values.map((each) => parameterOf(each, index)));
      case 'method':
        // The argument of a built-in's callback was already found.
        return value.of;
      default:
        return value.is === 'outside' ? OUTSIDE_VALUE : UNKNOWN_VALUE;
    }
  }

  const { findMember, findExport } = createMemberFinder({
    project,
    rulesOf,
    evaluate,
    evaluateType,
    lookUpType,
    settle,
    guard,
    spendWork,
  });

  return {
    /** Resets the counters: for a file, or for one reference of it. */
    beginFile(): void {
      work.ofFile = 0;
    },
    beginReference(): void {
      work.ofReference = 0;
    },
    evaluate,
    readImport,
    lookUpType,
    findMember,
    findExport,
    settle,
  };
}
