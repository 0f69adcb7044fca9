import { type ExpressionFact, OUTSIDE_TYPE, type TypeExpr, UNKNOWN, UNKNOWN_TYPE } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { bindName, createScope } from '../scope.ts';
import { type FunctionParts, isFunctionKind, type SyntaxWalk, type WalkState } from './walk.ts';

/** Maximum returns of a function that are checked. */
const MOST_RETURNS = 4;

/** Reads functions, classes and name-binding patterns. */
export function createDeclarationReader(
  walk: SyntaxWalk,
): Pick<SyntaxWalk, 'readFunction' | 'readClass' | 'bindPattern'> {
  const { nodes, collector } = walk;

  function bindPattern(pattern: NodeId, value: ExpressionFact, place: WalkState): void {
    switch (nodes.kindOf(pattern)) {
      case 'identifier':
      case 'shorthand_property_identifier_pattern':
        bindName(place.scope, nodes.textOf(pattern), { value: ['l', collector.addLocal(value)] });
        break;
      case 'object_pattern':
        for (const entry of nodes.childrenOf(pattern)) bindEntry(entry, value, place);
        break;
      case 'array_pattern':
        bindList(pattern, value, place);
        break;
      case 'assignment_pattern':
        walk.readValue(nodes.childIn(pattern, 'right'), place);
        bindPattern(nodes.childIn(pattern, 'left'), value, place);
        break;
      case 'rest_pattern':
        bindPattern(nodes.childrenOf(pattern)[0] ?? -1, value, place);
        break;
      default:
        break;
    }
  }

  /** Binds a list pattern: in `[a, , b]` an empty element has no node, only a comma. */
  function bindList(pattern: NodeId, value: ExpressionFact, place: WalkState): void {
    let index = 0;
    let from = nodes.startOf(pattern);
    for (const entry of nodes.childrenOf(pattern)) {
      index += nodes.text.slice(from, nodes.startOf(entry)).split(',').length - 1;
      from = nodes.endOf(entry);
      if (nodes.kindOf(entry) === 'rest_pattern') bindPattern(entry, value, place);
      else bindPattern(entry, ['e', value, index], place);
    }
  }

  function bindEntry(entry: NodeId, value: ExpressionFact, place: WalkState): void {
    switch (nodes.kindOf(entry)) {
      case 'shorthand_property_identifier_pattern':
        bindPattern(entry, ['m', value, nodes.textOf(entry)], place);
        break;
      case 'object_assignment_pattern': {
        const left = nodes.childIn(entry, 'left');
        walk.readValue(nodes.childIn(entry, 'right'), place);
        bindPattern(left, ['m', value, nodes.textOf(left)], place);
        break;
      }
      case 'pair_pattern': {
        const key = nodes.textOf(nodes.childIn(entry, 'key')).replace(/^['"](.*)['"]$/, '$1');
        bindPattern(nodes.childIn(entry, 'value'), ['m', value, key], place);
        break;
      }
      case 'rest_pattern':
        bindPattern(nodes.childrenOf(entry)[0] ?? -1, value, place);
        break;
      default:
        break;
    }
  }

  /** Reads a parameter: its type, and its names bound in the function's scope. */
  function readParameter(param: NodeId, place: WalkState, given: ExpressionFact): TypeExpr {
    const kind = nodes.kindOf(param);
    if (kind !== 'required_parameter' && kind !== 'optional_parameter') {
      // A parameter of JavaScript is a pattern.
      bindPattern(param, given, place);
      return UNKNOWN_TYPE;
    }
    for (const decorator of nodes.childrenIn(param, 'decorator')) walk.readValue(decorator, place);
    const annotation = nodes.childIn(param, 'type');
    const usual = nodes.childIn(param, 'value');
    const type = annotation < 0 ? UNKNOWN_TYPE : walk.readType(annotation, place);
    const begin = usual < 0 ? UNKNOWN : walk.readValue(usual, place, annotation < 0 ? undefined : type);
    const value: ExpressionFact = annotation >= 0 ? ['t', type] : usual >= 0 ? begin : given;
    const pattern = nodes.childIn(param, 'pattern');
    if (nodes.kindOf(pattern) !== 'this') bindPattern(pattern, value, place);
    return type;
  }

  function readFunction(
    node: NodeId,
    place: WalkState,
    argument: (index: number) => ExpressionFact = () => UNKNOWN,
  ): FunctionParts {
    const returns: ExpressionFact[] = [];
    const inner: WalkState = { ...place, returns };
    if (place.symbol < 0 || collector.symbols[place.symbol]?.generics === undefined)
      walk.readGenerics(node, -1, inner);
    const single = nodes.childIn(node, 'parameter');
    const list = single >= 0 ? [single] : nodes.childrenOf(nodes.childIn(node, 'parameters'));
    const isThis = (param: NodeId): boolean => nodes.kindOf(nodes.childIn(param, 'pattern')) === 'this';
    for (const param of list.filter(isThis)) {
      const type = readParameter(param, inner, UNKNOWN);
      if (type[0] !== '?' && type[0] !== 'x') inner.thisValue = ['t', type];
    }
    const params = list
      .filter((param) => nodes.kindOf(param) !== 'comment' && !isThis(param))
      .map((param, index) => readParameter(param, inner, argument(index)));
    const annotation = nodes.childIn(node, 'return_type');
    const returnType = annotation < 0 ? undefined : walk.readType(annotation, inner);
    const body = nodes.childIn(node, 'body');
    if (nodes.kindOf(body) === 'statement_block') walk.readBlock(nodes.childrenOf(body), inner);
    else if (body >= 0) returns.push(walk.readValue(body, inner, returnType));
    const isAsync = /\basync\b/.test(nodes.text.slice(nodes.startOf(node), nodes.startOf(list[0] ?? body)));
    return {
      ...(returnType === undefined ? {} : { returnType }),
      returns: returnType === undefined ? returns.slice(0, MOST_RETURNS) : [],
      params,
      isAsync,
    };
  }

  function readHeritage(node: NodeId, place: WalkState): TypeExpr[] {
    const bases: TypeExpr[] = [];
    const readBase = (value: NodeId, types: NodeId): void => {
      const base =
        nodes.kindOf(value) === 'identifier' || nodes.kindOf(value) === 'member_expression'
          ? readBaseName(value, place)
          : walk.readValue(value, place);
      const list = nodes.childrenOf(types).map((each) => walk.readType(each, place));
      bases.push(base[0] === 'x' || base[0] === '?' ? OUTSIDE_TYPE : ['r', base, ...list]);
    };
    for (const heritage of nodes.childrenOf(node)) {
      if (nodes.kindOf(heritage) !== 'class_heritage') continue;
      for (const clause of nodes.childrenOf(heritage)) {
        const kind = nodes.kindOf(clause);
        if (kind === 'extends_clause')
          readBase(nodes.childIn(clause, 'value'), nodes.childIn(clause, 'type_arguments'));
        else if (kind === 'implements_clause')
          for (const type of nodes.childrenOf(clause)) bases.push(readBaseType(type, place));
        else readBase(clause, -1);
      }
    }
    return bases;
  }

  function readBaseName(value: NodeId, place: WalkState): ExpressionFact {
    const before = collector.symbols.length;
    const base = walk.readValue(value, place);
    if (collector.symbols.length === before) walk.refer('inherit', base, value, place);
    return base;
  }

  function readBaseType(type: NodeId, place: WalkState): TypeExpr {
    const read = walk.readType(type, place);
    if (read[0] === 'r') walk.refer('inherit', read[1], type, place);
    return read;
  }

  function readField(member: NodeId, owner: number, place: WalkState): void {
    const nameNode =
      nodes.childIn(member, 'name') >= 0 ? nodes.childIn(member, 'name') : nodes.childIn(member, 'property');
    const name = nodes.textOf(nameNode).replace(/^['"](.*)['"]$/, '$1');
    const value = nodes.childIn(member, 'value');
    const annotation = nodes.childIn(member, 'type');
    const isStatic = /\bstatic\b/.test(nodes.textBefore(member, nameNode));
    const isFunction = isFunctionKind(nodes.kindOf(value));
    const symbol = collector.addSymbol({
      name,
      kind: isFunction ? 'method' : 'field',
      parent: owner,
      node: member,
      body: isFunction ? nodes.childIn(value, 'body') : value,
    });
    const fact = collector.symbols[symbol]!;
    if (isStatic) fact.isStatic = true;
    const inner: WalkState = {
      ...place,
      symbol: isFunction ? symbol : owner,
      self: owner,
      isStatic,
      thisValue: null,
    };
    const type = annotation < 0 ? undefined : walk.readType(annotation, inner);
    if (type !== undefined) fact.type = type;
    if (isFunction) {
      const scope = createScope(place.scope);
      const argument = type === undefined ? undefined : (index: number): ExpressionFact => ['B', type, index];
      const { isAsync, ...parts } = readFunction(value, { ...inner, scope }, argument);
      Object.assign(fact, parts, isAsync && { isAsync });
    } else if (value >= 0) fact.init = walk.readValue(value, inner, type);
  }

  function readMethod(member: NodeId, owner: number, place: WalkState): void {
    const nameNode = nodes.childIn(member, 'name');
    const name = nodes.textOf(nameNode).replace(/^['"](.*)['"]$/, '$1');
    const modifiers = nodes.textBefore(member, nameNode);
    const isStatic = /\bstatic\b/.test(modifiers);
    const isGetter = /\bget\b/.test(modifiers);
    const body = nodes.childIn(member, 'body');
    const known = collector.findDeclared(owner, name).find((at) => {
      const each = collector.symbols[at]!;
      return each.kind === 'method' && !!each.isStatic === isStatic;
    });
    // An overload is declared before the implementation, and a setter next to its getter.
    const isAgain = known !== undefined && nodes.kindOf(member) !== 'abstract_method_signature';
    const symbol = isAgain
      ? known
      : collector.addSymbol({ name, kind: isGetter ? 'field' : 'method', parent: owner, node: member, body });
    const fact = collector.symbols[symbol]!;
    if (isStatic) fact.isStatic = true;
    const scope = createScope(place.scope);
    const inner: WalkState = { ...place, symbol, self: owner, isStatic, thisValue: null, scope };
    const generics = walk.readGenerics(member, symbol, inner);
    if (generics.length > 0) fact.generics = generics;
    for (const decorator of nodes.childrenIn(member, 'decorator')) walk.readValue(decorator, inner);
    const { isAsync, returnType, returns, params } = readFunction(member, inner);
    if (isAgain && body >= 0) {
      fact.end = nodes.endOf(member);
      fact.endLine = nodes.lineAt(fact.end);
    }
    if (isGetter) {
      if (returnType !== undefined) fact.type = returnType;
      else if (returns[0] !== undefined) fact.init = returns[0];
      return;
    }
    // An overload's result type is more exact than the implementation's.
    if (!isAgain || fact.returnType === undefined) {
      Object.assign(fact, { returns, params }, returnType !== undefined && { returnType });
    }
    if (isAsync) fact.isAsync = true;
    if (name === 'constructor') readParameterFields(member, owner, inner);
  }

  /** Reads fields from `constructor(private x: X)`. */
  function readParameterFields(method: NodeId, owner: number, place: WalkState): void {
    for (const param of nodes.childrenOf(nodes.childIn(method, 'parameters'))) {
      const pattern = nodes.childIn(param, 'pattern');
      if (
        pattern < 0 ||
        !/\b(?:public|private|protected|readonly|override)\b/.test(nodes.textBefore(param, pattern))
      )
        continue;
      const symbol = collector.addSymbol({
        name: nodes.textOf(pattern),
        kind: 'field',
        parent: owner,
        node: param,
      });
      const type = nodes.childIn(param, 'type');
      if (type >= 0) collector.symbols[symbol]!.type = walk.readType(type, place);
    }
  }

  return {
    bindPattern,
    readFunction,
    readClass(node, symbol, place) {
      const inner: WalkState = {
        ...place,
        symbol,
        self: symbol,
        isStatic: true,
        thisValue: null,
        scope: createScope(place.scope),
      };
      const name = nodes.childIn(node, 'name');
      if (name >= 0)
        bindName(inner.scope, nodes.textOf(name), { value: ['s', symbol], type: ['r', ['s', symbol]] });
      for (const decorator of nodes.childrenOf(node))
        if (nodes.kindOf(decorator) === 'decorator') walk.readValue(decorator, place);
      const generics = walk.readGenerics(node, symbol, inner);
      if (generics.length > 0) collector.symbols[symbol]!.generics = generics;
      const bases = readHeritage(node, inner);
      if (bases.length > 0) collector.symbols[symbol]!.bases = bases;
      const members = nodes.childrenOf(nodes.childIn(node, 'body'));
      // Fields first: methods assign to them.
      const isField = (kind: string): boolean =>
        kind === 'public_field_definition' || kind === 'field_definition';
      for (const member of members) if (isField(nodes.kindOf(member))) readField(member, symbol, inner);
      for (const member of members) {
        switch (nodes.kindOf(member)) {
          case 'method_definition':
          case 'method_signature':
          case 'abstract_method_signature':
            readMethod(member, symbol, inner);
            break;
          case 'class_static_block':
            walk.readBlock(nodes.childrenOf(nodes.childIn(member, 'body')), {
              ...inner,
              scope: createScope(inner.scope),
            });
            break;
          case 'decorator':
            walk.readValue(member, inner);
            break;
          default:
            break;
        }
      }
    },
  };
}
