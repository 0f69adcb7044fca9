import { type ExpressionFact, type TypeExpr, UNKNOWN, UNKNOWN_TYPE } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { bindName, createScope, type NameScope } from '../scope.ts';
import { LAMBDAS, NAMES } from './kinds.ts';
import type { TablePlace, TableWalk } from './place.ts';

const MOST_RETURNS = 4;

/** Reads variables, functions and classes, and binds their names. */
export function createTableDeclarationReader(
  walk: TableWalk,
): Pick<
  TableWalk,
  'bindLocal' | 'declareVariable' | 'readFunction' | 'readLambda' | 'readClass' | 'readLoop'
> {
  const { nodes, language, collector, symbols, types } = walk;

  function bindLocal(pattern: NodeId, value: ExpressionFact, place: TablePlace): void {
    const kind = nodes.kindOf(pattern);
    if (NAMES.has(kind)) {
      const name = nodes.textOf(pattern);
      const known = place.scope.names.get(name)?.value;
      // A reassigned variable keeps its first type, unless that was unknown.
      if (known?.[0] === 'l' && collector.locals[known[1]]?.[0] !== '?') return;
      bindName(place.scope, name, { value: ['l', collector.addLocal(value)] });
      return;
    }
    const children = nodes.childrenOf(pattern);
    if (kind === 'tuple_struct_pattern') {
      // `Some(x)`, `Ok(x)`: the content of an option or result; unknown for others.
      const isKnown = /^(?:Some|Ok)$/.test(nodes.textOf(nodes.childIn(pattern, 'type')));
      for (const child of children.slice(1)) bindLocal(child, isKnown ? ['e', value] : UNKNOWN, place);
      return;
    }
    if (/list$|tuple|pattern|expression_list|declarator|variable_declaration/.test(kind)) {
      const isSingle =
        children.length === 1 || /declarator|mut_pattern|^pattern$|variable_declaration/.test(kind);
      for (const [index, child] of children.entries()) {
        bindLocal(child, isSingle ? value : ['e', value, index], place);
        if (isSingle) break;
      }
      return;
    }
    if (walk.memberOf(pattern) !== null) setField(pattern, value, place);
    else if (children.length > 0) walk.readValue(pattern, place);
  }

  /** Sets a field: `self.a = b` declares it unless it is declared elsewhere. */
  function setField(pattern: NodeId, value: ExpressionFact, place: TablePlace): void {
    const { object, name } = walk.memberOf(pattern)!;
    const target = walk.readTarget(object, place);
    if (target[0] !== 'self' || language !== 'python') return;
    const known = symbols[collector.findDeclared(place.self, name)[0] ?? -1];
    if (known === undefined) {
      const added = collector.addSymbol({ name, kind: 'field', parent: place.self, node: pattern });
      symbols[added]!.init = value;
    } else if (known.kind === 'field' && known.init === undefined && known.type === undefined)
      known.init = value;
  }

  /** Declares a variable with a type, a value, or both: outside of functions it is a symbol. */
  function declareVariable(
    nameNode: NodeId,
    typeNode: NodeId,
    valueNode: NodeId,
    outer: NodeId,
    place: TablePlace,
  ): void {
    const type = typeNode < 0 ? UNKNOWN_TYPE : types.readType(typeNode, place);
    const value = valueNode < 0 ? UNKNOWN : walk.readValue(valueNode, place);
    const known: ExpressionFact = type[0] === '?' ? value : ['t', type];
    const holder = symbols[place.symbol]!;
    const isInFunction = holder.kind === 'function' || holder.kind === 'method';
    if (isInFunction || !NAMES.has(nodes.kindOf(nameNode))) {
      bindLocal(nameNode, known, place);
      return;
    }
    const name = nodes.textOf(nameNode);
    const isField = holder.kind === 'class' || holder.kind === 'interface' || holder.kind === 'enum';
    const symbol = collector.addSymbol({
      name,
      kind: isField ? 'field' : 'variable',
      parent: place.symbol,
      node: outer,
    });
    const fact = symbols[symbol]!;
    if (type[0] !== '?') fact.type = type;
    fact.init = value;
    if (walk.isExported(outer, name)) fact.isExported = true;
    if (!isField) bindName(place.scope, name, { value: ['s', symbol] });
    else if (/\bstatic\b|\bconst\b/.test(nodes.textBefore(outer, nameNode))) fact.isStatic = true;
  }

  function readParameters(node: NodeId, place: TablePlace): TypeExpr[] {
    let list = nodes.childIn(node, 'parameters');
    if (list < 0) list = nodes.childIn(nodes.childIn(node, 'declarator'), 'parameters');
    if (list < 0)
      list = nodes.childOfKind(node, 'function_value_parameters', 'parameter_list', 'class_parameters');
    const params =
      list < 0
        ? nodes.childrenOf(node).filter((each) => nodes.kindOf(each) === 'parameter')
        : NAMES.has(nodes.kindOf(list))
          ? [list]
          : nodes.childrenOf(list);
    return params.flatMap((param, index): TypeExpr[] => {
      const kind = nodes.kindOf(param);
      if (kind === 'comment' || kind === 'self_parameter') return [];
      const typeNode =
        nodes.childIn(param, 'type') >= 0
          ? nodes.childIn(param, 'type')
          : nodes.childOfKind(param, 'user_type', 'nullable_type');
      const one = typeNode < 0 ? UNKNOWN_TYPE : types.readType(typeNode, place);
      const type: TypeExpr = kind === 'variadic_parameter_declaration' ? ['a', one] : one;
      const usual = nodes.childIn(param, 'value');
      const begin = usual < 0 ? UNKNOWN : walk.readValue(usual, place);
      let names = nodes.childrenIn(param, 'name');
      if (names.length === 0)
        names = [
          nodes.childIn(param, 'pattern') >= 0
            ? nodes.childIn(param, 'pattern')
            : nodes.childIn(param, 'declarator'),
        ].filter((each) => each >= 0);
      if (names.length === 0)
        names = NAMES.has(kind) ? [param] : [nodes.childOfKind(param, ...NAMES)].filter((each) => each >= 0);
      const isOwn =
        language === 'python' &&
        index === 0 &&
        typeNode < 0 &&
        !LAMBDAS.has(nodes.kindOf(node)) &&
        symbols[place.symbol]?.kind === 'method';
      if (isOwn && isClassMethod(node)) {
        bindName(place.scope, nodes.textOf(param), { value: ['s', place.self] });
        return [];
      }
      for (const name of names)
        bindLocal(name, isOwn ? ['self', place.self] : type[0] !== '?' ? ['t', type] : begin, place);
      return isOwn ? [] : names.map(() => type);
    });
  }

  /** Reports whether a function is a Python class method, whose first parameter is the class. */
  const isClassMethod = (node: NodeId): boolean =>
    /@classmethod\s*\n(?:\s*@[^\n]{0,80}\n){0,4}\s*(?:async\s+)?$/.test(
      nodes.text.slice(Math.max(0, nodes.startOf(node) - 400), nodes.startOf(node)),
    );

  function readFunction(node: NodeId, symbol: number, place: TablePlace): void {
    const fact = symbols[symbol]!;
    const inner: TablePlace = { ...place, symbol, scope: createScope(place.scope), returns: [] };
    walk.bindMembers(symbol, inner.scope);
    const generics = nodes.childIn(node, 'type_parameters');
    for (const param of nodes.childrenOf(generics)) bindGeneric(param, inner.scope);
    const receiver = nodes.childIn(node, 'receiver');
    fact.params = readParameters(node, inner);
    if (receiver >= 0 && language === 'go')
      for (const param of nodes.childrenOf(receiver)) {
        const name = nodes.childIn(param, 'name');
        if (name >= 0)
          bindName(inner.scope, nodes.textOf(name), {
            value: ['l', collector.addLocal(['t', types.readType(nodes.childIn(param, 'type'), inner)])],
          });
      }
    const returned = ['return_type', 'result', 'returns', 'type']
      .map((each) => nodes.childIn(node, each))
      .find((each) => each >= 0);
    const after = returned ?? afterParameters(node);
    if (after >= 0) {
      const type = types.readType(after, inner);
      if (type[0] !== '?') fact.returnType = type;
    }
    if (/\basync\b/.test(nodes.textBefore(node, walk.findName(node)))) fact.isAsync = true;
    const body = walk.findBody(node);
    for (const child of nodes.childrenOf(node))
      if (
        nodes.kindOf(child) === 'field_initializer_list' ||
        nodes.kindOf(child) === 'constructor_initializer'
      )
        walk.readValue(child, inner);
    if (body >= 0) {
      const last = walk.readValue(body, inner);
      // A function of these languages returns the last expression of its block.
      if (last[0] !== '?' && inner.returns.length === 0 && language === 'rust') inner.returns.push(last);
    }
    if (fact.returnType === undefined) fact.returns = inner.returns.slice(0, MOST_RETURNS);
  }

  /** Reads an anonymous function: its parameters shadow outer names. */
  function readLambda(node: NodeId, place: TablePlace): void {
    const inner: TablePlace = { ...place, scope: createScope(place.scope), returns: [] };
    const list = nodes.childIn(node, 'parameters');
    if (list >= 0) readParameters(node, inner);
    for (const child of nodes.childrenOf(node)) if (child !== list) walk.readValue(child, inner);
  }

  /** Returns the result type after the parameters, for which Kotlin and Swift have no field. */
  function afterParameters(node: NodeId): NodeId {
    if (language !== 'kotlin' && language !== 'swift') return -1;
    const list = nodes.childrenOf(node);
    const at = list.findIndex((each) => nodes.kindOf(each) === 'function_value_parameters');
    const next = at < 0 ? -1 : (list[at + 1] ?? -1);
    return ['user_type', 'nullable_type', 'optional_type'].includes(nodes.kindOf(next)) ? next : -1;
  }

  function bindGeneric(param: NodeId, scope: NameScope): void {
    const name = NAMES.has(nodes.kindOf(param)) ? param : nodes.childOfKind(param, ...NAMES);
    if (name >= 0) bindName(scope, nodes.textOf(name), { type: UNKNOWN_TYPE });
  }

  function readClass(node: NodeId, symbol: number, place: TablePlace): void {
    const inner: TablePlace = {
      ...place,
      symbol,
      self: symbol,
      scope: createScope(place.scope),
      returns: [],
    };
    const fact = symbols[symbol]!;
    const isSpace = fact.kind === 'namespace';
    if (isSpace) inner.self = -1;
    walk.bindMembers(symbol, inner.scope);
    for (const param of nodes.childrenOf(nodes.childIn(node, 'type_parameters')))
      bindGeneric(param, inner.scope);
    const bases = types.listBases(node).map((base) => {
      const type = types.readType(base, inner);
      if (type[0] === 'r') collector.addReference('inherit', type[1], base, symbol);
      return type;
    });
    if (bases.length > 0) fact.bases = bases;
    if (language === 'go') {
      const type = nodes.childIn(node, 'type');
      if (fact.kind === 'type') fact.type = types.readType(type, inner);
      else walk.readValue(type, inner);
      return;
    }
    const body = walk.findBody(node);
    // The header may have parameters that are fields, as in records and Kotlin classes.
    readParameters(node, { ...inner, scope: createScope(inner.scope) });
    if (body >= 0) walk.readValue(body, inner);
  }

  function readLoop(node: NodeId, place: TablePlace): ExpressionFact {
    const left =
      ['left', 'pattern', 'name'].map((each) => nodes.childIn(node, each)).find((each) => each >= 0) ?? -1;
    const right = ['right', 'value'].map((each) => nodes.childIn(node, each)).find((each) => each >= 0) ?? -1;
    const type = nodes.childIn(node, 'type');
    if (right >= 0 && left >= 0) {
      const value = walk.readValue(right, place);
      const known: ExpressionFact =
        type >= 0 && !types.isInferred(type) ? ['t', types.readType(type, place)] : ['e', value];
      // Go gives the index first.
      if (nodes.kindOf(node) === 'range_clause') {
        const [, second] = nodes.childrenOf(left);
        if (second !== undefined) bindLocal(second, ['e', value], place);
      } else bindLocal(left, known, place);
    }
    for (const child of nodes.childrenOf(node))
      if (child !== left && child !== right && child !== type) walk.readValue(child, place);
    return UNKNOWN;
  }

  return { bindLocal, declareVariable, readFunction, readLambda, readClass, readLoop };
}
