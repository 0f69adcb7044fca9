import { type ExpressionFact, isBareName } from '../facts.ts';
import { createCallEvaluator } from './evaluate-calls.ts';
import { createSymbolEvaluator } from './evaluate-symbols.ts';
import { createTypeEvaluator } from './evaluate-types.ts';
import type { ValueEvaluation, ValueEvaluator } from './evaluation.ts';
import { createExportFinder } from './exports.ts';
import { createExtensionFinder } from './extensions.ts';
import type { NameRules, NameSpace } from './language-rules.ts';
import { createMemberFinder } from './members.ts';
import { type FileView, findRoot, type GraphProject, symbolAt } from './project.ts';
import {
  joinValues,
  OUTSIDE_VALUE,
  type ResolvedValue,
  type TypeSubstitution,
  UNKNOWN_VALUE,
} from './values.ts';
import { createWorkLimit } from './work-limit.ts';

/** Creates the evaluation of expressions and types across files. */
export function createEvaluator(
  project: GraphProject,
  rulesOf: (file: FileView) => NameRules,
): ValueEvaluator {
  const parts = { project, rulesOf, ...createWorkLimit() } as ValueEvaluation;
  return Object.assign(
    parts,
    createExpressionEvaluator(parts),
    createSymbolEvaluator(parts),
    createTypeEvaluator(parts),
    createCallEvaluator(parts),
    createMemberFinder(parts),
    createExtensionFinder(parts),
    createExportFinder(parts),
  );
}

/** Evaluates expressions. */
function createExpressionEvaluator(
  parts: ValueEvaluation,
): Pick<ValueEvaluation, 'evaluate' | 'readImport' | 'readFree'> {
  const { project, guard, numberOf, remember, spendWork, rulesOf } = parts;

  function symbolValue(file: FileView, index: number, owner: TypeSubstitution | null = null): ResolvedValue {
    project.use(file, findRoot(file, index).name);
    return { is: 'symbol', file, index, owner };
  }

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
        return parts.readFree(file, expr[1], 'value');
      case 'l':
        return guard(`l${file.id}:${expr[1]}`, () =>
          evaluate(file, file.facts.locals[expr[1]] ?? ['?'], owner),
        );
      case 'o':
        return { is: 'object', file, index: expr[1] };
      case 'm':
        return memberOf(evaluate(file, expr[1], owner), expr[2]);
      case 'c':
        return guard(`c${numberOf(expr)}`, () =>
          parts.callValue(evaluateCalled(file, expr[1], owner), expr[2]),
        );
      case 'n': {
        const [, made, ...types] = expr;
        return parts.instanceOf(
          evaluate(file, made, owner),
          types.map((type) => parts.evaluateType(file, type, owner)),
        );
      }
      case 't':
        return parts.evaluateType(file, expr[1], owner);
      case 'w':
        return parts.awaitValue(evaluate(file, expr[1], owner));
      case 'e':
        return parts.elementOf(evaluate(file, expr[1], owner), expr[2]);
      case 'y':
        return {
          is: 'list',
          items: expr.slice(1).map((each) => evaluate(file, each as ExpressionFact, owner)),
        };
      case 'b': {
        const callee = evaluate(file, expr[1], owner);
        return guard(`b${numberOf(expr)}`, () =>
          parts.parameterOf(parts.argumentOf(callee, expr[2], expr[3]), expr[3]),
        );
      }
      case 'B':
        return parts.parameterOf(parts.evaluateType(file, expr[1], owner), expr[2]);
      case 'self':
        return { is: 'instance', file, index: expr[1], types: [] };
      case 'super':
        return baseOf(file, expr[1]);
      case '|':
        if (isBareName(expr)) return bareName(file, expr, owner);
        return joinValues(expr.slice(1).map((each) => evaluate(file, each as ExpressionFact, owner)));
      case 'x':
        return expr[1] === undefined ? OUTSIDE_VALUE : { is: 'outside', name: expr[1] };
      default:
        return UNKNOWN_VALUE;
    }
  }

  /** Returns a member: a missing member of a known value is external; of an unknown value it is unknown. */
  const memberOf = (object: ResolvedValue, name: string): ResolvedValue =>
    parts.findMember(object, name)?.value ?? (object.is === 'outside' ? OUTSIDE_VALUE : UNKNOWN_VALUE);

  /** Returns a name that is a member of an enclosing class, otherwise one of the package. */
  function bareName(file: FileView, expr: ExpressionFact, owner: TypeSubstitution | null): ResolvedValue {
    const ways = expr.slice(1) as ExpressionFact[];
    for (const way of ways.slice(0, -1)) {
      const found = way[0] === 'm' ? parts.findMember(evaluate(file, way[1], owner), way[2]) : null;
      if (found !== null) return found.value;
    }
    return evaluate(file, ways.at(-1)!, owner);
  }

  function evaluateCalled(
    file: FileView,
    expr: ExpressionFact,
    owner: TypeSubstitution | null,
  ): ResolvedValue {
    if (expr[0] !== 'm') return evaluate(file, expr, owner);
    const object = evaluate(file, expr[1], owner);
    const found = parts.findCalled(file, object, expr[2]);
    return found?.value ?? (object.is === 'outside' ? OUTSIDE_VALUE : UNKNOWN_VALUE);
  }

  function baseOf(file: FileView, index: number): ResolvedValue {
    const [base] = symbolAt(file, index).bases ?? [];
    return base === undefined ? OUTSIDE_VALUE : parts.evaluateType(file, base);
  }

  const readImport = (file: FileView, index: number, space: NameSpace): ResolvedValue => {
    const key = `i${file.id}:${index}:${space}`;
    return remember(key, UNKNOWN_VALUE, () =>
      guard(key, () => rulesOf(file).importValue(file, index, space)),
    );
  };

  const readFree = (file: FileView, name: string, space: NameSpace): ResolvedValue =>
    remember(`g${file.id}:${name}:${space}`, UNKNOWN_VALUE, () => rulesOf(file).freeName(file, name, space));

  return { evaluate, readImport, readFree };
}
