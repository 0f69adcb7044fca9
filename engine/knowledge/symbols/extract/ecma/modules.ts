import type { ExpressionFact } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { bindName, createScope, findType, findValue } from '../scope.ts';
import { stripQuotes } from './values.ts';
import { isClassKind, isFunctionKind, type SyntaxWalk, type WalkState } from './walk.ts';

/** Reads the imports and exports of a file, CommonJS included. */
export function createModuleReader(
  walk: SyntaxWalk,
): Pick<SyntaxWalk, 'readImport' | 'readExport' | 'readCommonJs' | 'exportLater'> {
  const { nodes, collector, declared } = walk;
  const later: (() => void)[] = [];

  function readImport(node: NodeId, place: WalkState): void {
    const line = nodes.lineOf(node);
    const required = nodes.childOfKind(node, 'import_require_clause');
    const source = nodes.childIn(required >= 0 ? required : node, 'source');
    const from = stripQuotes(nodes.textOf(source));
    const bind = (name: string, local: string): void => {
      const value: ExpressionFact = ['i', collector.addImport({ from, name, local, line })];
      bindName(place.scope, local, { value, type: ['r', value] });
    };
    if (required >= 0) {
      bind('*', nodes.textOf(nodes.childrenOf(required)[0] ?? -1));
      return;
    }
    const clause = nodes.childOfKind(node, 'import_clause');
    if (clause < 0) collector.addImport({ from, name: '', local: '', line });
    for (const part of nodes.childrenOf(clause)) {
      const kind = nodes.kindOf(part);
      if (kind === 'identifier') bind('default', nodes.textOf(part));
      else if (kind === 'namespace_import') bind('*', nodes.textOf(nodes.childrenOf(part)[0] ?? -1));
      else
        for (const each of nodes.childrenOf(part)) {
          const name = stripQuotes(nodes.textOf(nodes.childIn(each, 'name')));
          const alias = nodes.childIn(each, 'alias');
          if (name !== '') bind(name, alias < 0 ? name : nodes.textOf(alias));
        }
    }
  }

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
    } else if (kind === 'identifier') later.push(() => exportName(nodes.textOf(value), 'default', place));
    else collector.addExport({ name: 'default', value: walk.readValue(value, place) });
  }

  function readDeclared(node: NodeId, outer: NodeId, place: WalkState, isDefault: boolean): void {
    walk.readStatement(node, place, nodes.kindOf(outer) === 'export_statement' && !isDefault);
    const symbol = declared.get(node);
    if (symbol === undefined) return;
    const { name, kind } = collector.symbols[symbol]!;
    if (kind !== 'variable')
      collector.addExport({ name: isDefault ? 'default' : name, value: ['s', symbol] });
  }

  /** Reads `module.exports = …`, `exports.a = …`, `A.prototype.b = function …`, `A.b = function …`. */
  function readCommonJs(node: NodeId, place: WalkState): boolean {
    const assignment = nodes.childrenOf(node)[0] ?? -1;
    if (nodes.kindOf(assignment) !== 'assignment_expression') return false;
    const left = nodes.childIn(assignment, 'left');
    if (nodes.kindOf(left) !== 'member_expression') return false;
    const target = nodes.textOf(left).replace(/\s+/g, '');
    const right = nodes.childIn(assignment, 'right');
    const readExported = (): ExpressionFact => readAssigned(right, node, target, place);
    if (target === 'module.exports') {
      const value = readExported();
      collector.addExport({ name: 'default', value });
      collector.addExport({ name: '=', value });
      const members = value[0] === 'o' ? collector.objects[value[1]]!.members : {};
      for (const [name, member] of Object.entries(members)) collector.addExport({ name, value: member });
      return true;
    }
    const exported = /^(?:module\.)?exports\.([\w$]+)$/.exec(target)?.[1];
    if (exported !== undefined) {
      collector.addExport({ name: exported, value: readExported() });
      return true;
    }
    const [, owner = '', isMethod, name = ''] = /^([\w$]+)\.(prototype\.)?([\w$]+)$/.exec(target) ?? [];
    const value = owner === '' ? null : findValue(place.scope, owner);
    if (value?.[0] !== 's' || !isFunctionKind(nodes.kindOf(right))) return false;
    const symbol = addFunction(right, node, name, value[1]);
    if (isMethod === undefined) collector.symbols[symbol]!.isStatic = true;
    const self = isMethod === undefined ? -1 : value[1];
    walk.readNamedFunction(right, symbol, { ...place, self, isStatic: false });
    return true;
  }

  const addFunction = (value: NodeId, node: NodeId, name: string, parent: number): number =>
    collector.addSymbol({
      name,
      kind: parent > 0 ? 'method' : 'function',
      parent,
      node,
      body: nodes.childIn(value, 'body'),
    });

  function readAssigned(right: NodeId, node: NodeId, target: string, place: WalkState): ExpressionFact {
    if (!isFunctionKind(nodes.kindOf(right))) return walk.readValue(right, place);
    const name = nodes.textOf(nodes.childIn(right, 'name')) || target.split('.').at(-1)!;
    const symbol = addFunction(right, node, name, place.symbol);
    collector.symbols[symbol]!.isExported = true;
    walk.readNamedFunction(right, symbol, place);
    return ['s', symbol];
  }

  return {
    readImport,
    readExport,
    readCommonJs,
    exportLater() {
      for (const work of later.splice(0)) work();
    },
  };
}
