import { type ExpressionFact, type TypeExpr, UNKNOWN, UNKNOWN_TYPE } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { createScope } from '../scope.ts';
import { type FunctionParts, rebindThis, type SyntaxWalk, type WalkState } from './walk.ts';

/** Maximum returns of a function that are checked. */
const MOST_RETURNS = 4;

/** Reads functions: their parameters, results and bodies. */
export function createFunctionReader(
  walk: SyntaxWalk,
): Pick<SyntaxWalk, 'readFunction' | 'readNamedFunction'> {
  const { nodes, collector } = walk;

  /** Reads a parameter: its type, and its names bound in the function's scope. */
  function readParameter(param: NodeId, place: WalkState, given: ExpressionFact): TypeExpr {
    const kind = nodes.kindOf(param);
    if (kind !== 'required_parameter' && kind !== 'optional_parameter') {
      // A parameter of JavaScript is a pattern.
      walk.bindPattern(param, given, place);
      return UNKNOWN_TYPE;
    }
    for (const decorator of nodes.childrenIn(param, 'decorator')) walk.readValue(decorator, place);
    const annotation = nodes.childIn(param, 'type');
    const usual = nodes.childIn(param, 'value');
    const type = annotation < 0 ? UNKNOWN_TYPE : walk.readType(annotation, place);
    const begin = usual < 0 ? UNKNOWN : walk.readValue(usual, place, annotation < 0 ? undefined : type);
    const value: ExpressionFact = annotation >= 0 ? ['t', type] : usual >= 0 ? begin : given;
    const pattern = nodes.childIn(param, 'pattern');
    if (nodes.kindOf(pattern) !== 'this') walk.bindPattern(pattern, value, place);
    return type;
  }

  function readFunction(
    node: NodeId,
    place: WalkState,
    argument: (index: number) => ExpressionFact = () => UNKNOWN,
  ): FunctionParts {
    const returns: ExpressionFact[] = [];
    const inner: WalkState = { ...place, returns };
    if (place.symbol < 0 || collector.symbols[place.symbol]?.generics === undefined)
      walk.readGenerics(node, -1, inner);
    const single = nodes.childIn(node, 'parameter');
    const list = single >= 0 ? [single] : nodes.childrenOf(nodes.childIn(node, 'parameters'));
    const isThis = (param: NodeId): boolean => nodes.kindOf(nodes.childIn(param, 'pattern')) === 'this';
    for (const param of list.filter(isThis)) {
      const type = readParameter(param, inner, UNKNOWN);
      if (type[0] !== '?' && type[0] !== 'x') inner.thisValue = ['t', type];
    }
    const params = list
      .filter((param) => nodes.kindOf(param) !== 'comment' && !isThis(param))
      .map((param, index) => readParameter(param, inner, argument(index)));
    const annotation = nodes.childIn(node, 'return_type');
    const returnType = annotation < 0 ? undefined : walk.readType(annotation, inner);
    const body = nodes.childIn(node, 'body');
    if (nodes.kindOf(body) === 'statement_block') walk.readBlock(nodes.childrenOf(body), inner);
    else if (body >= 0) returns.push(walk.readValue(body, inner, returnType));
    const isAsync = /\basync\b/.test(nodes.text.slice(nodes.startOf(node), nodes.startOf(list[0] ?? body)));
    return {
      ...(returnType === undefined ? {} : { returnType }),
      returns: returnType === undefined ? returns.slice(0, MOST_RETURNS) : [],
      params,
      isAsync,
    };
  }

  function readNamedFunction(
    node: NodeId,
    symbol: number,
    place: WalkState,
    type = UNKNOWN_TYPE,
    own: Partial<WalkState> = {},
  ): void {
    const fact = collector.symbols[symbol]!;
    const inner: WalkState = {
      ...place,
      symbol,
      scope: createScope(place.scope),
      ...rebindThis(nodes.kindOf(node), place),
      ...own,
    };
    const generics = walk.readGenerics(node, symbol, inner);
    const known = type[0] === '?' ? undefined : (index: number): ExpressionFact => ['B', type, index];
    const { isAsync, returnType, returns, params } = readFunction(node, inner, known);
    // The result type is that of the first overload; the body is that of the last.
    if (fact.params !== undefined) {
      fact.end = Math.max(fact.end, nodes.endOf(node));
      fact.endLine = nodes.lineAt(fact.end);
      return;
    }
    if (generics.length > 0) fact.generics = generics;
    Object.assign(
      fact,
      { returns, params },
      returnType !== undefined && { returnType },
      isAsync && { isAsync },
    );
  }

  return { readFunction, readNamedFunction };
}
