import { type ExpressionFact, UNKNOWN } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { NAMES } from './kinds.ts';
import { firstResult, type TablePlace, type TableReaders, type TableWalk } from './place.ts';

function readAssignment(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact | null {
  const { nodes, language, symbols, types } = walk;
  const left = nodes.childIn(node, 'left');
  const type = nodes.childIn(node, 'type');
  const right = nodes.childIn(node, 'right');
  if (left < 0) return null;
  if (type >= 0 || symbols[place.symbol]!.kind !== 'function') {
    if (
      language === 'python' &&
      NAMES.has(nodes.kindOf(left)) &&
      place.scope.names.get(nodes.textOf(left))?.value === undefined
    ) {
      walk.declareVariable(left, type, right, node, place);
      return UNKNOWN;
    }
  }
  const value = right < 0 ? UNKNOWN : walk.readValue(right, place);
  walk.bindLocal(left, type < 0 ? value : ['t', types.readType(type, place)], place);
  return value;
}

function readShortDeclaration(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes, language } = walk;
  const right = nodes.childrenOf(nodes.childIn(node, 'right'));
  const values = right.map((each) => walk.readValue(each, place));
  for (const [index, left] of nodes.childrenOf(nodes.childIn(node, 'left')).entries())
    walk.bindLocal(
      left,
      values.length > 1
        ? (values[index] ?? UNKNOWN)
        : index === 0
          ? firstResult(values[0], language)
          : UNKNOWN,
      place,
    );
  return UNKNOWN;
}

function readSpecification(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes } = walk;
  const value = nodes.childIn(node, 'value');
  const first = nodes.kindOf(value) === 'expression_list' ? (nodes.childrenOf(value)[0] ?? -1) : value;
  for (const name of nodes.childrenIn(node, 'name'))
    walk.declareVariable(name, nodes.childIn(node, 'type'), first, node, place);
  return UNKNOWN;
}

function readRustDeclaration(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes } = walk;
  walk.declareVariable(
    nodes.childIn(node, nodes.kindOf(node) === 'let_declaration' ? 'pattern' : 'name'),
    nodes.childIn(node, 'type'),
    nodes.childIn(node, 'value'),
    node,
    place,
  );
  return UNKNOWN;
}

function readDeclarators(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact | null {
  const { nodes, types } = walk;
  const type = nodes.childIn(node, 'type');
  const names = [
    ...nodes.childrenIn(node, 'declarator'),
    ...nodes.childrenOf(node).filter((each) => nodes.kindOf(each) === 'variable_declarator'),
  ];
  if (names.length === 0 && nodes.childrenIn(node, 'name').length === 0) return null;
  for (const each of new Set(names)) {
    const name = walk.findName(each) >= 0 ? walk.findName(each) : each;
    const value =
      nodes.childIn(each, 'value') >= 0
        ? nodes.childIn(each, 'value')
        : (nodes.childrenOf(each).at(-1) ?? -1);
    walk.declareVariable(name, types.isInferred(type) ? -1 : type, value === name ? -1 : value, node, place);
  }
  for (const name of nodes.childrenIn(node, 'name')) walk.declareVariable(name, type, -1, node, place);
  return UNKNOWN;
}

function readProperty(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes } = walk;
  const variable = nodes.childOfKind(node, 'variable_declaration');
  const found = variable >= 0 ? (nodes.childrenOf(variable)[0] ?? -1) : walk.findName(node);
  // Swift has a pattern, and the type next to it.
  const name = nodes.kindOf(found) === 'pattern' ? nodes.childOfKind(found, 'simple_identifier') : found;
  const annotation = nodes.childOfKind(node, 'type_annotation');
  const type =
    variable >= 0
      ? (nodes.childrenOf(variable)[1] ?? -1)
      : annotation >= 0
        ? annotation
        : nodes.childIn(node, 'type');
  const value =
    nodes.childIn(node, 'value') >= 0
      ? nodes.childIn(node, 'value')
      : variable >= 0
        ? (nodes
            .childrenOf(node)
            .find((each) => each > variable && nodes.kindOf(each).endsWith('expression')) ?? -1)
        : -1;
  walk.declareVariable(name, type, value, node, place);
  for (const child of nodes.childrenOf(node))
    if (/accessor|getter|setter|computed/.test(nodes.kindOf(child))) walk.readValue(child, place);
  return UNKNOWN;
}

function readCondition(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact {
  const { nodes } = walk;
  const value = walk.readValue(nodes.childIn(node, 'value'), place);
  walk.bindLocal(nodes.childIn(node, 'pattern'), value, place);
  return UNKNOWN;
}

/** Reads the variable of `try (A a = b())` in Java. */
function readResource(walk: TableWalk, node: NodeId, place: TablePlace): ExpressionFact | null {
  const { nodes, types } = walk;
  const [type, name, value] = ['type', 'name', 'value'].map((each) => nodes.childIn(node, each)) as [
    NodeId,
    NodeId,
    NodeId,
  ];
  if (name < 0) return null;
  walk.declareVariable(name, types.isInferred(type) ? -1 : type, value, node, place);
  return UNKNOWN;
}

/** The readers of assignments and declared variables. */
export const VARIABLE_READERS: TableReaders = {
  assignment: readAssignment,
  assignment_expression: readAssignment,
  assignment_statement: readAssignment,
  short_var_declaration: readShortDeclaration,
  var_spec: readSpecification,
  const_spec: readSpecification,
  let_declaration: readRustDeclaration,
  const_item: readRustDeclaration,
  static_item: readRustDeclaration,
  field_declaration: readDeclarators,
  local_variable_declaration: readDeclarators,
  variable_declaration: readDeclarators,
  declaration: readDeclarators,
  property_declaration: readProperty,
  let_condition: readCondition,
  resource: readResource,
};
