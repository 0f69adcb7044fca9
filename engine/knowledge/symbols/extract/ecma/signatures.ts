import { OUTSIDE_TYPE, type TypeExpr, UNKNOWN_TYPE } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { bindName, createScope } from '../scope.ts';
import type { SyntaxWalk, WalkState } from './walk.ts';

const stripComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '');

/** Reads a type of one kind. */
type TypeReader = (node: NodeId, place: WalkState) => TypeExpr;

/** Reads the signatures that types are made of: functions, members of objects, and type parameters. */
export function createSignatureReader(
  walk: SyntaxWalk,
): Pick<SyntaxWalk, 'readMembers' | 'readGenerics'> &
  Record<'readFunctionType' | 'readObjectType', TypeReader> {
  const { nodes, collector } = walk;

  function readFunctionType(node: NodeId, place: WalkState): TypeExpr {
    const inner = { ...place, scope: createScope(place.scope) };
    readGenerics(node, -1, inner);
    const params = nodes.childrenOf(nodes.childIn(node, 'parameters')).flatMap((param) => {
      const annotation = nodes.childIn(param, 'type');
      const type = annotation < 0 ? UNKNOWN_TYPE : walk.readType(annotation, inner);
      return nodes.kindOf(nodes.childIn(param, 'pattern')) === 'this' ? [] : [type];
    });
    const returned = nodes.childIn(node, 'return_type');
    return ['f', returned < 0 ? UNKNOWN_TYPE : walk.readType(returned, inner), ...params];
  }

  function readObjectType(node: NodeId, place: WalkState): TypeExpr {
    const members = nodes.childrenOf(node);
    if (members.length === 0) return OUTSIDE_TYPE;
    const [only] = members;
    // `{ [key: string]: T }` is another form of a record.
    if (members.length === 1 && nodes.kindOf(only!) === 'index_signature') {
      const type = nodes.childIn(only!, 'type');
      for (const child of nodes.childrenOf(only!)) if (child !== type) walk.readType(child, place);
      return ['r', ['g', 'Record'], OUTSIDE_TYPE, walk.readType(type, place)];
    }
    const literal = collector.addSymbol({ name: '{}', kind: 'type', parent: place.symbol, node });
    readMembers(node, literal, place);
    return ['l', literal];
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
        if (type >= 0) collector.symbols[symbol]!.type = walk.readType(type, inner);
      } else if (kind === 'method_signature' && nameNode >= 0) {
        const symbol = addMethod(member, nameOfKey(nameNode), owner);
        const scope = createScope(place.scope);
        const { returns: _, isAsync: __, ...parts } = walk.readFunction(member, { ...inner, symbol, scope });
        // The first overload stands for all.
        if (collector.symbols[symbol]!.params === undefined) Object.assign(collector.symbols[symbol]!, parts);
      } else walk.readType(member, inner);
    }
  }

  /** Adds a method of a type; its overloads are one symbol. */
  function addMethod(member: NodeId, name: string, owner: number): number {
    const known = collector.findDeclared(owner, name).find((at) => collector.symbols[at]!.kind === 'method');
    if (known === undefined)
      return collector.addSymbol({ name, kind: 'method', parent: owner, node: member });
    const fact = collector.symbols[known]!;
    // An interface may be declared in parts, far from each other.
    if (/^[\s;,]*$/.test(stripComments(nodes.text.slice(fact.end, nodes.startOf(member))))) {
      fact.end = nodes.endOf(member);
      fact.endLine = nodes.lineAt(fact.end);
    }
    return known;
  }

  const nameOfKey = (node: NodeId): string => nodes.textOf(node).replace(/^['"](.*)['"]$/, '$1');

  function readGenerics(node: NodeId, symbol: number, place: WalkState): TypeExpr[] {
    const list = nodes.childIn(node, 'type_parameters');
    return nodes.childrenOf(list).flatMap((param, index) => {
      if (nodes.kindOf(param) !== 'type_parameter') return [];
      const name = nodes.textOf(nodes.childIn(param, 'name'));
      bindName(place.scope, name, { type: symbol < 0 ? UNKNOWN_TYPE : ['p', symbol, index] });
      const limit = nodes.childIn(param, 'constraint');
      const usual = nodes.childIn(param, 'value');
      const limited = limit < 0 ? UNKNOWN_TYPE : walk.readType(limit, place);
      if (usual >= 0) walk.readType(usual, place);
      return [limited];
    });
  }

  return { readMembers, readGenerics, readFunctionType, readObjectType };
}
