import { type ExpressionFact, OUTSIDE_TYPE, type TypeExpr, UNKNOWN_TYPE } from '../../facts.ts';
import type { NodeId, SyntaxNodes } from '../nodes.ts';
import { findValue } from '../scope.ts';
import { PRIMITIVES } from './kinds.ts';
import type { TablePlace, TableTypes } from './place.ts';

const NAMED = new Set(['type_identifier', 'identifier', 'simple_identifier', 'name', 'constant']);
/** Wrappers around a type that do not change it. */
const WRAPPERS = new Set(
  'type type_elem pointer_type reference_type nullable_type optional_type parenthesized_type type_annotation user_type ref_type named_type annotated_type type_projection superclass return_type qualified_specifier pointer_declarator base_class_clause constructor_invocation delegation_specifier dynamic_type abstract_type union_type_single'.split(
    ' ',
  ),
);
const QUALIFIED = new Set(
  'qualified_type scoped_type_identifier attribute qualified_name scope_resolution qualified_identifier scoped_identifier member_type'.split(
    ' ',
  ),
);
/** Reads types of the languages with similar grammars. */
export function createTableTypeReader(
  nodes: SyntaxNodes,
  nameType: (name: string, node: NodeId, place: TablePlace) => TypeExpr,
  /** True if an external type has its name. */
  isNamed: boolean,
): TableTypes {
  function readTypeText(text: string, node: NodeId, place: TablePlace): TypeExpr {
    const name = /^\s*([A-Za-z_][\w.]*)\s*$/.exec(text)?.[1];
    if (name === undefined || name.includes('.')) return UNKNOWN_TYPE;
    return nameType(name, node, place);
  }

  function readArguments(node: NodeId, place: TablePlace): TypeExpr[] {
    const list = nodes.childOfKind(
      node,
      'type_arguments',
      'type_argument_list',
      'type_parameter',
      'template_argument_list',
    );
    return nodes.childrenOf(list).map((each) => readType(each, place));
  }

  function readType(node: NodeId, place: TablePlace): TypeExpr {
    const kind = nodes.kindOf(node);
    const children = nodes.childrenOf(node);
    if (kind === '' || kind === 'comment') return UNKNOWN_TYPE;
    if (NAMED.has(kind)) return nameType(nodes.textOf(node), node, place);
    if (PRIMITIVES.has(kind)) return isNamed ? ['x', nodes.textOf(node)] : OUTSIDE_TYPE;
    if (QUALIFIED.has(kind)) return readQualified(nodes, node, place);
    switch (kind) {
      case 'generic_type':
      case 'generic_name':
      case 'template_type': {
        const named = readType(children[0] ?? -1, place);
        const types = readArguments(node, place);
        return named[0] === 'r' ? ['r', named[1], ...types] : named;
      }
      case 'subscript': {
        // `list[int]`, `Optional[A]` of Python.
        const [named, ...rest] = children;
        const type = readType(named ?? -1, place);
        return type[0] === 'r' ? ['r', type[1], ...rest.map((each) => readType(each, place))] : type;
      }
      case 'binary_operator':
      case 'union_type':
        return ['u', ...children.map((each) => readType(each, place))];
      case 'trait_bounds':
      case 'bounded_type': {
        // Also `Send` and other traits from outside, and lifetimes, of which none has the project's members.
        const types = children.map((each) => readType(each, place)).filter(([is]) => is !== '?');
        return types.length === 1 ? types[0]! : ['&', ...types];
      }
      case 'slice_type':
      case 'array_type':
      case 'implicit_length_array_type':
        return [
          'a',
          readType(
            nodes.childIn(node, 'element') >= 0 ? nodes.childIn(node, 'element') : (children.at(-1) ?? -1),
            place,
          ),
        ];
      case 'map_type':
        // Go's indexing and loops yield values.
        return ['a', readType(nodes.childIn(node, 'value'), place)];
      case 'string':
        return readTypeText(nodes.textOf(node).replace(/^['"]|['"]$/g, ''), node, place);
      case 'parameter_list': {
        // For several results of a Go function, the first one is used.
        const [first] = children;
        return first === undefined ? UNKNOWN_TYPE : readType(nodes.childIn(first, 'type'), place);
      }
      case 'function_type': {
        const result =
          nodes.childIn(node, 'result') >= 0
            ? nodes.childIn(node, 'result')
            : nodes.childIn(node, 'return_type');
        return ['f', result < 0 ? OUTSIDE_TYPE : readType(result, place)];
      }
      default:
        if (WRAPPERS.has(kind)) {
          const inner = children.filter(
            (each) => nodes.kindOf(each) !== 'lifetime' && nodes.kindOf(each) !== 'mutable_specifier',
          );
          const types = kind === 'user_type' ? readArguments(node, place) : [];
          const read = readType(inner[0] ?? -1, place);
          return types.length > 0 && read[0] === 'r' ? ['r', read[1], ...types] : read;
        }
        return UNKNOWN_TYPE;
    }
  }

  return {
    readType,
    isType: (kind) =>
      (WRAPPERS.has(kind) && kind !== 'type') ||
      kind === 'generic_type' ||
      kind === 'slice_type' ||
      kind === 'map_type' ||
      kind === 'qualified_type',
    isInferred: (node) =>
      ['implicit_type', 'auto', 'placeholder_type_specifier'].includes(nodes.kindOf(node)) ||
      nodes.textOf(node) === 'var',
  };
}

/** Reads `A.B.C` or `A::B::C`. */
function readQualified(nodes: SyntaxNodes, node: NodeId, place: TablePlace): TypeExpr {
  const parts = nodes
    .textOf(node)
    .replace(/<.*$/s, '')
    .split(/::|\./)
    .map((part) => part.trim());
  const [first = '', ...rest] = parts;
  const begin: ExpressionFact = findValue(place.scope, first) ?? ['g', first];
  return ['r', rest.reduce((at, part): ExpressionFact => ['m', at, part], begin)];
}
