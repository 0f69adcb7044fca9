import { type ExpressionFact, type TypeExpr, UNKNOWN, UNKNOWN_TYPE } from '../../facts.ts';
import { countArguments } from '../../overloads.ts';
import type { NodeId, SyntaxNodes } from '../nodes.ts';
import { bindName } from '../scope.ts';
import { LAMBDAS, NAMES } from './kinds.ts';
import type { TablePlace, TableWalk } from './place.ts';

/** Returns the node of all parameters of a function; -1 if its grammar has none. */
export function findParameterList({ nodes }: Pick<TableWalk, 'nodes'>, node: NodeId): NodeId {
  let list = nodes.childIn(node, 'parameters');
  if (list < 0) list = nodes.childIn(nodes.childIn(node, 'declarator'), 'parameters');
  if (list < 0)
    list = nodes.childOfKind(node, 'function_value_parameters', 'parameter_list', 'class_parameters');
  return list;
}

/** Returns the least and the most arguments of a function. */
export function readArity(walk: TableWalk, node: NodeId): [least: number, most: number] {
  const { nodes } = walk;
  const list = findParameterList(walk, node);
  if (list >= 0) return countArguments(nodes.textOf(list).replace(/^\(|\)$/g, ''));
  const head = nodes.text.slice(nodes.endOf(walk.findName(node)), nodes.startOf(walk.findBody(node)));
  return countArguments(/\(([\s\S]*)\)/.exec(head)?.[1] ?? '');
}

/** Returns the labels of a function's arguments in Swift: `with b: B` has `with`, `b: B` has `b`. */
export function readLabels({ nodes }: TableWalk, node: NodeId): string[] {
  return nodes
    .childrenOf(node)
    .filter((each) => nodes.kindOf(each) === 'parameter')
    .map((param) => {
      const outer = nodes.childIn(param, 'external_name');
      return nodes.textOf(outer >= 0 ? outer : nodes.childIn(param, 'name'));
    });
}

/** Reads the type of a parameter; one that takes any number of arguments is a list. */
export function readParameterType(
  walk: TableWalk,
  param: NodeId,
  before: NodeId,
  place: TablePlace,
): TypeExpr {
  const { nodes, language, types } = walk;
  const kind = nodes.kindOf(param);
  const isSpread = kind === 'spread_parameter';
  const field = nodes.childIn(param, 'type');
  const node =
    field >= 0
      ? field
      : isSpread
        ? (nodes.childrenOf(param).findLast((each) => nodes.kindOf(each) !== 'variable_declarator') ?? -1)
        : language === 'csharp' && NAMES.has(kind)
          ? before
          : nodes.childOfKind(param, 'user_type', 'nullable_type');
  if (node < 0) return UNKNOWN_TYPE;
  const one = types.readType(node, place);
  if (nodes.kindOf(nodes.childIn(param, 'declarator')) === 'pointer_declarator' && one[0] === 'x')
    return ['x', `${one[1] ?? ''}*`];
  const isMany =
    isSpread ||
    kind === 'variadic_parameter_declaration' ||
    nodes.childIn(param, 'dimensions') >= 0 ||
    (nodes.kindOf(before) === 'parameter_modifiers' && /\bvararg\b/.test(nodes.textOf(before)));
  return isMany ? ['a', one] : one;
}

/** Lists the nodes that have the names of a parameter. */
export function listNames({ nodes }: TableWalk, param: NodeId): NodeId[] {
  const names = nodes.childrenIn(param, 'name').filter((each) => NAMES.has(nodes.kindOf(each)));
  if (names.length > 0) return names;
  const pattern = nodes.childIn(param, 'pattern');
  const named = pattern >= 0 ? pattern : nodes.childIn(param, 'declarator');
  if (named >= 0) return [named];
  if (NAMES.has(nodes.kindOf(param))) return [param];
  return [nodes.childOfKind(param, ...NAMES, 'variable_declarator')].filter((each) => each >= 0);
}

/** Reads the parameters of a function: binds their names, and returns their types. @param given their values, if they have no type */
export function readParameters(
  walk: TableWalk,
  node: NodeId,
  place: TablePlace,
  given: (param: number) => ExpressionFact = () => UNKNOWN,
): TypeExpr[] {
  const { nodes, language, symbols } = walk;
  const list = findParameterList(walk, node);
  const params =
    list < 0
      ? nodes.childrenOf(node).filter((each) => nodes.kindOf(each) === 'parameter')
      : NAMES.has(nodes.kindOf(list))
        ? [list]
        : nodes.childrenOf(list);
  return params.flatMap((param, index): TypeExpr[] => {
    const kind = nodes.kindOf(param);
    if (kind === 'comment' || kind === 'self_parameter' || param === nodes.childIn(list, 'type')) return [];
    const type = readParameterType(walk, param, params[index - 1] ?? -1, place);
    const usual = nodes.childIn(param, 'value');
    const begin = usual < 0 ? given(index) : walk.readValue(usual, place);
    const isOwn =
      language === 'python' &&
      index === 0 &&
      nodes.childIn(param, 'type') < 0 &&
      !LAMBDAS.has(nodes.kindOf(node)) &&
      symbols[place.symbol]?.kind === 'method';
    if (isOwn && isClassMethod(nodes, node)) {
      bindName(place.scope, nodes.textOf(param), { value: ['s', place.self] });
      return [];
    }
    const names = listNames(walk, param);
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
