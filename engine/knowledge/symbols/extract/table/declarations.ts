import { type ExpressionFact, type SymbolFact, type TypeExpr, UNKNOWN, UNKNOWN_TYPE } from '../../facts.ts';
import { HAS_OVERLOADS } from '../../overloads.ts';
import type { NodeId } from '../nodes.ts';
import { bindName, createScope } from '../scope.ts';
import { listBases } from './bases.ts';
import { NAMES } from './kinds.ts';
import {
  findParameterList,
  listNames,
  readArity,
  readLabels,
  readParameters,
  readParameterType,
} from './parameters.ts';
import type { TablePlace, TableWalk } from './place.ts';

const MOST_RETURNS = 4;

/** Reads functions and classes, and binds their names. */
export function createTableDeclarationReader(
  walk: TableWalk,
): Pick<TableWalk, 'readFunction' | 'readLambda' | 'readClass'> {
  const { nodes, language, collector, symbols, types } = walk;

  function readFunction(node: NodeId, symbol: number, place: TablePlace): void {
    const fact = symbols[symbol]!;
    const inner: TablePlace = { ...place, symbol, scope: createScope(place.scope), returns: [] };
    walk.bindMembers(symbol, inner.scope);
    const generics = nodes.childIn(node, 'type_parameters');
    for (const param of nodes.childrenOf(generics)) bindGeneric(param, inner);
    readWhere(node, inner);
    const receiver = nodes.childIn(node, 'receiver');
    fact.params = readParameters(walk, node, inner);
    readReceiver(node, fact, inner);
    if (HAS_OVERLOADS.has(language)) {
      const [least, most] = readArity(walk, node);
      // The extended object of C# may also be given as an argument.
      const arity: SymbolFact['arity'] =
        language === 'csharp' && fact.receiver !== undefined ? [least - 1, most] : [least, most];
      if (arity.some((each) => each !== fact.params!.length)) fact.arity = arity;
      if (language === 'swift') fact.labels = readLabels(walk, node);
    }
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
    const after = returned ?? findTypeAfterParameters(walk, node);
    if (after >= 0) {
      const type = types.readType(after, inner);
      // The result of an overload is more exact than the implementation's.
      if (type[0] !== '?') fact.returnType ??= type;
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

  /** Reads the type that a function extends: `this` is its object. */
  function readReceiver(node: NodeId, fact: SymbolFact, place: TablePlace): void {
    if (language === 'kotlin') {
      const type = nodes.childOfKind(node, 'user_type', 'nullable_type');
      if (type < 0 || nodes.startOf(type) > nodes.startOf(walk.findName(node))) return;
      fact.receiver = types.readType(type, place);
      bindName(place.scope, 'this', { value: ['t', fact.receiver] });
    }
    const isExtension = language === 'csharp' && /\(\s*(?:\[[^\]]*\]\s*)?this\s/.test(fact.signature);
    if (!isExtension || fact.params?.[0] === undefined) return;
    [fact.receiver, ...fact.params] = fact.params as [TypeExpr, ...TypeExpr[]];
  }

  /** Reads an anonymous function: its parameters shadow outer names. */
  function readLambda(
    node: NodeId,
    place: TablePlace,
    given?: (param: number) => ExpressionFact,
  ): ExpressionFact {
    const inner: TablePlace = { ...place, scope: createScope(place.scope), returns: [] };
    const list = nodes.childIn(node, 'parameters');
    if (list >= 0) readParameters(walk, node, inner, given);
    for (const child of nodes.childrenOf(node)) if (child !== list) walk.readValue(child, inner);
    return UNKNOWN;
  }

  /** Binds a type parameter: its values are those of its bound. */
  function bindGeneric(param: NodeId, place: TablePlace): void {
    // `[K, V any]` of Go names several at once.
    for (const other of nodes.childrenIn(param, 'name').slice(1))
      bindName(place.scope, nodes.textOf(other), { type: UNKNOWN_TYPE });
    const name = NAMES.has(nodes.kindOf(param)) ? param : nodes.childOfKind(param, ...NAMES);
    if (name < 0) return;
    const text = nodes.textOf(name);
    bindName(place.scope, text, { type: HAS_OVERLOADS.has(language) ? ['?', text] : UNKNOWN_TYPE });
    const bound = nodes.childOfKind(param, 'type_bound', 'user_type');
    const limit = bound < 0 ? UNKNOWN_TYPE : types.readType(nodes.childrenOf(bound)[0] ?? -1, place);
    if (limit[0] !== '?') bindName(place.scope, text, { type: limit });
    limitGeneric(text, param, place);
  }

  /** Reads the traits of a type parameter of Rust, from its declaration or from a `where`. */
  function limitGeneric(name: string, node: NodeId, place: TablePlace): void {
    const bounds = nodes.childOfKind(node, 'trait_bounds');
    if (bounds < 0) return;
    const before = place.scope.names.get(name)?.type ?? UNKNOWN_TYPE;
    const limit = types.readType(bounds, place);
    bindName(place.scope, name, { type: before[0] === '?' ? limit : ['&', before, limit] });
  }

  function readWhere(node: NodeId, place: TablePlace): void {
    for (const each of nodes.childrenOf(nodes.childOfKind(node, 'where_clause')))
      limitGeneric(nodes.textOf(nodes.childIn(each, 'left')), each, place);
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
    for (const param of nodes.childrenOf(nodes.childIn(node, 'type_parameters'))) bindGeneric(param, inner);
    readWhere(node, inner);
    const bases = listBases(nodes, language, node).map((base) => {
      const type = types.readType(base, inner);
      if (type[0] === 'r') collector.addReference('inherit', type[1], base, symbol);
      return type;
    });
    if (bases.length > 0) fact.bases = bases;
    if (language === 'go') {
      const type = nodes.childIn(node, 'type');
      const isAlias = nodes.kindOf(node) === 'type_alias';
      // A named type has methods, and otherwise is what it names; an alias is only another name.
      if (isAlias) fact.type = types.readType(type, inner);
      else if (fact.kind === 'type') fact.bases = [types.readType(type, inner)];
      else walk.readValue(type, inner);
      return;
    }
    const body = walk.findBody(node);
    const header = { ...inner, scope: createScope(inner.scope) };
    readParameters(walk, node, header);
    declareHeaderFields(walk, node, symbol, header);
    if (body >= 0) walk.readValue(body, inner);
  }

  return { readFunction, readLambda, readClass };
}

/** Declares the fields in the header of a class, as records and Kotlin classes have them. */
function declareHeaderFields(walk: TableWalk, node: NodeId, symbol: number, place: TablePlace): void {
  const { nodes, language, collector, symbols } = walk;
  const isRecord = nodes.kindOf(node) === 'record_declaration';
  const list =
    language === 'kotlin'
      ? nodes.childOfKind(nodes.childOfKind(node, 'primary_constructor'), 'class_parameters')
      : isRecord
        ? findParameterList(walk, node)
        : -1;
  for (const param of nodes.childrenOf(list)) {
    const [name = -1] = listNames(walk, param);
    if (!isRecord && !/\bva[lr]\s/.test(nodes.textBefore(param, name))) continue;
    const type = readParameterType(walk, param, -1, place);
    if (name < 0 || collector.findDeclared(symbol, nodes.textOf(name)).length > 0) continue;
    const field = collector.addSymbol({
      name: nodes.textOf(name),
      kind: 'field',
      parent: symbol,
      node: param,
    });
    if (type[0] !== '?') symbols[field]!.type = type;
  }
}

/** Returns the result type after the parameters, for which Kotlin and Swift have no field. */
function findTypeAfterParameters({ nodes, language }: TableWalk, node: NodeId): NodeId {
  if (language !== 'kotlin' && language !== 'swift') return -1;
  const list = nodes.childrenOf(node);
  const at = list.findIndex((each) => nodes.kindOf(each) === 'function_value_parameters');
  const next = at < 0 ? -1 : (list[at + 1] ?? -1);
  return ['user_type', 'nullable_type', 'optional_type'].includes(nodes.kindOf(next)) ? next : -1;
}
