import type { ExpressionFact } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { createScope, findType, findValue } from '../scope.ts';
import { isClassKind, isFunctionKind, type SyntaxWalk, stripQuotes, type WalkState } from './walk.ts';

/** Reads exports. */
export function createExportReader(walk: SyntaxWalk): Pick<SyntaxWalk, 'readExport' | 'exportLater'> {
  const { nodes, collector, declared } = walk;
  const later: (() => void)[] = [];

  function readExport(node: NodeId, place: WalkState): void {
    const source = nodes.childIn(node, 'source');
    const from = stripQuotes(nodes.textOf(source));
    const line = nodes.lineOf(node);
    const isDefault = /^export\s+default\b/.test(nodes.textOf(node).slice(0, 40));
    const clause = nodes.childOfKind(node, 'export_clause');
    const namespace = nodes.childOfKind(node, 'namespace_export');
    const passOn = (name: string): ExpressionFact => [
      'i',
      collector.addImport({ from, name, local: '', line }),
    ];
    for (const decorator of nodes.childrenIn(node, 'decorator')) walk.readValue(decorator, place);
    if (clause >= 0) {
      for (const each of nodes.childrenOf(clause)) {
        const name = stripQuotes(nodes.textOf(nodes.childIn(each, 'name')));
        const alias = nodes.childIn(each, 'alias');
        if (name === '') continue;
        const exported = alias < 0 ? name : stripQuotes(nodes.textOf(alias));
        // A name may be declared below: names are resolved once the file is read.
        if (source >= 0) collector.addExport({ name: exported, value: passOn(name) });
        else later.push(() => exportName(name, exported, place));
      }
    } else if (namespace >= 0)
      collector.addExport({
        name: stripQuotes(nodes.textOf(nodes.childrenOf(namespace)[0] ?? -1)),
        value: passOn('*'),
      });
    else if (source >= 0) collector.addExport({ name: '*', value: passOn('*') });
    else {
      const declaration = nodes.childIn(node, 'declaration');
      const value = nodes.childIn(node, 'value');
      if (declaration >= 0) readDeclared(declaration, node, place, isDefault);
      else if (value >= 0) exportValue(value, node, place);
    }
  }

  function exportName(name: string, exported: string, place: WalkState): void {
    const value = findValue(place.scope, name);
    const type = findType(place.scope, name);
    if (value !== null) {
      collector.addExport({ name: exported, value });
      if (value[0] === 's') collector.symbols[value[1]]!.isExported = true;
    }
    if (type?.[0] === 'r' && JSON.stringify(type[1]) !== JSON.stringify(value)) {
      collector.addExport({ name: exported, value: type[1] });
      if (type[1][0] === 's') collector.symbols[type[1][1]]!.isExported = true;
    }
  }

  /** Reads `export default` and `export =` of a value. */
  function exportValue(value: NodeId, node: NodeId, place: WalkState): void {
    const kind = nodes.kindOf(value);
    const isWhole = /^export\s*=/.test(nodes.textOf(node).slice(0, 20));
    if (isFunctionKind(kind) || isClassKind(kind)) {
      const symbol = collector.addSymbol({
        name: nodes.textOf(nodes.childIn(value, 'name')) || 'default',
        kind: isFunctionKind(kind) ? 'function' : 'class',
        parent: place.symbol,
        node,
        body: nodes.childIn(value, 'body'),
      });
      collector.symbols[symbol]!.isExported = true;
      if (isFunctionKind(kind)) walk.readNamedFunction(value, symbol, place);
      else walk.readClass(value, symbol, { ...place, scope: createScope(place.scope) });
      collector.addExport({ name: 'default', value: ['s', symbol] });
    } else if (kind === 'identifier') {
      later.push(() => exportName(nodes.textOf(value), 'default', place));
      if (isWhole) later.push(() => exportName(nodes.textOf(value), '=', place));
    } else collector.addExport({ name: 'default', value: walk.readValue(value, place) });
  }

  function readDeclared(node: NodeId, outer: NodeId, place: WalkState, isDefault: boolean): void {
    walk.readStatement(node, place, nodes.kindOf(outer) === 'export_statement' && !isDefault);
    const symbol = declared.get(node);
    if (symbol === undefined) return;
    const { name, kind } = collector.symbols[symbol]!;
    if (kind !== 'variable')
      collector.addExport({ name: isDefault ? 'default' : name, value: ['s', symbol] });
  }

  return {
    readExport,
    exportLater() {
      for (const work of later.splice(0)) work();
    },
  };
}
