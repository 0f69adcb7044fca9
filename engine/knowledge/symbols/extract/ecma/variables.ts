import { type ExpressionFact, UNKNOWN } from '../../facts.ts';
import type { NodeId, SyntaxNodes } from '../nodes.ts';
import { createScope, findValue } from '../scope.ts';
import { unwrapCallback } from './declare.ts';
import type { StatementReader, SyntaxWalk, WalkState } from './walk.ts';

/** Reads a declaration of variables. */
export const readVariables: StatementReader = (walk, node, place, isExported) => {
  for (const each of walk.nodes.childrenOf(node))
    if (walk.nodes.kindOf(each) === 'variable_declarator') readVariable(walk, each, place, isExported);
};

function readVariable(walk: SyntaxWalk, node: NodeId, place: WalkState, isExported: boolean): void {
  const { nodes, collector, declared } = walk;
  const nameNode = nodes.childIn(node, 'name');
  const valueNode = nodes.childIn(node, 'value');
  const annotation = nodes.childIn(node, 'type');
  const type = annotation < 0 ? undefined : walk.readType(annotation, place);
  const symbol = declared.get(node);
  if (symbol === undefined) {
    const value = valueNode < 0 ? UNKNOWN : walk.readValue(valueNode, place, type);
    const known: ExpressionFact = type === undefined ? value : ['t', type];
    if (nodes.kindOf(nameNode) === 'identifier') {
      const local = place.scope.names.get(nodes.textOf(nameNode))?.value;
      if (local?.[0] === 'l') collector.locals[local[1]] = known;
      return;
    }
    // Bound again, with the destructured value.
    walk.bindPattern(nameNode, known, place);
    if (isExported) exportPattern(walk, nameNode, place);
    return;
  }
  const fact = collector.symbols[symbol]!;
  if (type !== undefined) fact.type = type;
  if (fact.kind === 'function') {
    const inner = unwrapCallback(nodes, valueNode);
    walk.readNamedFunction(inner, symbol, place, type);
    if (inner !== valueNode) readHook(walk, valueNode, place);
  } else if (fact.kind === 'class')
    walk.readClass(valueNode, symbol, { ...place, scope: createScope(place.scope) });
  else if (valueNode >= 0) {
    fact.init = walk.readValue(valueNode, { ...place, symbol }, type);
    // `app = module.exports = {}`: its members are added through the variable.
    if (/^(?:exports\s*=\s*)?module\.exports\s*=[^=]/.test(nodes.textOf(valueNode).slice(0, 60)))
      walk.exportWhole(['s', symbol]);
  }
  if (isExported) collector.addExport({ name: fact.name, value: ['s', symbol] });
}

/** Reads the call around a function that its variable names: the hook, and what the function depends on. */
function readHook(walk: SyntaxWalk, node: NodeId, place: WalkState): void {
  const { nodes } = walk;
  const target = nodes.childIn(node, 'function');
  walk.refer('call', walk.readTarget(target, place), target, place);
  for (const child of nodes.childrenOf(nodes.childIn(node, 'arguments')).slice(1))
    walk.readValue(child, place);
}

function exportPattern({ nodes, collector }: SyntaxWalk, pattern: NodeId, place: WalkState): void {
  for (const name of namesOf(nodes, pattern)) {
    const value = findValue(place.scope, name);
    if (value !== null) collector.addExport({ name, value });
  }
}

function namesOf(nodes: SyntaxNodes, pattern: NodeId): string[] {
  const kind = nodes.kindOf(pattern);
  if (kind === 'identifier' || kind === 'shorthand_property_identifier_pattern')
    return [nodes.textOf(pattern)];
  if (kind === 'pair_pattern') return namesOf(nodes, nodes.childIn(pattern, 'value'));
  if (kind === 'assignment_pattern' || kind === 'object_assignment_pattern')
    return namesOf(nodes, nodes.childIn(pattern, 'left'));
  return nodes.childrenOf(pattern).flatMap((each) => namesOf(nodes, each));
}
