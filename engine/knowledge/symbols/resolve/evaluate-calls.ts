import { ANY_KEY, type TypeExpr } from '../facts.ts';
import { takesArguments } from '../overloads.ts';
import { callBuiltIn, parameterOfBuiltIn } from './built-in.ts';
import { HOLDS, type ValueEvaluation } from './evaluation.ts';
import { symbolAt } from './project.ts';
import { joinValues, OUTSIDE_VALUE, type ResolvedValue, type SymbolValue, UNKNOWN_VALUE } from './values.ts';

/** Evaluates calls: their results and parameters, promises and the elements of collections. */
export function createCallEvaluator(
  parts: ValueEvaluation,
): Pick<ValueEvaluation, 'callValue' | 'awaitValue' | 'elementOf' | 'argumentOf' | 'parameterOf'> {
  /** Returns the overloads of a function that take that number of arguments. */
  function listFitting({ file, index }: SymbolValue, given: number): readonly number[] {
    const { parent, name } = symbolAt(file, index);
    const all = file.members.get(parent)?.get(name) ?? [];
    if (all.length < 2) return [index];
    const fitting = all.filter((each) => takesArguments(symbolAt(file, each), given));
    return fitting.length > 0 ? fitting : [index];
  }

  function callValue(value: ResolvedValue, given?: number): ResolvedValue {
    if (given !== undefined && value.is === 'symbol') {
      const all = listFitting(value, given);
      if (all.length > 1 || all[0] !== value.index)
        return joinValues(all.map((index) => callValue({ ...value, index })));
    }
    switch (value.is) {
      case 'symbol': {
        const { file, index, owner = null } = value;
        const { kind, returnType, returns = [], isAsync } = symbolAt(file, index);
        if (kind === 'class') return { is: 'instance', file, index, types: [] };
        if (kind !== 'function' && kind !== 'method') {
          return HOLDS.has(kind) ? callValue(parts.settle(value), given) : UNKNOWN_VALUE;
        }
        if (returnType !== undefined) return parts.evaluateType(file, returnType, owner);
        if (returns.length === 0) return OUTSIDE_VALUE;
        return parts.guard(`f${file.id}:${index}`, () => {
          const result = joinValues(returns.map((each) => parts.evaluate(file, each, owner)));
          return isAsync ? { is: 'promise', of: awaitValue(result) } : result;
        });
      }
      case 'function':
        return parts.evaluateType(value.file, value.type[1], value.with);
      case 'instance':
        return callValue(underlying(value), given);
      case 'method':
        return callBuiltIn(value);
      case 'either':
        return joinValues(value.values.map((each) => callValue(each, given)));
      case 'outside':
        return OUTSIDE_VALUE;
      default:
        return UNKNOWN_VALUE;
    }
  }

  /** Returns what a named type of Go is made of; unknown for any other. */
  function underlying({ file, index }: Extract<ResolvedValue, { is: 'instance' }>): ResolvedValue {
    const { kind, bases: [base] = [] } = symbolAt(file, index);
    return kind === 'type' && base !== undefined ? parts.evaluateType(file, base) : UNKNOWN_VALUE;
  }

  function awaitValue(value: ResolvedValue): ResolvedValue {
    if (value.is === 'promise') return awaitValue(value.of);
    return value.is === 'either' ? joinValues(value.values.map(awaitValue)) : value;
  }

  function elementOf(value: ResolvedValue, at?: number): ResolvedValue {
    const settled = value.is === 'symbol' ? parts.settle(value) : value;
    const held = settled.is === 'instance' ? underlying(settled) : settled;
    if (held.is === 'many' && at === ANY_KEY) return held.of;
    if (held.is === 'many') return held.isMap && at !== undefined ? OUTSIDE_VALUE : elementOfEntry(held);
    if (held.is === 'list')
      return at === undefined || at === ANY_KEY ? joinValues(held.items) : (held.items[at] ?? UNKNOWN_VALUE);
    if (held.is === 'either') return joinValues(held.values.map((each) => elementOf(each, at)));
    return held.is === 'outside' ? OUTSIDE_VALUE : UNKNOWN_VALUE;
  }

  function argumentOf(callee: ResolvedValue, index: number, param: number): ResolvedValue {
    if (callee.is === 'method') return parameterOfBuiltIn(callee, param);
    if (callee.is === 'function') {
      const type = callee.type[2 + index] as TypeExpr | undefined;
      return type === undefined ? UNKNOWN_VALUE : parts.evaluateType(callee.file, type, callee.with);
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
    if (type !== undefined) return parts.evaluateType(file, type, owner);
    return HOLDS.has(fact.kind) ? argumentOf(parts.settle(callee), index, param) : UNKNOWN_VALUE;
  }

  function parameterOf(value: ResolvedValue, index: number): ResolvedValue {
    switch (value.is) {
      case 'function': {
        const type = value.type[2 + index] as TypeExpr | undefined;
        return type === undefined ? UNKNOWN_VALUE : parts.evaluateType(value.file, type, value.with);
      }
      case 'symbol': {
        const { params, kind } = symbolAt(value.file, value.index);
        const type = params?.[index];
        if (type !== undefined) return parts.evaluateType(value.file, type, value.owner ?? null);
        return HOLDS.has(kind) ? parameterOf(parts.settle(value), index) : UNKNOWN_VALUE;
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

  return { callValue, awaitValue, elementOf, argumentOf, parameterOf };
}

/** Returns the element of an entry: in `for (const [key, value] of map)` it is a pair. */
const elementOfEntry = (held: Extract<ResolvedValue, { is: 'many' }>): ResolvedValue =>
  held.isMap ? { is: 'list', items: [OUTSIDE_VALUE, held.of] } : held.of;
