import type { ExpressionFact, TypeExpr } from '../facts.ts';
import { HAS_OVERLOADS } from '../overloads.ts';
import { findBuiltInType } from './built-in.ts';
import type { ValueEvaluation } from './evaluation.ts';
import { type FileView, IS_ECMA, symbolAt } from './project.ts';
import {
  joinValues,
  OUTSIDE_VALUE,
  type ResolvedValue,
  type TypeSubstitution,
  UNKNOWN_VALUE,
} from './values.ts';

/** Evaluates types. */
export function createTypeEvaluator(
  parts: ValueEvaluation,
): Pick<ValueEvaluation, 'evaluateType' | 'lookUpType'> {
  const { guard, spendWork } = parts;

  function evaluateType(
    file: FileView,
    type: TypeExpr,
    owner: TypeSubstitution | null = null,
  ): ResolvedValue {
    spendWork();
    switch (type[0]) {
      case 'r': {
        const [, named, ...types] = type;
        return guard(`r${parts.numberOf(type)}`, () => namedType(file, named, types, owner));
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
        return type[1] === undefined ? OUTSIDE_VALUE : { is: 'outside', name: type[1] };
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
    const name =
      named[0] === 'g'
        ? named[1]
        : named[0] === 'i'
          ? file.facts.imports[named[1]]!.name
          : named[0] === 'm'
            ? named[2]
            : '';
    const builtIn = isOutside && named[0] !== 'm' ? findBuiltInType(file.language, name, values) : null;
    const hasNames = HAS_OVERLOADS.has(file.language);
    if (builtIn === 'called') return parts.callValue(values[0] ?? UNKNOWN_VALUE);
    if (builtIn !== null) return hasNames && builtIn.is === 'many' ? { ...builtIn, name } : builtIn;
    const found = typeOfSymbol(meant ?? lookUpType(file, named), values);
    return hasNames && found.is === 'outside' && name !== '' ? { is: 'outside', name } : found;
  }

  function lookUpType(file: FileView, named: ExpressionFact): ResolvedValue {
    if (named[0] === 'i') return parts.readImport(file, named[1], 'type');
    if (named[0] === 'g') return parts.readFree(file, named[1], 'type');
    if (named[0] === 'm') {
      const outer = lookUpType(file, named[1]);
      if (outer.is === 'outside') return OUTSIDE_VALUE;
      return parts.findMember(outer, named[2], 'type')?.value ?? UNKNOWN_VALUE;
    }
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
    // A class that is imported as a value, `const A = require('./a')`, or only a value.
    if (fact.kind === 'variable') {
      const held = parts.settle(value);
      const isClass = held.is === 'symbol' && symbolAt(held.file, held.index).kind === 'class';
      return isClass ? { is: 'instance', file: held.file, index: held.index, types } : UNKNOWN_VALUE;
    }
    if (fact.kind === 'function') return UNKNOWN_VALUE;
    return { is: 'instance', file, index, types };
  }

  return { evaluateType, lookUpType };
}
