import { type ExpressionFact, OUTSIDE, type TypeExpr, UNKNOWN } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { createScope, findValue } from '../scope.ts';
import { isClassKind, isFunctionKind, type SyntaxWalk, type WalkState } from './walk.ts';

const LITERALS = new Set([
  'string',
  'template_string',
  'number',
  'true',
  'false',
  'null',
  'undefined',
  'regex',
  'unary_expression',
  'update_expression',
]);

const PROMISES = /^Promise\s*\.\s*(?:all|race|any)$/;
/** Maximum inspected elements of a list, which are mostly alike. */
const MOST_ITEMS = 8;

/** Reads expressions, with a reference for each call and each name used as a value. */
export function createValueReader(walk: SyntaxWalk): Pick<SyntaxWalk, 'readValue'> {
  const { nodes, collector } = walk;

  const readAll = (node: NodeId, place: WalkState): void => {
    for (const child of nodes.childrenOf(node)) readValue(child, place);
  };

  /** Reads a name without a reference: its call adds one itself. */
  function nameValue(node: NodeId, place: WalkState): ExpressionFact {
    const name = nodes.textOf(node);
    return findValue(place.scope, name) ?? (name === 'undefined' ? OUTSIDE : ['g', name]);
  }

  /** Reads a value that is called or whose member is accessed: like `readValue`, without a reference as a value. */
  function readTarget(node: NodeId, place: WalkState): ExpressionFact {
    switch (nodes.kindOf(node)) {
      case 'identifier':
        return nameValue(node, place);
      case 'member_expression':
        return readMember(node, place);
      case 'parenthesized_expression':
      case 'non_null_expression':
        return readTarget(nodes.childrenOf(node)[0] ?? -1, place);
      case 'instantiation_expression':
        return readTarget(nodes.childrenOf(node)[0] ?? -1, place);
      default:
        return readValue(node, place);
    }
  }

  function readMember(node: NodeId, place: WalkState): ExpressionFact {
    const object = readTarget(nodes.childIn(node, 'object'), place);
    return ['m', object, nodes.textOf(nodes.childIn(node, 'property'))];
  }

  /** Reads the arguments of a call; their types, if the function is unknown. */
  function readArguments(node: NodeId, callee: ExpressionFact, place: WalkState): ExpressionFact[] {
    const list = nodes.childrenOf(node).filter((each) => nodes.kindOf(each) !== 'comment');
    return list.map((argument, index) => {
      if (!isFunctionKind(nodes.kindOf(argument))) return readValue(argument, place);
      walk.readFunction(
        argument,
        { ...place, scope: createScope(place.scope), ...rebindThis(argument, place) },
        (param) => ['b', callee, index, param],
      );
      return UNKNOWN;
    });
  }

  /** Returns the result type of built-in functions for an argument; null for others. */
  function applyBuiltIn(
    name: string,
    given: readonly ExpressionFact[],
    place: WalkState,
  ): ExpressionFact | null {
    const [whole, owner] = /^(Object|Array)\s*\.\s*\w+$|^structuredClone$/.exec(name) ?? [];
    const [first] = given;
    if (whole === undefined || first === undefined || given.length > 1) return null;
    if (findValue(place.scope, owner ?? whole) !== null) return null;
    switch (whole.replace(/\s/g, '')) {
      case 'Object.values':
      case 'Array.from':
        return ['y', ['e', first]];
      case 'Object.entries':
        return ['y', ['y', OUTSIDE, ['e', first]]];
      case 'Object.freeze':
      case 'Object.seal':
      case 'structuredClone':
        return first;
      default:
        return null;
    }
  }

  /** Rebinds `this`: only an arrow function has the surrounding one. */
  const rebindThis = (node: NodeId, place: WalkState): Pick<WalkState, 'self' | 'isStatic' | 'thisValue'> =>
    nodes.kindOf(node) === 'arrow_function'
      ? { self: place.self, isStatic: place.isStatic, thisValue: place.thisValue }
      : { self: -1, isStatic: false, thisValue: null };

  function readTypeArguments(node: NodeId, place: WalkState): TypeExpr[] {
    const list = nodes.childIn(node, 'type_arguments');
    return nodes.childrenOf(list).map((each) => walk.readType(each, place));
  }

  function readCall(node: NodeId, place: WalkState): ExpressionFact {
    const target = nodes.childIn(node, 'function');
    const list = nodes.childIn(node, 'arguments');
    if (nodes.kindOf(target) === 'import') return readDynamicImport(node, list, place);
    readTypeArguments(node, place);
    if (nodes.kindOf(target) === 'super') {
      if (place.self >= 0) walk.refer('call', ['super', place.self], node, place);
      readArguments(list, UNKNOWN, place);
      return OUTSIDE;
    }
    const name = nodes.textOf(target);
    if (name === 'require' && findValue(place.scope, 'require') === null) {
      const from = nodes.childOfKind(list, 'string');
      if (from >= 0) return importWhole(from, node);
    }
    const callee = readTarget(target, place);
    walk.refer('call', callee, target, place);
    const all = PROMISES.test(name) ? nodes.childOfKind(list, 'array') : -1;
    if (all >= 0) {
      // The combined results of all of them, by position.
      const values = nodes.childrenOf(all).map((each): ExpressionFact => ['w', readValue(each, place)]);
      return ['y', ...values.slice(0, MOST_ITEMS)];
    }
    if (nodes.kindOf(list) !== 'template_string')
      return applyBuiltIn(name, readArguments(list, callee, place), place) ?? ['c', callee];
    readAll(list, place);
    return ['c', callee];
  }

  /** Reads a module as one value, by its specifier. */
  function importWhole(from: NodeId, node: NodeId): ExpressionFact {
    const line = nodes.lineOf(node);
    return ['i', collector.addImport({ from: stripQuotes(nodes.textOf(from)), name: '*', local: '', line })];
  }

  function readDynamicImport(node: NodeId, list: NodeId, place: WalkState): ExpressionFact {
    const from = nodes.childOfKind(list, 'string');
    if (from >= 0) return importWhole(from, node);
    readAll(list, place);
    return UNKNOWN;
  }

  function readNew(node: NodeId, place: WalkState): ExpressionFact {
    const callee = readTarget(nodes.childIn(node, 'constructor'), place);
    const types = readTypeArguments(node, place);
    walk.refer('new', callee, node, place);
    readArguments(nodes.childIn(node, 'arguments'), callee, place);
    return ['n', callee, ...types];
  }

  function readObject(node: NodeId, place: WalkState, expected: TypeExpr | undefined): ExpressionFact {
    const members: Record<string, ExpressionFact> = Object.create(null);
    const spreads: ExpressionFact[] = [];
    const object: ExpressionFact = ['o', collector.objects.push({ members, spreads }) - 1];
    const self: ExpressionFact = expected === undefined || expected[0] === '?' ? object : ['t', expected];
    for (const entry of nodes.childrenOf(node)) {
      switch (nodes.kindOf(entry)) {
        case 'pair': {
          const key = nodes.childIn(entry, 'key');
          const value = nodes.childIn(entry, 'value');
          if (nodes.kindOf(key) === 'computed_property_name') readAll(key, place);
          const name = stripQuotes(nodes.textOf(key));
          const type: TypeExpr | undefined = expected === undefined ? undefined : ['k', expected, name];
          members[name] = isFunctionKind(nodes.kindOf(value))
            ? nameFunction(value, entry, name, self, place, type)
            : readValue(value, place, type);
          break;
        }
        case 'shorthand_property_identifier': {
          const value = nameValue(entry, place);
          walk.refer('value', value, entry, place);
          members[nodes.textOf(entry)] = value;
          break;
        }
        case 'method_definition': {
          const name = stripQuotes(nodes.textOf(nodes.childIn(entry, 'name')));
          const type: TypeExpr | undefined = expected === undefined ? undefined : ['k', expected, name];
          members[name] = nameFunction(entry, entry, name, self, place, type);
          break;
        }
        case 'spread_element':
          spreads.push(readValue(nodes.childrenOf(entry)[0] ?? -1, place));
          break;
        default:
          readAll(entry, place);
      }
    }
    return object;
  }

  /** Names a function: as a member of an object literal it is a symbol. */
  function nameFunction(
    node: NodeId,
    outer: NodeId,
    name: string,
    self: ExpressionFact,
    place: WalkState,
    type: TypeExpr | undefined,
  ): ExpressionFact {
    const body = nodes.childIn(node, 'body');
    const symbol = collector.addSymbol({ name, kind: 'method', parent: place.symbol, node: outer, body });
    const scope = createScope(place.scope);
    const inner = { ...place, scope, symbol, ...rebindThis(node, place) };
    if (nodes.kindOf(node) !== 'arrow_function') inner.thisValue = self;
    const generics = walk.readGenerics(node, symbol, inner);
    const { isAsync, ...parts } = walk.readFunction(
      node,
      inner,
      type === undefined ? undefined : (index) => ['B', type, index],
    );
    Object.assign(
      collector.symbols[symbol]!,
      parts,
      isAsync && { isAsync },
      generics.length > 0 && { generics },
    );
    return ['s', symbol];
  }

  function readElement(node: NodeId, place: WalkState): ExpressionFact {
    const open = nodes.kindOf(node) === 'jsx_element' ? nodes.childIn(node, 'open_tag') : node;
    const tag = nodes.childIn(open, 'name');
    const name = nodes.textOf(tag);
    // A lower-case letter starts an element of the page.
    if (tag >= 0 && (/^[A-Z_$]/.test(name) || name.includes('.'))) {
      const parts = name.split('.');
      const first = findValue(place.scope, parts[0]!) ?? (['g', parts[0]!] as const);
      walk.refer(
        'jsx',
        parts.slice(1).reduce((at, part): ExpressionFact => ['m', at, part], first),
        tag,
        place,
      );
    }
    for (const child of nodes.childrenOf(open)) if (child !== tag) readValue(child, place);
    if (open !== node)
      for (const child of nodes.childrenOf(node)) if (child !== open) readValue(child, place);
    return OUTSIDE;
  }

  function readAssignment(node: NodeId, place: WalkState): ExpressionFact {
    const left = nodes.childIn(node, 'left');
    const right = nodes.childIn(node, 'right');
    const value = readValue(right, place);
    if (nodes.kindOf(left) === 'identifier') {
      const target = findValue(place.scope, nodes.textOf(left));
      // A variable without an initial value has the type of its first assignment.
      if (target?.[0] === 'l' && collector.locals[target[1]]?.[0] === '?')
        collector.locals[target[1]] = value;
    } else if (nodes.kindOf(left) === 'member_expression') {
      const object = nodes.childIn(left, 'object');
      if (nodes.kindOf(object) === 'this' && place.self >= 0)
        setField(place.self, nodes.textOf(nodes.childIn(left, 'property')), value, left);
      else readTarget(object, place);
    } else readValue(left, place);
    return value;
  }

  /** Sets an undeclared field, which has the values that the class's own code assigns. */
  function setField(owner: number, name: string, value: ExpressionFact, node: NodeId): void {
    const [at = -1] = collector.findDeclared(owner, name);
    const field = collector.symbols[at];
    if (field === undefined) {
      const added = collector.addSymbol({ name, kind: 'field', parent: owner, node });
      collector.symbols[added]!.init = value;
    } else if (field.kind === 'field' && field.type === undefined && field.init === undefined)
      field.init = value;
  }

  function readValue(node: NodeId, place: WalkState, expected?: TypeExpr): ExpressionFact {
    const kind = nodes.kindOf(node);
    switch (kind) {
      case '':
      case 'comment':
        return UNKNOWN;
      case 'identifier': {
        const value = nameValue(node, place);
        walk.refer('value', value, node, place);
        return value;
      }
      case 'this':
        if (place.thisValue !== null) return place.thisValue;
        if (place.self < 0) return UNKNOWN;
        return place.isStatic ? ['s', place.self] : ['self', place.self];
      case 'super':
        return place.self < 0 ? UNKNOWN : ['super', place.self];
      case 'member_expression': {
        const value = readMember(node, place);
        walk.refer('value', value, node, place);
        return value;
      }
      case 'subscript_expression': {
        const object = readTarget(nodes.childIn(node, 'object'), place);
        const index = nodes.childIn(node, 'index');
        readValue(index, place);
        if (nodes.kindOf(index) === 'string') return ['m', object, stripQuotes(nodes.textOf(index))];
        return ['e', object];
      }
      case 'call_expression':
        return readCall(node, place);
      case 'new_expression':
        return readNew(node, place);
      case 'await_expression':
        return ['w', readValue(nodes.childrenOf(node)[0] ?? -1, place)];
      case 'parenthesized_expression':
      case 'non_null_expression':
      case 'instantiation_expression':
        return readValue(nodes.childrenOf(node)[0] ?? -1, place, expected);
      case 'as_expression':
      case 'satisfies_expression': {
        const [value, type] = nodes.childrenOf(node);
        const read = readValue(value ?? -1, place);
        if (type === undefined || nodes.kindOf(type) === 'comment') return read;
        const asserted = walk.readType(type, place);
        return asserted[0] === '?' || kind === 'satisfies_expression' ? read : ['t', asserted];
      }
      case 'type_assertion': {
        const [type, value] = nodes.childrenOf(node);
        readValue(value ?? -1, place);
        return ['t', walk.readType(nodes.childrenOf(type ?? -1)[0] ?? -1, place)];
      }
      case 'ternary_expression': {
        readValue(nodes.childIn(node, 'condition'), place);
        const one = readValue(nodes.childIn(node, 'consequence'), place, expected);
        const other = readValue(nodes.childIn(node, 'alternative'), place, expected);
        return ['|', one, other];
      }
      case 'binary_expression': {
        const left = readValue(nodes.childIn(node, 'left'), place);
        const right = readValue(nodes.childIn(node, 'right'), place);
        const operator = nodes.textOf(nodes.childIn(node, 'operator')) || between(node);
        if (operator === '??' || operator === '||') return ['|', left, right];
        return operator === '&&' ? right : OUTSIDE;
      }
      case 'assignment_expression':
      case 'augmented_assignment_expression':
        return readAssignment(node, place);
      case 'sequence_expression':
        return (
          nodes
            .childrenOf(node)
            .map((each) => readValue(each, place))
            .at(-1) ?? UNKNOWN
        );
      case 'array': {
        const values = nodes.childrenOf(node).map((each) => readValue(each, place));
        return values.length === 0 ? OUTSIDE : ['y', ...values.slice(0, MOST_ITEMS)];
      }
      case 'spread_element':
        return ['e', readValue(nodes.childrenOf(node)[0] ?? -1, place)];
      case 'object':
        return readObject(node, place, expected);
      case 'arrow_function':
      case 'function_expression':
      case 'generator_function': {
        const { returnType, returns, isAsync } = walk.readFunction(
          node,
          { ...place, scope: createScope(place.scope), ...rebindThis(node, place) },
          expected === undefined ? undefined : (index) => ['B', expected, index],
        );
        const said = returnType ?? (returns.length > 0 ? (['q', ['|', ...returns]] as const) : null);
        return said === null || isAsync ? OUTSIDE : ['t', ['f', said]];
      }
      case 'jsx_element':
      case 'jsx_self_closing_element':
        return readElement(node, place);
      case 'decorator': {
        const named = nodes.childrenOf(node)[0] ?? -1;
        if (nodes.kindOf(named) === 'call_expression') return readCall(named, place);
        const value = readTarget(named, place);
        walk.refer('call', value, named, place);
        return value;
      }
      case 'jsx_attribute':
        for (const child of nodes.childrenOf(node).slice(1)) readValue(child, place);
        return OUTSIDE;
      default:
        if (isClassKind(kind)) {
          const name = nodes.textOf(nodes.childIn(node, 'name')) || 'class';
          const symbol = collector.addSymbol({
            name,
            kind: 'class',
            parent: place.symbol,
            node,
            body: nodes.childIn(node, 'body'),
          });
          walk.readClass(node, symbol, { ...place, scope: createScope(place.scope) });
          return ['s', symbol];
        }
        if (kind.endsWith('_statement') || kind === 'statement_block') {
          walk.readStatement(node, place);
          return UNKNOWN;
        }
        readAll(node, place);
        return LITERALS.has(kind) ? OUTSIDE : UNKNOWN;
    }
  }

  /** Returns the operator of an expression, which some grammars do not name. */
  const between = (node: NodeId): string =>
    nodes.text
      .slice(nodes.endOf(nodes.childIn(node, 'left')), nodes.startOf(nodes.childIn(node, 'right')))
      .replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
      .trim();

  return { readValue };
}

export const stripQuotes = (text: string): string => text.replace(/^(['"`])([\s\S]*)\1$/, '$2');
