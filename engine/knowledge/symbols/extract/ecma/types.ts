import { OUTSIDE_TYPE, type TypeExpr, UNKNOWN_TYPE } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { bindName, findType, findValue } from '../scope.ts';
import type { SyntaxWalk, WalkState } from './walk.ts';

/** Reads types, with a reference for each name in them. */
export function createTypeReader(
  walk: SyntaxWalk,
): Pick<SyntaxWalk, 'readType' | 'readMembers' | 'readGenerics'> {
  const { nodes, collector } = walk;

  /** Resolves a type name; without a declaration here it belongs to the language or the platform. */
  function readName(node: NodeId, place: WalkState): TypeExpr {
    const name = nodes.textOf(node);
    const type = findType(place.scope, name) ?? (['r', ['g', name]] as const);
    if (type[0] === 'r') walk.refer('type', type[1], node, place);
    return type;
  }

  /** Reads `A.B.C`, whose first name is a namespace or a module. */
  function readQualified(node: NodeId, place: WalkState): TypeExpr {
    const parts = nodes
      .textOf(node)
      .split('.')
      .map((part) => part.trim());
    const first = findValue(place.scope, parts[0]!);
    if (first === null) return OUTSIDE_TYPE;
    const value = parts.slice(1).reduce((at, part) => ['m', at, part] as const, first);
    walk.refer('type', value, node, place);
    return ['r', value];
  }

  function withArguments(type: TypeExpr, node: NodeId, place: WalkState): TypeExpr {
    const list = nodes.childOfKind(node, 'type_arguments');
    const types = nodes.childrenOf(list).map((each) => readType(each, place));
    return type[0] === 'r' ? ['r', type[1], ...types] : type;
  }

  const readAll = (node: NodeId, place: WalkState): TypeExpr[] =>
    nodes.childrenOf(node).map((each) => readType(each, place));

  function readFunctionType(node: NodeId, place: WalkState): TypeExpr {
    const inner = { ...place, scope: { names: new Map(), parent: place.scope } };
    walk.readGenerics(node, -1, inner);
    const params = nodes.childrenOf(nodes.childIn(node, 'parameters')).flatMap((param) => {
      const annotation = nodes.childIn(param, 'type');
      const type = annotation < 0 ? UNKNOWN_TYPE : readType(annotation, inner);
      return nodes.kindOf(nodes.childIn(param, 'pattern')) === 'this' ? [] : [type];
    });
    const returned = nodes.childIn(node, 'return_type');
    return ['f', returned < 0 ? UNKNOWN_TYPE : readType(returned, inner), ...params];
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
        return readQualified(node, place);
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
      case 'object_type': {
        const symbol = place.symbol;
        const members = nodes.childrenOf(node);
        if (members.length === 0) return OUTSIDE_TYPE;
        const [only] = members;
        // `{ [key: string]: T }` is another form of a record.
        if (members.length === 1 && nodes.kindOf(only!) === 'index_signature') {
          const type = nodes.childIn(only!, 'type');
          for (const child of nodes.childrenOf(only!)) if (child !== type) readType(child, place);
          return ['r', ['g', 'Record'], OUTSIDE_TYPE, readType(type, place)];
        }
        const literal = collector.addSymbol({ name: '{}', kind: 'type', parent: symbol, node });
        readMembers(node, literal, place);
        return ['l', literal];
      }
      case 'type_query': {
        const names = nodes.textOf(nodes.childrenOf(node)[0] ?? -1).split('.');
        const first = findValue(place.scope, names[0]!);
        if (first === null) return OUTSIDE_TYPE;
        const value = names.slice(1).reduce((at, name) => ['m', at, name] as const, first);
        walk.refer('value', value, node, place);
        return ['q', value];
      }
      case 'lookup_type': {
        const [object, key] = nodes.childrenOf(node);
        const type = readType(object ?? -1, place);
        const name = /^['"](.*)['"]$/.exec(nodes.textOf(key ?? -1))?.[1];
        if (name !== undefined) return ['k', type, name];
        if (key !== undefined && nodes.textOf(key) === 'number') return ['k', type, '[]'];
        if (key !== undefined) readType(key, place);
        return UNKNOWN_TYPE;
      }
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

  function readMembers(body: NodeId, owner: number, place: WalkState): void {
    const inner = { ...place, symbol: owner };
    for (const member of nodes.childrenOf(body)) {
      const kind = nodes.kindOf(member);
      const nameNode = nodes.childIn(member, 'name');
      if (kind === 'property_signature' && nameNode >= 0) {
        const type = nodes.childIn(member, 'type');
        const symbol = collector.addSymbol({
          name: nameOfKey(nameNode),
          kind: 'field',
          parent: owner,
          node: member,
        });
        // A function type is that of a method: its caller means this member.
        if (type >= 0) collector.symbols[symbol]!.type = readType(type, inner);
      } else if (kind === 'method_signature' && nameNode >= 0) {
        const symbol = collector.addSymbol({
          name: nameOfKey(nameNode),
          kind: 'method',
          parent: owner,
          node: member,
        });
        const scope = { names: new Map(), parent: place.scope };
        const { returns: _, isAsync: __, ...parts } = walk.readFunction(member, { ...inner, symbol, scope });
        Object.assign(collector.symbols[symbol]!, parts);
      } else readType(member, inner);
    }
  }

  const nameOfKey = (node: NodeId): string => nodes.textOf(node).replace(/^['"](.*)['"]$/, '$1');

  return {
    readType,
    readMembers,
    readGenerics(node, symbol, place) {
      const list = nodes.childIn(node, 'type_parameters');
      return nodes.childrenOf(list).flatMap((param, index) => {
        if (nodes.kindOf(param) !== 'type_parameter') return [];
        const name = nodes.textOf(nodes.childIn(param, 'name'));
        bindName(place.scope, name, { type: symbol < 0 ? UNKNOWN_TYPE : ['p', symbol, index] });
        const limit = nodes.childIn(param, 'constraint');
        const usual = nodes.childIn(param, 'value');
        const limited = limit < 0 ? UNKNOWN_TYPE : readType(limit, place);
        if (usual >= 0) readType(usual, place);
        return [limited];
      });
    },
  };
}
