import { type ExpressionFact, OUTSIDE_TYPE, type TypeExpr } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { bindName, createScope } from '../scope.ts';
import { createClassMemberReaders } from './members.ts';
import type { SyntaxWalk, WalkState } from './walk.ts';

/** Reads classes: their bases, then their members. */
export function createClassReader(walk: SyntaxWalk): Pick<SyntaxWalk, 'readClass'> {
  const { nodes, collector } = walk;
  const { readField, readMethod } = createClassMemberReaders(walk);

  function readHeritage(node: NodeId, place: WalkState): TypeExpr[] {
    const bases: TypeExpr[] = [];
    const readBase = (value: NodeId, types: NodeId): void => {
      const base =
        nodes.kindOf(value) === 'identifier' || nodes.kindOf(value) === 'member_expression'
          ? readBaseName(value, place)
          : walk.readValue(value, place);
      const list = nodes.childrenOf(types).map((each) => walk.readType(each, place));
      bases.push(base[0] === 'x' || base[0] === '?' ? OUTSIDE_TYPE : ['r', base, ...list]);
    };
    for (const heritage of nodes.childrenOf(node)) {
      if (nodes.kindOf(heritage) !== 'class_heritage') continue;
      for (const clause of nodes.childrenOf(heritage)) {
        const kind = nodes.kindOf(clause);
        if (kind === 'extends_clause')
          readBase(nodes.childIn(clause, 'value'), nodes.childIn(clause, 'type_arguments'));
        else if (kind === 'implements_clause')
          for (const type of nodes.childrenOf(clause)) bases.push(readBaseType(type, place));
        else readBase(clause, -1);
      }
    }
    return bases;
  }

  function readBaseName(value: NodeId, place: WalkState): ExpressionFact {
    const before = collector.symbols.length;
    const base = walk.readValue(value, place);
    if (collector.symbols.length === before) walk.refer('inherit', base, value, place);
    return base;
  }

  function readBaseType(type: NodeId, place: WalkState): TypeExpr {
    const read = walk.readType(type, place);
    if (read[0] === 'r') walk.refer('inherit', read[1], type, place);
    return read;
  }

  function readClass(node: NodeId, symbol: number, place: WalkState): void {
    const inner: WalkState = {
      ...place,
      symbol,
      self: symbol,
      isStatic: true,
      thisValue: null,
      scope: createScope(place.scope),
    };
    const name = nodes.childIn(node, 'name');
    if (name >= 0)
      bindName(inner.scope, nodes.textOf(name), { value: ['s', symbol], type: ['r', ['s', symbol]] });
    for (const decorator of nodes.childrenOf(node))
      if (nodes.kindOf(decorator) === 'decorator') walk.readValue(decorator, place);
    const generics = walk.readGenerics(node, symbol, inner);
    if (generics.length > 0) collector.symbols[symbol]!.generics = generics;
    const bases = readHeritage(node, inner);
    if (bases.length > 0) collector.symbols[symbol]!.bases = bases;
    const members = nodes.childrenOf(nodes.childIn(node, 'body'));
    // Fields first: methods assign to them.
    const isField = (kind: string): boolean =>
      kind === 'public_field_definition' || kind === 'field_definition';
    for (const member of members) if (isField(nodes.kindOf(member))) readField(member, symbol, inner);
    for (const member of members) {
      switch (nodes.kindOf(member)) {
        case 'method_definition':
        case 'method_signature':
        case 'abstract_method_signature':
          readMethod(member, symbol, inner);
          break;
        case 'class_static_block':
          walk.readBlock(nodes.childrenOf(nodes.childIn(member, 'body')), {
            ...inner,
            scope: createScope(inner.scope),
          });
          break;
        case 'decorator':
          walk.readValue(member, inner);
          break;
        default:
          break;
      }
    }
  }

  return { readClass };
}
