import { type ExpressionFact, OUTSIDE, type TypeExpr, UNKNOWN } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { createScope, findValue } from '../scope.ts';
import { CALL_READERS } from './calls.ts';
import { ELEMENT_READERS } from './elements.ts';
import { readObject } from './objects.ts';
import { OPERATOR_READERS } from './operators.ts';
import {
  MOST_ITEMS,
  rebindThis,
  type SyntaxWalk,
  stripQuotes,
  type ValueReader,
  type ValueReaders,
  type WalkState,
} from './walk.ts';

const LITERALS = new Set([
  'string',
  'template_string',
  'number',
  'true',
  'false',
  'null',
  'undefined',
  'regex',
  'unary_expression',
  'update_expression',
]);

/** Reads expressions, with a reference for each call and each name used as a value. */
export function createValueReader(
  walk: SyntaxWalk,
): Pick<SyntaxWalk, 'readValue' | 'readTarget' | 'nameValue'> {
  const { nodes } = walk;

  function nameValue(node: NodeId, place: WalkState): ExpressionFact {
    const name = nodes.textOf(node);
    return findValue(place.scope, name) ?? (name === 'undefined' ? OUTSIDE : ['g', name]);
  }

  function readTarget(node: NodeId, place: WalkState): ExpressionFact {
    switch (nodes.kindOf(node)) {
      case 'identifier':
        return nameValue(node, place);
      case 'member_expression':
        return readMember(walk, node, place);
      case 'parenthesized_expression':
      case 'non_null_expression':
      case 'instantiation_expression':
        return readTarget(nodes.childrenOf(node)[0] ?? -1, place);
      default:
        return readValue(node, place);
    }
  }

  function readValue(node: NodeId, place: WalkState, expected?: TypeExpr): ExpressionFact {
    const kind = nodes.kindOf(node);
    const read = READERS.get(kind);
    if (read !== undefined) return read(walk, node, place, expected);
    if (kind === '' || kind === 'comment') return UNKNOWN;
    if (kind.endsWith('_statement') || kind === 'statement_block') {
      walk.readStatement(node, place);
      return UNKNOWN;
    }
    for (const child of nodes.childrenOf(node)) readValue(child, place);
    return LITERALS.has(kind) ? OUTSIDE : UNKNOWN;
  }

  return { readValue, readTarget, nameValue };
}

function readThis(_walk: SyntaxWalk, _node: NodeId, place: WalkState): ExpressionFact {
  if (place.thisValue !== null) return place.thisValue;
  if (place.self < 0) return UNKNOWN;
  return place.isStatic ? ['s', place.self] : ['self', place.self];
}

function readElementOf(walk: SyntaxWalk, node: NodeId, place: WalkState): ExpressionFact {
  const { nodes } = walk;
  const object = walk.readTarget(nodes.childIn(node, 'object'), place);
  const index = nodes.childIn(node, 'index');
  walk.readValue(index, place);
  if (nodes.kindOf(index) === 'string') return ['m', object, stripQuotes(nodes.textOf(index))];
  return ['e', object];
}

function referTo(walk: SyntaxWalk, value: ExpressionFact, node: NodeId, place: WalkState): ExpressionFact {
  walk.refer('value', value, node, place);
  return value;
}

/** The readers of names and members that are used as values. */
const NAME_READERS: ValueReaders = {
  identifier: (walk, node, place) => referTo(walk, walk.nameValue(node, place), node, place),
  member_expression: (walk, node, place) => referTo(walk, readMember(walk, node, place), node, place),
  subscript_expression: readElementOf,
  this: readThis,
  super: (_walk, _node, place) => (place.self < 0 ? UNKNOWN : ['super', place.self]),
};

function readMember({ nodes, readTarget }: SyntaxWalk, node: NodeId, place: WalkState): ExpressionFact {
  const object = readTarget(nodes.childIn(node, 'object'), place);
  return ['m', object, nodes.textOf(nodes.childIn(node, 'property'))];
}

function readList(walk: SyntaxWalk, node: NodeId, place: WalkState): ExpressionFact {
  const { nodes } = walk;
  const values = nodes.childrenOf(node).map((each) => walk.readValue(each, place));
  return values.length === 0 ? OUTSIDE : ['y', ...values.slice(0, MOST_ITEMS)];
}

function readFunctionValue(
  walk: SyntaxWalk,
  node: NodeId,
  place: WalkState,
  expected?: TypeExpr,
): ExpressionFact {
  const { nodes } = walk;
  const { returnType, returns, isAsync } = walk.readFunction(
    node,
    { ...place, scope: createScope(place.scope), ...rebindThis(nodes.kindOf(node), place) },
    expected === undefined ? undefined : (index) => ['B', expected, index],
  );
  const said = returnType ?? (returns.length > 0 ? (['q', ['|', ...returns]] as const) : null);
  return said === null || isAsync ? OUTSIDE : ['t', ['f', said]];
}

function readClassValue(walk: SyntaxWalk, node: NodeId, place: WalkState): ExpressionFact {
  const { nodes, collector } = walk;
  const name = nodes.textOf(nodes.childIn(node, 'name')) || 'class';
  const symbol = collector.addSymbol({
    name,
    kind: 'class',
    parent: place.symbol,
    node,
    body: nodes.childIn(node, 'body'),
  });
  walk.readClass(node, symbol, { ...place, scope: createScope(place.scope) });
  return ['s', symbol];
}

/** The readers of values that are written out: lists, objects, functions and classes. */
const LITERAL_READERS: ValueReaders = {
  array: readList,
  object: readObject,
  arrow_function: readFunctionValue,
  function_expression: readFunctionValue,
  generator_function: readFunctionValue,
  class: readClassValue,
  class_declaration: readClassValue,
  abstract_class_declaration: readClassValue,
};

const READERS: ReadonlyMap<string, ValueReader> = new Map(
  Object.entries({
    ...NAME_READERS,
    ...CALL_READERS,
    ...OPERATOR_READERS,
    ...LITERAL_READERS,
    ...ELEMENT_READERS,
  }),
);
