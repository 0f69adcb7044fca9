import { HOLDS, type ValueEvaluation } from './evaluation.ts';
import { symbolAt } from './project.ts';
import { joinValues, OUTSIDE_VALUE, type ResolvedValue, type SymbolValue, UNKNOWN_VALUE } from './values.ts';

/** Maximum length of a chain of variable aliases. */
const MOST_ALIASES = 8;

/** Evaluates symbols: the values of variables, and the objects of classes. */
export function createSymbolEvaluator(
  parts: ValueEvaluation,
): Pick<ValueEvaluation, 'instanceOf' | 'settle' | 'valueOfSymbol'> {
  const { guard } = parts;

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
      if (type !== undefined && type[0] !== '?') return parts.evaluateType(file, type, owner);
      return init === undefined ? UNKNOWN_VALUE : parts.evaluate(file, init, owner);
    });
  }

  return { instanceOf, settle, valueOfSymbol };
}
