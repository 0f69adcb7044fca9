import { type TypeExpr, UNKNOWN, UNKNOWN_TYPE } from '../../facts.ts';
import type { NodeId, SyntaxNodes } from '../nodes.ts';
import { bindName } from '../scope.ts';
import { LAMBDAS, NAMES } from './kinds.ts';
import type { TablePlace, TableWalk } from './place.ts';

/** Reads the parameters of a function: binds their names, and returns their types. */
export function readParameters(walk: TableWalk, node: NodeId, place: TablePlace): TypeExpr[] {
  const { nodes, language, symbols, types } = walk;
  let list = nodes.childIn(node, 'parameters');
  if (list < 0) list = nodes.childIn(nodes.childIn(node, 'declarator'), 'parameters');
  if (list < 0)
    list = nodes.childOfKind(node, 'function_value_parameters', 'parameter_list', 'class_parameters');
  const params =
    list < 0
      ? nodes.childrenOf(node).filter((each) => nodes.kindOf(each) === 'parameter')
      : NAMES.has(nodes.kindOf(list))
        ? [list]
        : nodes.childrenOf(list);
  return params.flatMap((param, index): TypeExpr[] => {
    const kind = nodes.kindOf(param);
    if (kind === 'comment' || kind === 'self_parameter') return [];
    const typeNode =
      nodes.childIn(param, 'type') >= 0
        ? nodes.childIn(param, 'type')
        : nodes.childOfKind(param, 'user_type', 'nullable_type');
    const one = typeNode < 0 ? UNKNOWN_TYPE : types.readType(typeNode, place);
    const type: TypeExpr = kind === 'variadic_parameter_declaration' ? ['a', one] : one;
    const usual = nodes.childIn(param, 'value');
    const begin = usual < 0 ? UNKNOWN : walk.readValue(usual, place);
    let names = nodes.childrenIn(param, 'name');
    if (names.length === 0)
      names = [
        nodes.childIn(param, 'pattern') >= 0
          ? nodes.childIn(param, 'pattern')
          : nodes.childIn(param, 'declarator'),
      ].filter((each) => each >= 0);
    if (names.length === 0)
      names = NAMES.has(kind) ? [param] : [nodes.childOfKind(param, ...NAMES)].filter((each) => each >= 0);
    const isOwn =
      language === 'python' &&
      index === 0 &&
      typeNode < 0 &&
      !LAMBDAS.has(nodes.kindOf(node)) &&
      symbols[place.symbol]?.kind === 'method';
    if (isOwn && isClassMethod(nodes, node)) {
      bindName(place.scope, nodes.textOf(param), { value: ['s', place.self] });
      return [];
    }
    for (const name of names)
      walk.bindLocal(name, isOwn ? ['self', place.self] : type[0] !== '?' ? ['t', type] : begin, place);
    return isOwn ? [] : names.map(() => type);
  });
}

/** Reports whether a function is a Python class method, whose first parameter is the class. */
const isClassMethod = (nodes: SyntaxNodes, node: NodeId): boolean =>
  /@classmethod\s*\n(?:\s*@[^\n]{0,80}\n){0,4}\s*(?:async\s+)?$/.test(
    nodes.text.slice(Math.max(0, nodes.startOf(node) - 400), nodes.startOf(node)),
  );
