import type { Expr, SymbolFact, TypeExpr } from '../facts.ts';
import { callBuiltIn, findBuiltInType, parameterOfBuiltIn } from './built-in.ts';
import { type FileView, findRoot, type Project } from './project.ts';
import { joinValues, OUTSIDE_VALUE, type Substitution, UNKNOWN_VALUE, type Value } from './values.ts';

/** Whether a name is looked for among values or among types. */
export type Space = 'value' | 'type';

/** A member that was found, and how it was come by. */
export interface FoundMember {
  value: Value;
  /** Whether the class itself has it rather than one that it extends. */
  isOwn: boolean;
}

/** Names that a language finds without an import, and what its imports lead to. */
export interface NameRules {
  importValue(file: FileView, index: number, space: Space): Value;
  freeName(file: FileView, name: string, space: Space): Value;
  /** A member of a namespace whose text is in another file. */
  findInNamespace?(file: FileView, index: number, name: string, space: Space): Value | null;
}

export type Evaluator = ReturnType<typeof createEvaluator>;

/** Further than this nothing is followed: code that refers to itself would have no end. */
const MOST_STEPS = 60;

type SymbolValue = Extract<Value, { is: 'symbol' }>;

/** Symbols that stand for what they hold. */
const HOLDS: ReadonlySet<string> = new Set(['variable', 'field']);
/** Variables that are said to be what another one is, one after another. */
const MOST_ALIASES = 8;

/** Languages in which a class has other members than its objects. */
const HAS_STATIC: ReadonlySet<string> = new Set(['typescript', 'tsx', 'javascript', 'java', 'csharp']);
const DECLARES_OUTSIDE: ReadonlySet<string> = new Set(['go', 'rust']);

