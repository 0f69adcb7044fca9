import { type ExpressionFact, UNKNOWN } from '../../facts.ts';
import { HAS_OVERLOADS } from '../../overloads.ts';
import type { NodeId } from '../nodes.ts';
import { LAMBDAS } from './kinds.ts';
import type { TablePlace, TableWalk } from './place.ts';

/** The type of an argument that is a function. */
export const FUNCTION_ARGUMENT: ExpressionFact = ['x', '=>'];
/** Arguments with more text than this are unknown: their type would be a long chain. */
const LONGEST_KNOWN = 160;
const MOST_ARGUMENTS = 12;

const WRAPPERS = new Set(['argument', 'value_argument']);
const FUNCTIONS = new Set([
  ...LAMBDAS,
  'method_reference',
  'callable_reference',
  'lambda_literal',
  'annotated_lambda',
]);

/** Reads an argument: the parameters of a function there are what the called function passes to it. */
function readArgument(
  walk: TableWalk,
  node: NodeId,
  place: TablePlace,
  callee: ExpressionFact,
  index: number,
): ExpressionFact {
  return LAMBDAS.has(walk.nodes.kindOf(node))
    ? walk.readLambda(node, place, (param) => ['b', callee, index, param])
    : walk.readValue(node, place);
}

/** Reads the arguments of a call; undefined for languages without overloads. */
export function readArguments(
  walk: TableWalk,
  list: NodeId,
  place: TablePlace,
  callee: ExpressionFact,
): ExpressionFact[] | undefined {
  const { nodes, language } = walk;
  const children = nodes.childrenOf(list).filter((each) => nodes.kindOf(each) !== 'comment');
  if (!HAS_OVERLOADS.has(language)) {
    for (const [index, child] of children.entries()) readArgument(walk, child, place, callee, index);
    return undefined;
  }
  // With names, arguments may come in any order.
  const isNamed = children.some(
    (each) => WRAPPERS.has(nodes.kindOf(each)) && nodes.childrenOf(each).length > 1,
  );
  const found: ExpressionFact[] = [];
  for (const [index, child] of children.entries()) {
    const wrapped = WRAPPERS.has(nodes.kindOf(child)) ? (nodes.childrenOf(child).at(-1) ?? child) : child;
    const isFunction = FUNCTIONS.has(nodes.kindOf(wrapped));
    const value = readArgument(walk, wrapped, place, callee, index);
    const length = nodes.endOf(wrapped) - nodes.startOf(wrapped);
    // Swift chooses by labels.
    const label = language === 'swift' ? nodes.textOf(nodes.childIn(child, 'name')) || '_' : null;
    if (label !== null && !isFunction) found.push(['x', `:${label}`]);
    else found.push(isFunction ? FUNCTION_ARGUMENT : isNamed || length > LONGEST_KNOWN ? UNKNOWN : value);
  }
  return found.slice(0, MOST_ARGUMENTS);
}
