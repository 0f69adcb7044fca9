import { type SymbolKind, UNKNOWN } from '../../facts.ts';
import type { FactCollector } from '../collect.ts';
import type { NodeId, SyntaxNodes } from '../nodes.ts';
import { bindName, findValue } from '../scope.ts';
import {
  isClassKind,
  isFunctionDeclaration,
  isFunctionKind,
  type SyntaxWalk,
  stripQuotes,
  type WalkState,
} from './walk.ts';

/** Declares the names of statements before they are read. */
export function createDeclarer(walk: SyntaxWalk): Pick<SyntaxWalk, 'declare'> {
  const { nodes, collector, declared } = walk;

  function declareSymbol(
    node: NodeId,
    outer: NodeId,
    kind: SymbolKind,
    place: WalkState,
    space: 'value' | 'type' | 'both',
  ) {
    const nameNode = nodes.childIn(node, 'name');
    const name = nameNode < 0 ? 'default' : stripQuotes(nodes.textOf(nameNode));
    const isExported = nodes.kindOf(outer) === 'export_statement';
    // Overloads, and an interface declared in parts, are one symbol.
    const known = collector
      .findDeclared(place.symbol, name)
      .find((each) => collector.symbols[each]!.kind === kind);
    if (known !== undefined && findValue(place.scope, name)?.[1] === known) {
      declared.set(node, known);
      return;
    }
    if (known !== undefined && kind === 'interface' && place.scope.names.has(name)) {
      declared.set(node, known);
      return;
    }
    const body = nodes.childIn(node, 'body');
    const symbol = collector.addSymbol({ name, kind, parent: place.symbol, node, outer, body });
    if (isExported) collector.symbols[symbol]!.isExported = true;
    declared.set(node, symbol);
    if (nameNode < 0) return;
    const self = ['s', symbol] as const;
    bindName(place.scope, name, {
      ...(space === 'type' ? {} : { value: self }),
      ...(space === 'value' ? {} : { type: ['r', self] as const }),
    });
  }

  function declare(outer: NodeId, place: WalkState): void {
    const node = findDeclaration(nodes, outer);
    const kind = nodes.kindOf(node);
    if (isFunctionDeclaration(kind)) declareSymbol(node, outer, 'function', place, 'value');
    else if (isClassKind(kind)) declareSymbol(node, outer, 'class', place, 'both');
    else if (kind === 'interface_declaration') declareSymbol(node, outer, 'interface', place, 'type');
    else if (kind === 'type_alias_declaration') declareSymbol(node, outer, 'type', place, 'type');
    else if (kind === 'enum_declaration') declareSymbol(node, outer, 'enum', place, 'both');
    else if (kind === 'internal_module' || kind === 'module') declareNamespace(node, outer, place);
    else if (kind === 'lexical_declaration' || kind === 'variable_declaration')
      for (const each of nodes.childrenOf(node))
        if (nodes.kindOf(each) === 'variable_declarator') declareVariable(each, outer, place);
  }

  function declareNamespace(node: NodeId, outer: NodeId, place: WalkState): void {
    const name = stripQuotes(nodes.textOf(nodes.childIn(node, 'name')));
    const symbol = collector.addSymbol({
      name,
      kind: 'namespace',
      parent: place.symbol,
      node,
      outer,
      body: nodes.childIn(node, 'body'),
    });
    declared.set(node, symbol);
    if (nodes.kindOf(outer) === 'export_statement') collector.symbols[symbol]!.isExported = true;
    // A namespace may extend a class or a function of the same name, which remains the meaning of the name.
    if (findValue(place.scope, name) === null) bindName(place.scope, name, { value: ['s', symbol] });
  }

  /** Declares a variable: outside of functions it is a symbol; inside, a function is. */
  function declareVariable(node: NodeId, outer: NodeId, place: WalkState): void {
    const nameNode = nodes.childIn(node, 'name');
    const value = unwrapCallback(nodes, nodes.childIn(node, 'value'));
    const isFunction = isFunctionKind(nodes.kindOf(value));
    const isClass = isClassKind(nodes.kindOf(value));
    if (nodes.kindOf(nameNode) !== 'identifier') {
      // These shadow outer names; their values are known when the statement is read.
      walk.bindPattern(nameNode, UNKNOWN, place);
      return;
    }
    const name = nodes.textOf(nameNode);
    if (!isTopLevel(collector, place) && !isFunction && !isClass) {
      bindName(place.scope, name, { value: ['l', collector.addLocal(UNKNOWN)] });
      return;
    }
    const symbol = collector.addSymbol({
      name,
      kind: isFunction ? 'function' : isClass ? 'class' : 'variable',
      parent: place.symbol,
      node: outer,
      body: isFunction || isClass ? nodes.childIn(value, 'body') : value,
    });
    if (nodes.kindOf(outer) === 'export_statement') collector.symbols[symbol]!.isExported = true;
    declared.set(node, symbol);
    const self = ['s', symbol] as const;
    bindName(place.scope, name, { value: self, ...(isClass ? { type: ['r', self] as const } : {}) });
  }

  return { declare };
}

/** Returns the function in `useCallback(() => …, [])`, as which its variable is known; any other value as it is. */
export function unwrapCallback(nodes: SyntaxNodes, value: NodeId): NodeId {
  if (nodes.kindOf(value) !== 'call_expression') return value;
  if (!/^(?:React\.)?use(?:Callback|EffectEvent)$/.test(nodes.textOf(nodes.childIn(value, 'function'))))
    return value;
  const [first = -1] = nodes.childrenOf(nodes.childIn(value, 'arguments'));
  return isFunctionKind(nodes.kindOf(first)) ? first : value;
}

const isTopLevel = ({ symbols }: FactCollector, { symbol }: WalkState): boolean =>
  symbols[symbol]!.kind === 'file' || symbols[symbol]!.kind === 'namespace';

/** Returns the declaration inside an export or an ambient declaration. */
export function findDeclaration(nodes: SyntaxNodes, node: NodeId): NodeId {
  const kind = nodes.kindOf(node);
  if (kind === 'export_statement') return findDeclaration(nodes, nodes.childIn(node, 'declaration'));
  if (kind === 'ambient_declaration')
    return nodes.childrenOf(node).find((each) => nodes.kindOf(each) !== 'comment') ?? -1;
  if (kind === 'expression_statement') {
    const inner = nodes.childrenOf(node)[0] ?? -1;
    return nodes.kindOf(inner) === 'internal_module' ? inner : node;
  }
  return node;
}
