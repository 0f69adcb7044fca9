import { OUTSIDE } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { createScope } from '../scope.ts';
import { type StatementReaders, type SyntaxWalk, stripQuotes, type WalkState } from './walk.ts';

function readInterface(walk: SyntaxWalk, node: NodeId, place: WalkState): void {
  const { nodes, collector, declared } = walk;
  const symbol = declared.get(node)!;
  const inner: WalkState = {
    ...place,
    symbol,
    self: symbol,
    thisValue: null,
    scope: createScope(place.scope),
  };
  const generics = walk.readGenerics(node, symbol, inner);
  const fact = collector.symbols[symbol]!;
  if (generics.length > 0) fact.generics = generics;
  const clause = nodes.childOfKind(node, 'extends_type_clause', 'extends_clause');
  const bases = nodes.childrenOf(clause).map((type) => {
    const read = walk.readType(type, inner);
    if (read[0] === 'r') walk.refer('inherit', read[1], type, inner);
    return read;
  });
  if (bases.length > 0) fact.bases = [...(fact.bases ?? []), ...bases];
  walk.readMembers(nodes.childIn(node, 'body'), symbol, inner);
}

function readEnum(walk: SyntaxWalk, node: NodeId, place: WalkState): void {
  const { nodes, collector, declared } = walk;
  const symbol = declared.get(node)!;
  for (const member of nodes.childrenOf(nodes.childIn(node, 'body'))) {
    const name = nodes.childIn(member, 'name');
    const value = nodes.childIn(member, 'value');
    if (value >= 0) walk.readValue(value, { ...place, symbol });
    if (nodes.kindOf(member) === 'comment') continue;
    const field = collector.addSymbol({
      name: stripQuotes(nodes.textOf(name < 0 ? member : name)),
      kind: 'field',
      parent: symbol,
      node: member,
    });
    collector.symbols[field]!.isStatic = true;
    collector.symbols[field]!.init = OUTSIDE;
  }
}

function readTypeAlias(walk: SyntaxWalk, node: NodeId, place: WalkState): void {
  const { nodes, collector, declared } = walk;
  const symbol = declared.get(node)!;
  const inner = { ...place, symbol, scope: createScope(place.scope) };
  const generics = walk.readGenerics(node, symbol, inner);
  const fact = collector.symbols[symbol]!;
  if (generics.length > 0) fact.generics = generics;
  fact.type = walk.readType(nodes.childIn(node, 'value'), inner);
}

function readNamespace(walk: SyntaxWalk, node: NodeId, place: WalkState): void {
  const { nodes, declared } = walk;
  const symbol = declared.get(node)!;
  const scope = createScope(place.scope);
  walk.readBlock(nodes.childrenOf(nodes.childIn(node, 'body')), { ...place, symbol, scope });
}

/** The readers of interfaces, type aliases, enums and namespaces. */
export const TYPE_DECLARATION_READERS: StatementReaders = {
  interface_declaration: readInterface,
  type_alias_declaration: readTypeAlias,
  enum_declaration: readEnum,
  internal_module: readNamespace,
  module: readNamespace,
};
