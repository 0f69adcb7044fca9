import type { ExpressionFact, ReferenceFact, TypeExpr } from '../facts.ts';
import type { ValueEvaluator } from './evaluation.ts';
import type { FileView } from './project.ts';

const MOST_STEPS = 24;

/** Creates the search for the origin of values that evaluation does not know. */
export function createOriginFinder({
  evaluate,
  lookUpType,
}: Pick<ValueEvaluator, 'evaluate' | 'lookUpType'>) {
  const isOutsideType = (file: FileView, type: TypeExpr): boolean =>
    type[0] === 'x' || (type[0] === 'r' && lookUpType(file, type[1]).is === 'outside');

  /** Reports whether the chain that leads to a value starts outside of the project: with an import, a global, a literal. */
  function startsOutside(file: FileView, expr: ExpressionFact, steps = 0): boolean {
    if (steps > MOST_STEPS) return false;
    const follow = (next: ExpressionFact | undefined): boolean =>
      next !== undefined && startsOutside(file, next, steps + 1);
    switch (expr[0]) {
      case 'm':
      case 'c':
      case 'e':
      case 'w':
      case 'b':
      case 'n':
        return follow(expr[1]);
      case 'l':
        return follow(file.facts.locals[expr[1]]);
      case 's': {
        const { type, init } = file.facts.symbols[expr[1]]!;
        return type === undefined ? follow(init) : isOutsideType(file, type);
      }
      case 't':
        return isOutsideType(file, expr[1]);
      case '|':
        return expr.slice(1).every((each) => follow(each as ExpressionFact));
      case 'i':
      case 'g':
        return evaluate(file, expr).is === 'outside';
      default:
        return expr[0] === 'x';
    }
  }

  /** Reports whether a function from outside passes a value on, which may be anything. */
  const isPassed = (file: FileView, expr: ExpressionFact, steps = 0): boolean => {
    if (steps > MOST_STEPS) return false;
    if (expr[0] === 'b') return true;
    if (expr[0] === 'l') return isPassed(file, file.facts.locals[expr[1]] ?? ['?'], steps + 1);
    return ['m', 'c', 'e', 'w'].includes(expr[0]) && isPassed(file, expr[1] as ExpressionFact, steps + 1);
  };

  /** Returns the name in an unresolved reference that may mean any symbol of that name; null if it means none of the project. */
  function findMention(file: FileView, [kind, expr]: ReferenceFact): string | null {
    if (kind === 'type' || kind === 'inherit') return null;
    const named = expr[0] === 'l' ? (file.facts.locals[expr[1]] ?? expr) : expr;
    if (named[0] !== 'm') return null;
    const { is } = evaluate(file, named[1]);
    return is === 'unknown' || (is === 'outside' && isPassed(file, named[1])) ? named[2] : null;
  }

  return { startsOutside, findMention };
}
