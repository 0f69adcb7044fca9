import { type ExpressionFact, OUTSIDE_TYPE, type TypeExpr, UNKNOWN_TYPE } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { findType, findValue } from '../scope.ts';
import { createSignatureReader } from './signatures.ts';
import type { SyntaxWalk, WalkState } from './walk.ts';

/** Reads types, with a reference for each name in them. */
export function createEcmaTypeReader(
  walk: SyntaxWalk,
): Pick<SyntaxWalk, 'readType' | 'readMembers' | 'readGenerics'> {
  const { nodes } = walk;
  const { readMembers, readGenerics, readFunctionType, readObjectType } = createSignatureReader(walk);

  /** Resolves a type name; without a declaration here it belongs to the language or the platform. */
  function readName(node: NodeId, place: WalkState): TypeExpr {
    const name = nodes.textOf(node);
    const type = findType(place.scope, name) ?? (['r', ['g', name]] as const);
    if (type[0] === 'r') walk.refer('type', type[1], node, place);
    return type;
  }

  function withArguments(type: TypeExpr, node: NodeId, place: WalkState): TypeExpr {
    const list = nodes.childOfKind(node, 'type_arguments');
    const types = nodes.childrenOf(list).map((each) => readType(each, place));
    return type[0] === 'r' ? ['r', type[1], ...types] : type;
  }

  const readAll = (node: NodeId, place: WalkState): TypeExpr[] =>
    nodes.childrenOf(node).map((each) => readType(each, place));

  function readLookup(node: NodeId, place: WalkState): TypeExpr {
    const [object, key] = nodes.childrenOf(node);
    const type = readType(object ?? -1, place);
    const name = /^['"](.*)['"]$/.exec(nodes.textOf(key ?? -1))?.[1];
    if (name !== undefined) return ['k', type, name];
    if (key !== undefined && nodes.textOf(key) === 'number') return ['k', type, '[]'];
    if (key !== undefined) readType(key, place);
    return UNKNOWN_TYPE;
  }

  function readType(node: NodeId, place: WalkState): TypeExpr {
    switch (nodes.kindOf(node)) {
      case 'type_annotation':
      case 'parenthesized_type':
      case 'readonly_type':
      case 'optional_type':
      case 'rest_type':
      case 'default_type':
      case 'constraint':
      case 'omitting_type_annotation':
      case 'opting_type_annotation':
      case 'adding_type_annotation':
        return readType(nodes.childrenOf(node)[0] ?? -1, place);
      case 'type_identifier':
      case 'identifier':
        return readName(node, place);
      case 'nested_type_identifier':
      case 'nested_identifier':
        return readQualified(walk, node, place);
      case 'generic_type':
        return withArguments(readType(nodes.childrenOf(node)[0] ?? -1, place), node, place);
      case 'union_type':
        return ['u', ...readAll(node, place)];
      case 'intersection_type':
        return ['&', ...readAll(node, place)];
      case 'array_type':
        return ['a', readType(nodes.childrenOf(node)[0] ?? -1, place)];
      case 'tuple_type':
        return ['a', ['u', ...readAll(node, place)]];
      case 'function_type':
      case 'constructor_type':
        return readFunctionType(node, place);
      case 'object_type':
        return readObjectType(node, place);
      case 'type_query':
        return readTypeQuery(walk, node, place);
      case 'lookup_type':
        return readLookup(node, place);
      case 'this_type':
      case 'this':
        return place.self < 0 ? UNKNOWN_TYPE : ['r', ['s', place.self]];
      case 'predefined_type':
        return ['any', 'unknown', 'object'].includes(nodes.textOf(node)) ? UNKNOWN_TYPE : OUTSIDE_TYPE;
      case 'literal_type':
      case 'template_literal_type':
      case 'type_predicate_annotation':
      case 'asserts_annotation':
        readAll(node, place);
        return OUTSIDE_TYPE;
      case 'type_predicate':
      case 'asserts':
        for (const type of nodes.childrenOf(node))
          if (nodes.kindOf(type) !== 'identifier') readType(type, place);
        return OUTSIDE_TYPE;
      case '':
      case 'comment':
        return UNKNOWN_TYPE;
      default:
        // Conditional, mapped and inferred types: their names are references, but they are not evaluated.
        readAll(node, place);
        return UNKNOWN_TYPE;
    }
  }

  return { readType, readMembers, readGenerics };
}

/** Reads `A.B.C`, whose first name is a namespace or a module. */
function readQualified(walk: SyntaxWalk, node: NodeId, place: WalkState): TypeExpr {
  const parts = walk.nodes.textOf(node).split('.');
  const value = readPath(
    parts.map((part) => part.trim()),
    place,
  );
  if (value === null) return OUTSIDE_TYPE;
  walk.refer('type', value, node, place);
  return ['r', value];
}

/** Reads `typeof a.b.c`. */
function readTypeQuery(walk: SyntaxWalk, node: NodeId, place: WalkState): TypeExpr {
  const value = readPath(walk.nodes.textOf(walk.nodes.childrenOf(node)[0] ?? -1).split('.'), place);
  if (value === null) return OUTSIDE_TYPE;
  walk.refer('value', value, node, place);
  return ['q', value];
}

function readPath([first = '', ...rest]: readonly string[], { scope }: WalkState): ExpressionFact | null {
  const value = findValue(scope, first);
  return value === null ? null : rest.reduce((at, part): ExpressionFact => ['m', at, part], value);
}