/** Finds out what expressions and types are, across files. */
export function createEvaluator(project: Project, rulesOf: (file: FileView) => NameRules) {
  let steps = 0;
  const running = new Set<string>();

  /** Follows one step further; what leads back to where it began is unknown. */
  function guard(key: string, work: () => Value): Value {
    if (steps >= MOST_STEPS || running.has(key)) return UNKNOWN_VALUE;
    steps += 1;
    running.add(key);
    try {
      return work();
    } finally {
      steps -= 1;
      running.delete(key);
    }
  }

  const symbolAt = (file: FileView, index: number): SymbolFact => file.facts.symbols[index]!;

  function symbolValue(file: FileView, index: number, owner: Substitution | null = null): Value {
    project.use(file, findRoot(file, index).name);
    return { is: 'symbol', file, index, owner };
  }

  /** What an import brings; files may import each other in a circle. */
  const readImport = (file: FileView, index: number, space: Space): Value =>
    guard(`i${file.id}:${index}:${space}`, () => rulesOf(file).importValue(file, index, space));

  function evaluate(file: FileView, expr: Expr, owner: Substitution | null = null): Value {
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
        return findMember(evaluate(file, expr[1], owner), expr[2])?.value ?? missingMember(file, expr, owner);
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
        return { is: 'list', items: expr.slice(1).map((each) => evaluate(file, each as Expr, owner)) };
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
        return joinValues(expr.slice(1).map((each) => evaluate(file, each as Expr, owner)));
      case 'x':
        return OUTSIDE_VALUE;
      default:
        return UNKNOWN_VALUE;
    }
  }

  /** What is no member of a value that is known is nothing of the project's; of an unknown one it is unknown. */
  function missingMember(
    file: FileView,
    [, object]: Extract<Expr, readonly ['m', ...unknown[]]>,
    owner: Substitution | null,
  ): Value {
    return evaluate(file, object, owner).is === 'outside' ? OUTSIDE_VALUE : UNKNOWN_VALUE;
  }

  function baseOf(file: FileView, index: number): Value {
    const [base] = symbolAt(file, index).bases ?? [];
    return base === undefined ? OUTSIDE_VALUE : evaluateType(file, base);
  }

  function evaluateType(file: FileView, type: TypeExpr, owner: Substitution | null = null): Value {
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
    named: Expr,
    types: readonly TypeExpr[],
    owner: Substitution | null,
  ): Value {
    const values = types.map((each) => evaluateType(file, each, owner));
    if (named[0] === 'g') {
      const builtIn = findBuiltInType(named[1], values);
      if (builtIn !== null) return builtIn === 'called' ? callValue(values[0] ?? UNKNOWN_VALUE) : builtIn;
    }
    return typeOfSymbol(lookUpType(file, named), values);
  }

  /** What a name means among types. */
  function lookUpType(file: FileView, named: Expr): Value {
    if (named[0] === 'i') return readImport(file, named[1], 'type');
    if (named[0] === 'g') return rulesOf(file).freeName(file, named[1], 'type');
    if (named[0] === 'm')
      return findMember(lookUpType(file, named[1]), named[2], 'type')?.value ?? UNKNOWN_VALUE;
    return evaluate(file, named);
  }

  function typeOfSymbol(value: Value, types: readonly Value[]): Value {
    if (value.is !== 'symbol') return value.is === 'module' ? UNKNOWN_VALUE : value;
    const { file, index } = value;
    const fact = symbolAt(file, index);
    if (fact.kind === 'type' && fact.type !== undefined)
      return evaluateType(file, fact.type, { file, symbol: index, values: types });
    if (fact.kind === 'enum') return OUTSIDE_VALUE;
    // A value where a type is expected: an import of something that exists as a value only.
    if (fact.kind === 'variable' || fact.kind === 'function') return UNKNOWN_VALUE;
    return { is: 'instance', file, index, types };
  }

  function instanceOf(value: Value, types: readonly Value[]): Value {
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

  /** What a variable holds in the end, when it is declared by others; unknown for those that refer to each other. */
  function settle(value: SymbolValue): Value {
    let at: Value = value;
    for (let steps = 0; steps < MOST_ALIASES; steps += 1) {
      if (at.is !== 'symbol' || !HOLDS.has(symbolAt(at.file, at.index).kind)) return at;
      at = valueOfSymbol(at);
    }
    return UNKNOWN_VALUE;
  }

  /** What a variable or field holds; a function, class or namespace is itself. */
  function valueOfSymbol(value: SymbolValue): Value {
    const { file, index, owner = null } = value;
    const { kind, type, init } = symbolAt(file, index);
    if (kind !== 'variable' && kind !== 'field') return value;
    return guard(`v${file.id}:${index}`, () => {
      if (type !== undefined && type[0] !== '?') return evaluateType(file, type, owner);
      return init === undefined ? UNKNOWN_VALUE : evaluate(file, init, owner);
    });
  }

  function callValue(value: Value): Value {
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

  function awaitValue(value: Value): Value {
    if (value.is === 'promise') return awaitValue(value.of);
    return value.is === 'either' ? joinValues(value.values.map(awaitValue)) : value;
  }

  function elementOf(value: Value, at?: number): Value {
    const held = value.is === 'symbol' ? settle(value) : value;
    if (held.is === 'many') return held.isMap && at !== undefined ? OUTSIDE_VALUE : elementOfEntry(held);
    if (held.is === 'list')
      return at === undefined ? joinValues(held.items) : (held.items[at] ?? UNKNOWN_VALUE);
    if (held.is === 'either') return joinValues(held.values.map((each) => elementOf(each, at)));
    return held.is === 'outside' ? OUTSIDE_VALUE : UNKNOWN_VALUE;
  }

  /** `for (const [key, value] of map)`: what is taken apart again is a pair. */
  const elementOfEntry = (held: Extract<Value, { is: 'many' }>): Value =>
    held.isMap ? { is: 'list', items: [OUTSIDE_VALUE, held.of] } : held.of;

  /** What the function that is argument `index` of a call is expected to be. */
  function argumentOf(callee: Value, index: number, param: number): Value {
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

  /** The type of a parameter of a function that is known by its type. */
  function parameterOf(value: Value, index: number): Value {
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
        // What a built-in passes to its callback was found already.
        return value.of;
      default:
        return value.is === 'outside' ? OUTSIDE_VALUE : UNKNOWN_VALUE;
    }
  }

  /** Finds what a value has under a name; null when nothing of the project's is known to be there. */
  function findMember(value: Value, name: string, space: Space = 'value'): FoundMember | null {
    switch (value.is) {
      case 'symbol':
        return findStatic(value, name);
      case 'instance':
        return findInherited(value, name);
      case 'module': {
        const found = findExport(value.file, name, space);
        return found === null ? null : { value: found, isOwn: true };
      }
      case 'space': {
        const found = value.find(name, space);
        return found === null ? null : { value: found, isOwn: true };
      }
      case 'object':
        return findInObject(value.file, value.index, name);
      case 'many':
      case 'list':
      case 'promise':
        return { value: { is: 'method', of: value, name }, isOwn: false };
      case 'either': {
        const found = value.values.flatMap((each) => findMember(each, name, space) ?? []);
        if (found.length === 0) return null;
        return { value: joinValues(found.map((each) => each.value)), isOwn: false };
      }
      default:
        return null;
    }
  }

  function findStatic(value: Extract<Value, { is: 'symbol' }>, name: string): FoundMember | null {
    const { file, index } = value;
    const fact = symbolAt(file, index);
    project.use(file, findRoot(file, index).name);
    if (HOLDS.has(fact.kind)) {
      const held = settle(value);
      return guardMember(`V${file.id}:${index}:${name}`, () => findMember(held, name));
    }
    const all = fact.kind === 'namespace' || fact.kind === 'enum' || !HAS_STATIC.has(file.language);
    const found = (file.members.get(index)?.get(name) ?? []).find(
      (each) => all || symbolAt(file, each).isStatic,
    );
    if (found !== undefined) return { value: { is: 'symbol', file, index: found }, isOwn: true };
    if (fact.kind === 'namespace') {
      const elsewhere = rulesOf(file).findInNamespace?.(file, index, name, 'value') ?? null;
      return elsewhere === null ? findMerged(file, index, name) : { value: elsewhere, isOwn: true };
    }
    const owned = findOwned(file, fact.name, name, null);
    if (owned !== null) return owned;
    if (fact.kind !== 'class') return null;
    return guardMember(`S${file.id}:${index}:${name}`, () => {
      for (const base of fact.bases ?? []) {
        const meant = base[0] === 'r' ? lookUpType(file, base[1]) : UNKNOWN_VALUE;
        const inherited = meant.is === 'symbol' ? findStatic(meant, name) : null;
        if (inherited !== null) return { ...inherited, isOwn: false };
      }
      return null;
    });
  }

  /** A method that stands outside of its type, in the same file or package. */
  function findOwned(
    file: FileView,
    type: string,
    name: string,
    owner: Substitution | null,
  ): FoundMember | null {
    if (!DECLARES_OUTSIDE.has(file.language)) return null;
    const look = (at: FileView): FoundMember | null => {
      project.use(at, name);
      const [index] = at.owned.get(type)?.get(name) ?? [];
      return index === undefined ? null : { value: { is: 'symbol', file: at, index, owner }, isOwn: true };
    };
    const own = look(file);
    if (own !== null) return own;
    for (const each of project.filesOfPackage(file, file.facts.packageName ?? '')) {
      const found = each === file ? null : look(each);
      if (found !== null) return found;
    }
    return null;
  }

  /** A namespace may be written in several parts. */
  function findMerged(file: FileView, index: number, name: string): FoundMember | null {
    const { name: own, parent } = symbolAt(file, index);
    for (const other of file.members.get(parent)?.get(own) ?? []) {
      const [found] = other === index ? [] : (file.members.get(other)?.get(name) ?? []);
      if (found !== undefined) return { value: { is: 'symbol', file, index: found }, isOwn: true };
    }
    return null;
  }

  function guardMember(key: string, work: () => FoundMember | null): FoundMember | null {
    let found: FoundMember | null = null;
    guard(key, () => {
      found = work();
      return UNKNOWN_VALUE;
    });
    return found;
  }

  function findInherited(value: Extract<Value, { is: 'instance' }>, name: string): FoundMember | null {
    const { file, index, types } = value;
    project.use(file, findRoot(file, index).name);
    const fact = symbolAt(file, index);
    const owner: Substitution = { file, symbol: index, values: types };
    // Where a bare name stands for a member, that may be one of the class itself.
    const isBare = file.language === 'java' || file.language === 'csharp';
    const own = (file.members.get(index)?.get(name) ?? []).find(
      (each) => isBare || !symbolAt(file, each).isStatic,
    );
    if (own !== undefined) {
      // What a literal type belongs to says what its parameters are.
      return { value: { is: 'symbol', file, index: own, owner }, isOwn: true };
    }
    const owned = findOwned(file, fact.name, name, owner);
    if (owned !== null) return owned;
    return guardMember(`I${file.id}:${index}:${name}`, () => {
      for (const base of fact.bases ?? []) {
        const inherited = findMember(evaluateType(file, base, owner), name);
        if (inherited !== null) return { ...inherited, isOwn: false };
      }
      return null;
    });
  }

  function findInObject(file: FileView, index: number, name: string): FoundMember | null {
    const { members, spreads } = file.facts.objects[index]!;
    const member = Object.hasOwn(members, name) ? members[name] : undefined;
    if (member !== undefined) return { value: evaluate(file, member), isOwn: true };
    for (const spread of spreads) {
      const found = findMember(evaluate(file, spread), name);
      if (found !== null) return found;
    }
    return null;
  }

  const TYPES = new Set(['class', 'interface', 'type', 'enum', 'namespace']);
  const VALUES = new Set(['function', 'class', 'variable', 'enum', 'namespace', 'method', 'field']);

  /** What a file exports under a name, through files that pass it on. */
  function findExport(file: FileView, name: string, space: Space): Value | null {
    project.use(file, name);
    let found: Value | null = null;
    for (const index of file.exports.get(name) ?? []) {
      const { value } = file.facts.exports[index]!;
      const meant = space === 'type' ? lookUpType(file, value) : evaluate(file, value);
      const kind = meant.is === 'symbol' ? symbolAt(meant.file, meant.index).kind : null;
      if (kind === null || (space === 'type' ? TYPES : VALUES).has(kind)) return meant;
      found ??= meant;
    }
    if (found !== null || name === 'default') return found;
    return findPassedOn(file, name, space);
  }

  function findPassedOn(file: FileView, name: string, space: Space): Value | null {
    // Also where it passes nothing on yet.
    project.use(file, '*');
    const all = file.exports.get('*') ?? [];
    let found: Value | null = null;
    for (const index of all) {
      const { value } = file.facts.exports[index]!;
      guard(`*${file.id}:${index}:${name}:${space}`, () => {
        const meant = evaluate(file, value);
        if (meant.is === 'module') found = findExport(meant.file, name, space);
        return UNKNOWN_VALUE;
      });
      if (found !== null) return found;
    }
    return null;
  }

  return { evaluate, readImport, lookUpType, findMember, findExport };
}
