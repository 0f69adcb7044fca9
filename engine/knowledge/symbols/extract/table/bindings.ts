import { type ExpressionFact, UNKNOWN, UNKNOWN_TYPE } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { bindName } from '../scope.ts';
import { NAMES } from './kinds.ts';
import { isExported } from './modifiers.ts';
import type { TablePlace, TableWalk } from './place.ts';

/** Binds the names of variables: of patterns, of declarations, and of loops. */
export function createVariableBinder(
  walk: TableWalk,
): Pick<TableWalk, 'bindLocal' | 'declareVariable' | 'readLoop'> {
  const { nodes, collector, symbols, types } = walk;

  function bindLocal(pattern: NodeId, value: ExpressionFact, place: TablePlace): void {
    const kind = nodes.kindOf(pattern);
    if (NAMES.has(kind)) {
      const name = nodes.textOf(pattern);
      const known = place.scope.names.get(name)?.value;
      // A reassigned variable keeps its first type, unless that was unknown.
      if (known?.[0] === 'l' && collector.locals[known[1]]?.[0] !== '?') return;
      bindName(place.scope, name, { value: ['l', collector.addLocal(value)] });
      return;
    }
    const children = nodes.childrenOf(pattern);
    if (kind === 'tuple_struct_pattern') {
      // `Some(x)`, `Ok(x)`: the content of an option or result; unknown for others.
      const isKnown = /^(?:Some|Ok)$/.test(nodes.textOf(nodes.childIn(pattern, 'type')));
      for (const child of children.slice(1)) bindLocal(child, isKnown ? ['e', value] : UNKNOWN, place);
      return;
    }
    if (/list$|tuple|pattern|expression_list|declarator|variable_declaration/.test(kind)) {
      const isSingle =
        children.length === 1 || /declarator|mut_pattern|^pattern$|variable_declaration/.test(kind);
      for (const [index, child] of children.entries()) {
        bindLocal(child, isSingle ? value : ['e', value, index], place);
        if (isSingle) break;
      }
      return;
    }
    if (walk.memberOf(pattern) !== null) setField(walk, pattern, value, place);
    else if (children.length > 0) walk.readValue(pattern, place);
  }

  /** Declares a variable with a type, a value, or both: outside of functions it is a symbol. */
  function declareVariable(
    nameNode: NodeId,
    typeNode: NodeId,
    valueNode: NodeId,
    outer: NodeId,
    place: TablePlace,
  ): void {
    const type = typeNode < 0 ? UNKNOWN_TYPE : types.readType(typeNode, place);
    const value = valueNode < 0 ? UNKNOWN : walk.readValue(valueNode, place);
    const known: ExpressionFact = type[0] === '?' ? value : ['t', type];
    const holder = symbols[place.symbol]!;
    const isInFunction = holder.kind === 'function' || holder.kind === 'method';
    if (isInFunction || !NAMES.has(nodes.kindOf(nameNode))) {
      bindLocal(nameNode, known, place);
      return;
    }
    const name = nodes.textOf(nameNode);
    const isField = holder.kind === 'class' || holder.kind === 'interface' || holder.kind === 'enum';
    const symbol = collector.addSymbol({
      name,
      kind: isField ? 'field' : 'variable',
      parent: place.symbol,
      node: outer,
    });
    const fact = symbols[symbol]!;
    if (type[0] !== '?') fact.type = type;
    fact.init = value;
    if (isExported(walk, outer, name)) fact.isExported = true;
    if (!isField) bindName(place.scope, name, { value: ['s', symbol] });
    else if (/\bstatic\b|\bconst\b/.test(nodes.textBefore(outer, nameNode))) fact.isStatic = true;
  }

  function readLoop(node: NodeId, place: TablePlace): ExpressionFact {
    const left =
      ['left', 'pattern', 'name'].map((each) => nodes.childIn(node, each)).find((each) => each >= 0) ?? -1;
    const right = ['right', 'value'].map((each) => nodes.childIn(node, each)).find((each) => each >= 0) ?? -1;
    const type = nodes.childIn(node, 'type');
    if (right >= 0 && left >= 0) {
      const value = walk.readValue(right, place);
      const known: ExpressionFact =
        type >= 0 && !types.isInferred(type) ? ['t', types.readType(type, place)] : ['e', value];
      // Go gives the index first.
      if (nodes.kindOf(node) === 'range_clause') {
        const [, second] = nodes.childrenOf(left);
        if (second !== undefined) bindLocal(second, ['e', value], place);
      } else bindLocal(left, known, place);
    }
    for (const child of nodes.childrenOf(node))
      if (child !== left && child !== right && child !== type) walk.readValue(child, place);
    return UNKNOWN;
  }

  return { bindLocal, declareVariable, readLoop };
}

/** Sets a field: `self.a = b` declares it unless it is declared elsewhere. */
function setField(walk: TableWalk, pattern: NodeId, value: ExpressionFact, place: TablePlace): void {
  const { language, collector, symbols } = walk;
  const { object, name } = walk.memberOf(pattern)!;
  const target = walk.readTarget(object, place);
  if (target[0] !== 'self' || language !== 'python') return;
  const known = symbols[collector.findDeclared(place.self, name)[0] ?? -1];
  if (known === undefined) {
    const added = collector.addSymbol({ name, kind: 'field', parent: place.self, node: pattern });
    symbols[added]!.init = value;
  } else if (known.kind === 'field' && known.init === undefined && known.type === undefined)
    known.init = value;
}
