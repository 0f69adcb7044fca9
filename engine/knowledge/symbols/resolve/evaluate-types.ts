import type { ExpressionFact, TypeExpr } from '../facts.ts';
import { findBuiltInType } from './built-in.ts';
import { HOLDS, type ValueEvaluation } from './evaluation.ts';
import { type FileView, symbolAt } from './project.ts';
import {
  joinValues,
  OUTSIDE_VALUE,
  type ResolvedValue,
  type SymbolValue,
  type TypeSubstitution,
  UNKNOWN_VALUE,
} from './values.ts';

/** Maximum length of a chain of variable aliases. */
const MOST_ALIASES = 8;

/** Languages whose enums have no methods. */
const IS_ECMA: ReadonlySet<string> = new Set(['typescript', 'tsx', 'javascript']);

/** Evaluates types, and what symbols stand for. */
export function createTypeEvaluator(
  parts: ValueEvaluation,
): Pick<ValueEvaluation, 'evaluateType' | 'lookUpType' | 'instanceOf' | 'settle'> {
  const { guard, spendWork, rulesOf } = parts;

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
        return parts.evaluate(file, type[1], owner);
      case 'k': {
        const object = evaluateType(file, type[1], owner);
        return type[2] === '[]'
          ? parts.elementOf(object)
          : (parts.findMember(object, type[2])?.value ?? UNKNOWN_VALUE);
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
    if (builtIn !== null) return builtIn === 'called' ? parts.callValue(values[0] ?? UNKNOWN_VALUE) : builtIn;
    return typeOfSymbol(meant ?? lookUpType(file, named), values);
  }

  function lookUpType(file: FileView, named: ExpressionFact): ResolvedValue {
    if (named[0] === 'i') return parts.readImport(file, named[1], 'type');
    if (named[0] === 'g') return rulesOf(file).freeName(file, named[1], 'type');
    if (named[0] === 'm')
      return parts.findMember(lookUpType(file, named[1]), named[2], 'type')?.value ?? UNKNOWN_VALUE;
    return parts.evaluate(file, named);
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
      return init === undefined ? UNKNOWN_VALUE : parts.evaluate(file, init, owner);
    });
  }

  return { evaluateType, lookUpType, instanceOf, settle };
}
