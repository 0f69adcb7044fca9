import { type ExpressionFact, OUTSIDE, type TypeExpr, UNKNOWN } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { findValue } from '../scope.ts';
import type { SyntaxWalk, ValueReader, ValueReaders, WalkState } from './walk.ts';

function readAssignment(walk: SyntaxWalk, node: NodeId, place: WalkState): ExpressionFact {
  const exported = walk.readExports(node, node, place);
  if (exported !== null) return exported;
  const { nodes, collector } = walk;
  const left = nodes.childIn(node, 'left');
  const right = nodes.childIn(node, 'right');
  const value = walk.readValue(right, place);
  if (nodes.kindOf(left) === 'identifier') {
    const target = findValue(place.scope, nodes.textOf(left));
    // A variable without an initial value has the type of its first assignment.
    if (target?.[0] === 'l' && collector.locals[target[1]]?.[0] === '?') collector.locals[target[1]] = value;
  } else if (nodes.kindOf(left) === 'member_expression') {
    const object = nodes.childIn(left, 'object');
    if (nodes.kindOf(object) === 'this' && place.self >= 0)
      setField(walk, place.self, nodes.textOf(nodes.childIn(left, 'property')), value, left);
    else walk.readTarget(object, place);
  } else walk.readValue(left, place);
  return value;
}

/** Sets an undeclared field, which has the values that the class's own code assigns. */
function setField(
  { collector }: SyntaxWalk,
  owner: number,
  name: string,
  value: ExpressionFact,
  node: NodeId,
): void {
  const [at = -1] = collector.findDeclared(owner, name);
  const field = collector.symbols[at];
  if (field === undefined) {
    const added = collector.addSymbol({ name, kind: 'field', parent: owner, node });
    collector.symbols[added]!.init = value;
  } else if (field.kind === 'field' && field.type === undefined && field.init === undefined)
    field.init = value;
}

function readAssertion(walk: SyntaxWalk, node: NodeId, place: WalkState): ExpressionFact {
  const { nodes } = walk;
  const [value, type] = nodes.childrenOf(node);
  const read = walk.readValue(value ?? -1, place);
  if (type === undefined || nodes.kindOf(type) === 'comment') return read;
  const asserted = walk.readType(type, place);
  return asserted[0] === '?' || nodes.kindOf(node) === 'satisfies_expression' ? read : ['t', asserted];
}

function readOldAssertion(walk: SyntaxWalk, node: NodeId, place: WalkState): ExpressionFact {
  const { nodes } = walk;
  const [type, value] = nodes.childrenOf(node);
  walk.readValue(value ?? -1, place);
  return ['t', walk.readType(nodes.childrenOf(type ?? -1)[0] ?? -1, place)];
}

function readTernary(walk: SyntaxWalk, node: NodeId, place: WalkState, expected?: TypeExpr): ExpressionFact {
  const { nodes } = walk;
  walk.readValue(nodes.childIn(node, 'condition'), place);
  const one = walk.readValue(nodes.childIn(node, 'consequence'), place, expected);
  const other = walk.readValue(nodes.childIn(node, 'alternative'), place, expected);
  return ['|', one, other];
}

function readBinary(walk: SyntaxWalk, node: NodeId, place: WalkState): ExpressionFact {
  const { nodes } = walk;
  const left = walk.readValue(nodes.childIn(node, 'left'), place);
  const right = walk.readValue(nodes.childIn(node, 'right'), place);
  const operator = nodes.textOf(nodes.childIn(node, 'operator')) || between(walk, node);
  if (operator === '??' || operator === '||') return ['|', left, right];
  return operator === '&&' ? right : OUTSIDE;
}

/** Returns the operator of an expression, which some grammars do not name. */
const between = ({ nodes }: SyntaxWalk, node: NodeId): string =>
  nodes.text
    .slice(nodes.endOf(nodes.childIn(node, 'left')), nodes.startOf(nodes.childIn(node, 'right')))
    .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
    .trim();

const readInner: ValueReader = (walk, node, place, expected) =>
  walk.readValue(walk.nodes.childrenOf(node)[0] ?? -1, place, expected);

/** The readers of operators: assignments, choices and type assertions. */
export const OPERATOR_READERS: ValueReaders = {
  assignment_expression: readAssignment,
  augmented_assignment_expression: readAssignment,
  as_expression: readAssertion,
  satisfies_expression: readAssertion,
  type_assertion: readOldAssertion,
  ternary_expression: readTernary,
  binary_expression: readBinary,
  parenthesized_expression: readInner,
  non_null_expression: readInner,
  instantiation_expression: readInner,
  await_expression: (walk, node, place) => ['w', readInner(walk, node, place)],
  spread_element: (walk, node, place) => ['e', readInner(walk, node, place)],
  sequence_expression: (walk, node, place) =>
    walk.nodes
      .childrenOf(node)
      .map((each) => walk.readValue(each, place))
      .at(-1) ?? UNKNOWN,
};
