import { type ExpressionFact, OUTSIDE, type SymbolKind, UNKNOWN, UNKNOWN_TYPE } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { bindName, createScope, findValue } from '../scope.ts';
import { stripQuotes } from './values.ts';
import { isClassKind, isFunctionKind, type SyntaxWalk, type WalkState } from './walk.ts';

const isFunctionDeclaration = (kind: string): boolean =>
  kind === 'function_declaration' ||
  kind === 'generator_function_declaration' ||
  kind === 'function_signature';

/** Reads statements: declares names before their uses are read, and collects symbols, imports and exports. */
export function createStatementReader(
  walk: SyntaxWalk,
): Pick<SyntaxWalk, 'readBlock' | 'readStatement' | 'readNamedFunction'> {
  const { nodes, collector, declared } = walk;

  /** Returns the declaration inside an export or an ambient declaration. */
  function findDeclaration(node: NodeId): NodeId {
    const kind = nodes.kindOf(node);
    if (kind === 'export_statement') return findDeclaration(nodes.childIn(node, 'declaration'));
    if (kind === 'ambient_declaration')
      return nodes.childrenOf(node).find((each) => nodes.kindOf(each) !== 'comment') ?? -1;
    if (kind === 'expression_statement') {
      const inner = nodes.childrenOf(node)[0] ?? -1;
      return nodes.kindOf(inner) === 'internal_module' ? inner : node;
    }
    return node;
  }

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

  /** Declares the names of a statement, so that earlier code may use them. */
  function declare(outer: NodeId, place: WalkState): void {
    const node = findDeclaration(outer);
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
    const value = nodes.childIn(node, 'value');
    const isFunction = isFunctionKind(nodes.kindOf(value));
    const isClass = isClassKind(nodes.kindOf(value));
    if (nodes.kindOf(nameNode) !== 'identifier') {
      declarePattern(nameNode, place);
      return;
    }
    const name = nodes.textOf(nameNode);
    if (!isTopLevel(place) && !isFunction && !isClass) {
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

  /** Declares the names of a pattern, which shadow outer ones; their values are known when the statement is read. */
  function declarePattern(pattern: NodeId, place: WalkState): void {
    walk.bindPattern(pattern, UNKNOWN, place);
  }

  const isTopLevel = ({ symbol }: WalkState): boolean => {
    const { kind } = collector.symbols[symbol]!;
    return kind === 'file' || kind === 'namespace';
  };

  function readVariable(node: NodeId, place: WalkState, isExported: boolean): void {
    const nameNode = nodes.childIn(node, 'name');
    const valueNode = nodes.childIn(node, 'value');
    const annotation = nodes.childIn(node, 'type');
    const type = annotation < 0 ? undefined : walk.readType(annotation, place);
    const symbol = declared.get(node);
    if (symbol === undefined) {
      const value = valueNode < 0 ? UNKNOWN : walk.readValue(valueNode, place, type);
      const known: ExpressionFact = type === undefined ? value : ['t', type];
      if (nodes.kindOf(nameNode) === 'identifier') {
        const local = place.scope.names.get(nodes.textOf(nameNode))?.value;
        if (local?.[0] === 'l') collector.locals[local[1]] = known;
        return;
      }
      // Bound again, with the destructured value.
      walk.bindPattern(nameNode, known, place);
      if (isExported) exportPattern(nameNode, place);
      return;
    }
    const fact = collector.symbols[symbol]!;
    if (type !== undefined) fact.type = type;
    if (fact.kind === 'function') readNamedFunction(valueNode, symbol, place, type);
    else if (fact.kind === 'class')
      walk.readClass(valueNode, symbol, { ...place, scope: createScope(place.scope) });
    else if (valueNode >= 0) fact.init = walk.readValue(valueNode, { ...place, symbol }, type);
    if (isExported) collector.addExport({ name: fact.name, value: ['s', symbol] });
  }

  function exportPattern(pattern: NodeId, place: WalkState): void {
    for (const name of namesOf(pattern)) {
      const value = findValue(place.scope, name);
      if (value !== null) collector.addExport({ name, value });
    }
  }

  function namesOf(pattern: NodeId): string[] {
    const kind = nodes.kindOf(pattern);
    if (kind === 'identifier' || kind === 'shorthand_property_identifier_pattern')
      return [nodes.textOf(pattern)];
    if (kind === 'pair_pattern') return namesOf(nodes.childIn(pattern, 'value'));
    if (kind === 'assignment_pattern' || kind === 'object_assignment_pattern')
      return namesOf(nodes.childIn(pattern, 'left'));
    return nodes.childrenOf(pattern).flatMap(namesOf);
  }

  function readNamedFunction(node: NodeId, symbol: number, place: WalkState, type = UNKNOWN_TYPE): void {
    const fact = collector.symbols[symbol]!;
    const isArrow = nodes.kindOf(node) === 'arrow_function';
    const inner: WalkState = {
      ...place,
      symbol,
      scope: createScope(place.scope),
      self: isArrow ? place.self : -1,
      isStatic: isArrow && place.isStatic,
      thisValue: isArrow ? place.thisValue : null,
    };
    const generics = walk.readGenerics(node, symbol, inner);
    const known = type[0] === '?' ? undefined : (index: number): ExpressionFact => ['B', type, index];
    const { isAsync, returnType, returns, params } = walk.readFunction(node, inner, known);
    // The result type is that of the first overload; the body is that of the last.
    if (fact.params !== undefined) {
      fact.end = Math.max(fact.end, nodes.endOf(node));
      fact.endLine = nodes.lineAt(fact.end);
      return;
    }
    if (generics.length > 0) fact.generics = generics;
    Object.assign(
      fact,
      { returns, params },
      returnType !== undefined && { returnType },
      isAsync && { isAsync },
    );
  }

  function readInterface(node: NodeId, place: WalkState): void {
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

  function readEnum(node: NodeId, place: WalkState): void {
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

  function readLoop(node: NodeId, place: WalkState): void {
    const inner = { ...place, scope: createScope(place.scope) };
    const right = walk.readValue(nodes.childIn(node, 'right'), place);
    const left = nodes.childIn(node, 'left');
    const isOf = /\bof\b/.test(
      nodes.text.slice(nodes.endOf(left), nodes.startOf(nodes.childIn(node, 'right'))),
    );
    walk.bindPattern(left, isOf ? ['w', ['e', right]] : OUTSIDE, inner);
    readStatement(nodes.childIn(node, 'body'), inner);
  }

  function readStatement(node: NodeId, place: WalkState, isExported = false): void {
    const kind = nodes.kindOf(node);
    if (isFunctionDeclaration(kind)) {
      const symbol = declared.get(node);
      if (symbol !== undefined) readNamedFunction(node, symbol, { ...place, self: -1 });
      return;
    }
    if (isClassKind(kind)) {
      const symbol = declared.get(node);
      if (symbol !== undefined) walk.readClass(node, symbol, { ...place, scope: createScope(place.scope) });
      return;
    }
    switch (kind) {
      case 'import_statement':
        walk.readImport(node, place);
        return;
      case 'export_statement':
        walk.readExport(node, place);
        return;
      case 'ambient_declaration': {
        const inner = findDeclaration(node);
        if (nodes.kindOf(inner) === 'statement_block') walk.readBlock(nodes.childrenOf(inner), place);
        else readStatement(inner, place, isExported);
        return;
      }
      case 'interface_declaration':
        readInterface(node, place);
        return;
      case 'type_alias_declaration': {
        const symbol = declared.get(node)!;
        const inner = { ...place, symbol, scope: createScope(place.scope) };
        const generics = walk.readGenerics(node, symbol, inner);
        const fact = collector.symbols[symbol]!;
        if (generics.length > 0) fact.generics = generics;
        fact.type = walk.readType(nodes.childIn(node, 'value'), inner);
        return;
      }
      case 'enum_declaration':
        readEnum(node, place);
        return;
      case 'internal_module':
      case 'module': {
        const symbol = declared.get(node)!;
        const scope = createScope(place.scope);
        walk.readBlock(nodes.childrenOf(nodes.childIn(node, 'body')), { ...place, symbol, scope });
        return;
      }
      case 'lexical_declaration':
      case 'variable_declaration':
        for (const each of nodes.childrenOf(node))
          if (nodes.kindOf(each) === 'variable_declarator') readVariable(each, place, isExported);
        return;
      case 'expression_statement': {
        if (nodes.kindOf(findDeclaration(node)) === 'internal_module') {
          readStatement(findDeclaration(node), place);
          return;
        }
        if (walk.readCommonJs(node, place)) return;
        for (const child of nodes.childrenOf(node)) walk.readValue(child, place);
        return;
      }
      case 'return_statement': {
        const [value] = nodes.childrenOf(node).filter((each) => nodes.kindOf(each) !== 'comment');
        if (value !== undefined) place.returns.push(walk.readValue(value, place));
        return;
      }
      case 'for_in_statement':
        readLoop(node, place);
        return;
      case 'statement_block':
      case 'switch_body':
      case 'for_statement':
        walk.readBlock(nodes.childrenOf(node), { ...place, scope: createScope(place.scope) });
        return;
      case 'catch_clause': {
        const inner = { ...place, scope: createScope(place.scope) };
        walk.bindPattern(nodes.childIn(node, 'parameter'), UNKNOWN, inner);
        readStatement(nodes.childIn(node, 'body'), inner);
        return;
      }
      case 'comment':
        return;
      default:
        if (/_statement$|_clause$|^switch_|^ERROR$|^program$/.test(kind)) {
          const children = nodes.childrenOf(node);
          for (const child of children) declare(child, place);
          for (const child of children) readStatement(child, place);
        } else walk.readValue(node, place);
    }
  }

  let depth = 0;
  return {
    readNamedFunction,
    readStatement,
    readBlock(statements, place) {
      depth += 1;
      for (const statement of statements)
        if (nodes.kindOf(statement) === 'import_statement') readStatement(statement, place);
      for (const statement of statements) declare(statement, place);
      for (const statement of statements)
        if (nodes.kindOf(statement) !== 'import_statement') readStatement(statement, place);
      depth -= 1;
      if (depth === 0) walk.exportLater();
    },
  };
}
