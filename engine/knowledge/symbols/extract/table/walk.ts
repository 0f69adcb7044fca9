import type { SyntaxTree } from '../../../sources/index.ts';
import type { FileFacts } from '../../facts.ts';
import { HAS_OVERLOADS } from '../../overloads.ts';
import { createCollector } from '../collect.ts';
import { createNodes } from '../nodes.ts';
import { createScope, findType } from '../scope.ts';
import { createVariableBinder } from './bindings.ts';
import { createTableDeclarationReader } from './declarations.ts';
import { createDeclarationFinder } from './find-declarations.ts';
import { readImports } from './imports.ts';
import { createTableNameReader } from './names.ts';
import type { TableWalk } from './place.ts';
import { createTableTypeReader } from './types.ts';
import { createTableValueReader } from './values.ts';

/**
 * Collects the declarations and references of a file, in languages other than those of the web: their grammars use a
 * few names for the same things, which kinds.ts lists.
 */
export function extractByTable(tree: SyntaxTree, path: string): FileFacts {
  const nodes = createNodes(tree);
  const { language } = tree;
  const collector = createCollector(nodes, path);
  const { symbols } = collector;
  const top = createScope(null);
  const facts: Pick<FileFacts, 'packageName'> = {};
  const types = createTableTypeReader(
    nodes,
    (name, node, place) => {
      const own = name === 'Self' && place.self >= 0 ? (['r', ['s', place.self]] as const) : null;
      const type = own ?? findType(place.scope, name) ?? (['r', ['g', name]] as const);
      if (type[0] === 'r') collector.addReference('type', type[1], node, place.symbol);
      return type;
    },
    HAS_OVERLOADS.has(language),
  );
  const walk = { nodes, language, collector, symbols, declared: new Map(), types, top } as TableWalk;
  Object.assign(
    walk,
    createDeclarationFinder(walk),
    createTableNameReader(walk),
    createVariableBinder(walk),
    createTableDeclarationReader(walk),
    createTableValueReader(walk),
  );
  const statements = nodes.childrenOf(0);
  for (const child of statements) walk.declare(child, 0, 0);
  readImports({ nodes, language, path, collector, scope: top, facts });
  walk.bindMembers(0, top);
  for (const child of statements) walk.readValue(child, { scope: top, symbol: 0, self: -1, returns: [] });
  for (const [index, fact] of symbols.entries())
    if (fact.parent === 0 && fact.kind !== 'file' && fact.owner === undefined)
      collector.addExport({ name: fact.name, value: ['s', index] });
  return { ...collector.finish(tree.errors), ...facts };
}
