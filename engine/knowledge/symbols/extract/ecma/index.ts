import type { SyntaxTree } from '../../../sources/index.ts';
import type { FileFacts } from '../../facts.ts';
import { createCollector } from '../collect.ts';
import { createNodes } from '../nodes.ts';
import { createScope } from '../scope.ts';
import { createClassReader } from './classes.ts';
import { createCommonJsReader } from './common-js.ts';
import { createDeclarer } from './declare.ts';
import { createExportReader } from './exports.ts';
import { createFunctionReader } from './functions.ts';
import { createImportReader } from './imports.ts';
import { createPatternBinder } from './patterns.ts';
import { createStatementReader } from './statements.ts';
import { createEcmaTypeReader } from './types.ts';
import { createValueReader } from './values.ts';
import type { SyntaxWalk } from './walk.ts';

/** Collects the declarations, imports and references of a TypeScript or JavaScript file. */
export function extractEcma(tree: SyntaxTree, path: string): FileFacts {
  const nodes = createNodes(tree);
  const collector = createCollector(nodes, path);
  const walk = {
    nodes,
    collector,
    declared: new Map(),
    refer(kind, value, node, place) {
      // Only names that may be declared elsewhere, or are symbols: values of local variables are not.
      const isNamed = value[0] === 's' || value[0] === 'i' || value[0] === 'm' || value[0] === 'g';
      if (kind === 'value' && !isNamed) return;
      collector.addReference(kind, value, node, place.symbol);
    },
  } as SyntaxWalk;
  Object.assign(
    walk,
    createEcmaTypeReader(walk),
    createValueReader(walk),
    createDeclarer(walk),
    createPatternBinder(walk),
    createFunctionReader(walk),
    createClassReader(walk),
    createImportReader(walk),
    createExportReader(walk),
    createCommonJsReader(walk),
    createStatementReader(walk),
  );
  walk.readBlock(nodes.childrenOf(0), {
    scope: createScope(null),
    symbol: 0,
    self: -1,
    isStatic: false,
    thisValue: null,
    returns: [],
  });
  return collector.finish(tree.errors);
}
