import type { SymbolKind } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { bindName, type NameScope } from '../scope.ts';
import { CLASSES, FUNCTIONS } from './kinds.ts';
import { findClassKind, findOwner, isExported, isStaticMethod, isSwiftExtension } from './modifiers.ts';
import type { TableWalk } from './place.ts';

/** Finds the declarations of a file before their uses are read. */
export function createDeclarationFinder(
  walk: TableWalk,
): Pick<TableWalk, 'findName' | 'declare' | 'findBody' | 'bindMembers'> {
  const { nodes, language, collector, symbols, declared } = walk;

  /** Returns the name of a declaration; a C function has it inside its declarator. */
  function findName(node: NodeId): NodeId {
    const name = nodes.childIn(node, 'name');
    if (name >= 0) return name;
    let at = nodes.childIn(node, 'declarator');
    while (at >= 0 && nodes.childIn(at, 'declarator') >= 0) at = nodes.childIn(at, 'declarator');
    if (at >= 0) return at;
    return nodes.childOfKind(node, 'simple_identifier', 'identifier', 'type_identifier');
  }

  function declare(node: NodeId, parent: number, outer: NodeId): void {
    const kind = nodes.kindOf(node);
    const classKind = CLASSES[kind];
    // A mere mention of a type, as in `struct a b;`, declares nothing.
    const body = findBody(node);
    const isClass =
      classKind !== undefined &&
      !(kind.endsWith('_specifier') && body < 0) &&
      !(kind === 'module' && language !== 'ruby') &&
      !(kind === 'type_alias' && language !== 'go');
    // An extension of Swift declares methods of a type, and no type.
    const isExtension = isSwiftExtension(walk, node);
    if ((isClass && !isExtension) || FUNCTIONS.has(kind)) {
      const nameNode = findName(node);
      const name = nodes.textOf(nameNode).split(/::|\./).at(-1)!.trim();
      if (name !== '' || kind.includes('constructor') || kind === 'init_declaration') {
        const owner = isClass ? undefined : findOwner(walk, node, outer);
        const isMethod =
          owner !== undefined ||
          (parent > 0 && ['class', 'interface', 'enum'].includes(symbols[parent]!.kind));
        const symbolKind: SymbolKind = isClass
          ? findClassKind(walk, node, classKind!)
          : isMethod
            ? 'method'
            : 'function';
        const again = isClass ? null : extendOverload(node, parent, name, outer);
        if (again !== null) {
          for (const child of nodes.childrenOf(node)) declare(child, again, node);
          return;
        }
        const symbol = collector.addSymbol({
          name: name === '' || /constructor|^init/.test(kind) ? 'constructor' : name,
          kind: symbolKind,
          parent,
          node,
          body,
        });
        const fact = symbols[symbol]!;
        if (owner !== undefined) fact.owner = owner;
        if (isExported(walk, node, name)) fact.isExported = true;
        if (isMethod && isStaticMethod(walk, node)) fact.isStatic = true;
        declared.set(node, symbol);
        for (const child of nodes.childrenOf(node)) declare(child, symbol, node);
        return;
      }
    }
    const isInside =
      (nodes.kindOf(outer) === 'impl_item' && kind === 'declaration_list') ||
      (kind === 'class_body' && isSwiftExtension(walk, outer));
    const inner = isInside ? outer : node;
    for (const child of nodes.childrenOf(node)) declare(child, parent, inner);
  }

  /** The last `@overload` of each function of Python, of which the implementation is a part. */
  const stubs = new Set<number>();

  /** Adds a declaration to the `@overload` before it, as both are one function; null if it is another. */
  function extendOverload(node: NodeId, parent: number, name: string, outer: NodeId): number | null {
    if (language !== 'python') return null;
    const known = collector.findDeclared(parent, name).find((each) => stubs.has(each)) ?? null;
    const isStub = /^\s*@(?:\w+\.)?overload\b/m.test(nodes.textBefore(outer, node));
    if (known === null) {
      if (isStub) stubs.add(symbols.length);
      return null;
    }
    if (!isStub) stubs.delete(known);
    const fact = symbols[known]!;
    fact.end = nodes.endOf(node);
    fact.endLine = nodes.lineAt(Math.max(fact.start, fact.end - 1));
    declared.set(node, known);
    return known;
  }

  const findBody = (node: NodeId): NodeId => {
    const body = nodes.childIn(node, 'body');
    return body >= 0
      ? body
      : nodes.childOfKind(
          node,
          'function_body',
          'class_body',
          'block',
          'enum_class_body',
          'compound_statement',
          'body_statement',
        );
  };

  /** Binds the direct children of a symbol. */
  function bindMembers(symbol: number, scope: NameScope): void {
    for (const [index, fact] of symbols.entries()) {
      if (fact.parent !== symbol || fact.owner !== undefined) continue;
      const self = ['s', index] as const;
      const isType =
        fact.kind === 'class' || fact.kind === 'interface' || fact.kind === 'enum' || fact.kind === 'type';
      if (fact.kind === 'method' || fact.kind === 'field') continue;
      bindName(scope, fact.name, { value: self, ...(isType ? { type: ['r', self] as const } : {}) });
    }
  }

  return { findName, declare, findBody, bindMembers };
}
