import type { ExpressionFact, TypeExpr } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { createScope } from '../scope.ts';
import { isFunctionKind, rebindThis, type SyntaxWalk, stripQuotes, type WalkState } from './walk.ts';

/** Reads an object literal, whose functions are symbols. */
export function readObject(
  walk: SyntaxWalk,
  node: NodeId,
  place: WalkState,
  expected?: TypeExpr,
): ExpressionFact {
  const { nodes, collector } = walk;
  const members: Record<string, ExpressionFact> = Object.create(null);
  const spreads: ExpressionFact[] = [];
  const object: ExpressionFact = ['o', collector.objects.push({ members, spreads }) - 1];
  const self: ExpressionFact = expected === undefined || expected[0] === '?' ? object : ['t', expected];
  for (const entry of nodes.childrenOf(node)) {
    switch (nodes.kindOf(entry)) {
      case 'pair': {
        const key = nodes.childIn(entry, 'key');
        const value = nodes.childIn(entry, 'value');
        if (nodes.kindOf(key) === 'computed_property_name') readAll(walk, key, place);
        const name = stripQuotes(nodes.textOf(key));
        const type: TypeExpr | undefined = expected === undefined ? undefined : ['k', expected, name];
        members[name] = isFunctionKind(nodes.kindOf(value))
          ? nameFunction(walk, value, entry, name, self, place, type)
          : walk.readValue(value, place, type);
        break;
      }
      case 'shorthand_property_identifier': {
        const value = walk.nameValue(entry, place);
        walk.refer('value', value, entry, place);
        members[nodes.textOf(entry)] = value;
        break;
      }
      case 'method_definition': {
        const name = stripQuotes(nodes.textOf(nodes.childIn(entry, 'name')));
        const type: TypeExpr | undefined = expected === undefined ? undefined : ['k', expected, name];
        members[name] = nameFunction(walk, entry, entry, name, self, place, type);
        break;
      }
      case 'spread_element':
        spreads.push(walk.readValue(nodes.childrenOf(entry)[0] ?? -1, place));
        break;
      default:
        readAll(walk, entry, place);
    }
  }
  return object;
}

/** Names a function: as a member of an object literal it is a symbol. */
function nameFunction(
  walk: SyntaxWalk,
  node: NodeId,
  outer: NodeId,
  name: string,
  self: ExpressionFact,
  place: WalkState,
  type: TypeExpr | undefined,
): ExpressionFact {
  const { nodes, collector } = walk;
  const body = nodes.childIn(node, 'body');
  const symbol = collector.addSymbol({ name, kind: 'method', parent: place.symbol, node: outer, body });
  const scope = createScope(place.scope);
  const inner = { ...place, scope, symbol, ...rebindThis(nodes.kindOf(node), place) };
  if (nodes.kindOf(node) !== 'arrow_function') inner.thisValue = self;
  const generics = walk.readGenerics(node, symbol, inner);
  const { isAsync, ...parts } = walk.readFunction(
    node,
    inner,
    type === undefined ? undefined : (index) => ['B', type, index],
  );
  Object.assign(
    collector.symbols[symbol]!,
    parts,
    isAsync && { isAsync },
    generics.length > 0 && { generics },
  );
  return ['s', symbol];
}

const readAll = (walk: SyntaxWalk, node: NodeId, place: WalkState): void => {
  for (const child of walk.nodes.childrenOf(node)) walk.readValue(child, place);
};
