import { ANY_KEY, type ExpressionFact, OUTSIDE, UNKNOWN } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import type { TablePlace, TableReaders, TableWalk } from './place.ts';

/** Maximum inspected elements of a list. */
const MOST_ITEMS = 8;

const readAll = (walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact[] =>
  walk.nodes.childrenOf(node).map((each) => walk.readValue(each, place));

function readExpressionList(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const values = readAll(walk, node, place);
  return values.length === 1 ? values[0]! : ['y', ...values.slice(0, MOST_ITEMS)];
}

function readList(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const values = readAll(walk, node, place);
  return values.length === 0 ? OUTSIDE : ['y', ...values.slice(0, MOST_ITEMS)];
}

function readComposite(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes, collector, types } = walk;
  const type = nodes.childIn(node, nodes.kindOf(node) === 'struct_expression' ? 'name' : 'type');
  const read = types.readType(type, place);
  if (read[0] === 'r') collector.addReference('new', read[1], node, place.symbol);
  walk.readValue(nodes.childIn(node, 'body'), place);
  return read[0] === 'r' ? ['n', read[1]] : read[0] === '?' ? UNKNOWN : ['t', read];
}

function readCast(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes, types } = walk;
  for (const child of nodes.childrenOf(node))
    if (child !== nodes.childIn(node, 'type')) walk.readValue(child, place);
  const type = nodes.childIn(node, 'type');
  return type < 0 ? UNKNOWN : ['t', types.readType(type, place)];
}

const readLast = (walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact =>
  readAll(walk, node, place).at(-1) ?? UNKNOWN;

/** Reads `x?`, which unwraps an option or result. */
function readTry(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const last = readLast(walk, node, place);
  return ['|', ['e', last], last];
}

function readElementOf(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes } = walk;
  const [object, ...rest] = nodes.childrenOf(node);
  const value = walk.readTarget(object ?? -1, place);
  for (const each of rest) walk.readValue(each, place);
  return ['e', value, ANY_KEY];
}

function readConditional(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { language } = walk;
  const values = readAll(walk, node, place);
  return language === 'python'
    ? ['|', values[0] ?? UNKNOWN, values.at(-1) ?? UNKNOWN]
    : ['|', ...values.slice(1)];
}

function readAlias(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes } = walk;
  const [value, alias] = nodes.childrenOf(node);
  const read = walk.readValue(value ?? -1, place);
  if (alias !== undefined && nodes.kindOf(node) === 'as_pattern')
    walk.bindLocal(nodes.childrenOf(alias)[0] ?? alias, read, place);
  return read;
}

const readAwait = (walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact => [
  'w',
  walk.readValue(walk.nodes.childrenOf(node)[0] ?? -1, place),
];

/** The readers of operators and lists. */
export const EXPRESSION_READERS: TableReaders = {
  expression_list: readExpressionList,
  list: readList,
  tuple: readList,
  array_expression: readList,
  composite_literal: readComposite,
  struct_expression: readComposite,
  type_assertion_expression: readCast,
  cast_expression: readCast,
  as_expression: readCast,
  await: readAwait,
  await_expression: readAwait,
  unary_expression: readLast,
  pointer_expression: readLast,
  postfix_unary_expression: readLast,
  reference_expression: readLast,
  parenthesized_expression: readLast,
  expression_statement: readLast,
  mut_pattern: readLast,
  try_expression: readTry,
  subscript: readElementOf,
  index_expression: readElementOf,
  array_access: readElementOf,
  element_access_expression: readElementOf,
  conditional_expression: readConditional,
  ternary_expression: readConditional,
  with_item: readAlias,
  as_pattern: readAlias,
};
