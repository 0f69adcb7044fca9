import { ANY_KEY, type ExpressionFact, OUTSIDE, UNKNOWN } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { createScope, findType, findValue } from '../scope.ts';
import { CALLS, COMPREHENSIONS, LAMBDAS, LITERALS, NAMES, SELF_WORDS, SUPER_WORDS } from './kinds.ts';
import type { TablePlace, TableWalk } from './place.ts';

/** Reads expressions and statements for the references in them. */
export function createTableValueReader(walk: TableWalk): Pick<TableWalk, 'readValue'> {
  const { nodes, language, collector, symbols, declared, types, top } = walk;

  function readValue(node: NodeId, place: TablePlace): ExpressionFact {
    const kind = nodes.kindOf(node);
    const symbol = declared.get(node);
    if (symbol !== undefined) {
      const { kind: declaredKind } = symbols[symbol]!;
      const owner = symbols[symbol]!.owner;
      const own = owner === undefined ? null : findType(top, owner);
      const self = own?.[0] === 'r' && own[1][0] === 's' ? own[1][1] : place.self;
      if (declaredKind === 'function' || declaredKind === 'method')
        walk.readFunction(node, symbol, { ...place, self });
      else walk.readClass(node, symbol, place);
      return UNKNOWN;
    }
    if (NAMES.has(kind)) {
      const value = walk.nameValue(node, place);
      if (value[0] === 's' || value[0] === 'i') collector.addReference('value', value, node, place.symbol);
      return value;
    }
    if (CALLS.has(kind)) return walk.readCall(node, place);
    if (LAMBDAS.has(kind)) {
      walk.readLambda(node, place);
      return UNKNOWN;
    }
    if (COMPREHENSIONS.has(kind)) return readComprehension(node, place);
    if (walk.memberOf(node) !== null) return walk.readTarget(node, place);
    if (LITERALS.has(kind)) {
      for (const child of nodes.childrenOf(node)) readValue(child, place);
      return OUTSIDE;
    }
    if (SELF_WORDS.has(kind) || SUPER_WORDS.has(kind)) return walk.nameValue(node, place);
    switch (kind) {
      case 'comment':
      case 'import_statement':
      case 'import_from_statement':
      case 'import_declaration':
      case 'use_declaration':
      case 'using_directive':
      case 'package_declaration':
        return UNKNOWN;
      case 'assignment':
      case 'assignment_expression':
      case 'assignment_statement': {
        const left = nodes.childIn(node, 'left');
        const type = nodes.childIn(node, 'type');
        const right = nodes.childIn(node, 'right');
        if (left < 0) break;
        if (type >= 0 || symbols[place.symbol]!.kind !== 'function') {
          if (
            language === 'python' &&
            NAMES.has(nodes.kindOf(left)) &&
            findOwn(place, nodes.textOf(left)) === null
          ) {
            walk.declareVariable(left, type, right, node, place);
            return UNKNOWN;
          }
        }
        const value = right < 0 ? UNKNOWN : readValue(right, place);
        walk.bindLocal(left, type < 0 ? value : ['t', types.readType(type, place)], place);
        return value;
      }
      case 'type_conversion_expression': {
        // `f[int](x)` of Go may be a call: the grammar cannot tell.
        const named = nodes.childIn(nodes.childIn(node, 'type'), 'type');
        const value = named < 0 ? null : findValue(place.scope, nodes.textOf(named));
        if (value?.[0] !== 's' || symbols[value[1]]?.kind !== 'function') break;
        collector.addReference('call', value, named, place.symbol);
        readValue(nodes.childIn(node, 'operand'), place);
        return ['c', value];
      }
      case 'let_condition': {
        const value = readValue(nodes.childIn(node, 'value'), place);
        walk.bindLocal(nodes.childIn(node, 'pattern'), value, place);
        return UNKNOWN;
      }
      case 'short_var_declaration': {
        const right = nodes.childrenOf(nodes.childIn(node, 'right'));
        const values = right.map((each) => readValue(each, place));
        for (const [index, left] of nodes.childrenOf(nodes.childIn(node, 'left')).entries())
          walk.bindLocal(
            left,
            values.length > 1 ? (values[index] ?? UNKNOWN) : index === 0 ? firstOf(values[0]) : UNKNOWN,
            place,
          );
        return UNKNOWN;
      }
      case 'var_spec':
      case 'const_spec': {
        const value = nodes.childIn(node, 'value');
        const first = nodes.kindOf(value) === 'expression_list' ? (nodes.childrenOf(value)[0] ?? -1) : value;
        for (const name of nodes.childrenIn(node, 'name'))
          walk.declareVariable(name, nodes.childIn(node, 'type'), first, node, place);
        return UNKNOWN;
      }
      case 'let_declaration':
      case 'const_item':
      case 'static_item':
        walk.declareVariable(
          nodes.childIn(node, kind === 'let_declaration' ? 'pattern' : 'name'),
          nodes.childIn(node, 'type'),
          nodes.childIn(node, 'value'),
          node,
          place,
        );
        return UNKNOWN;
      case 'field_declaration':
      case 'local_variable_declaration':
      case 'variable_declaration':
      case 'declaration': {
        const type = nodes.childIn(node, 'type');
        const names = [
          ...nodes.childrenIn(node, 'declarator'),
          ...nodes.childrenOf(node).filter((each) => nodes.kindOf(each) === 'variable_declarator'),
        ];
        if (names.length === 0 && nodes.childrenIn(node, 'name').length === 0) break;
        for (const each of new Set(names)) {
          const name = walk.findName(each) >= 0 ? walk.findName(each) : each;
          const value =
            nodes.childIn(each, 'value') >= 0
              ? nodes.childIn(each, 'value')
              : (nodes.childrenOf(each).at(-1) ?? -1);
          walk.declareVariable(
            name,
            types.isInferred(type) ? -1 : type,
            value === name ? -1 : value,
            node,
            place,
          );
        }
        for (const name of nodes.childrenIn(node, 'name')) walk.declareVariable(name, type, -1, node, place);
        return UNKNOWN;
      }
      case 'property_declaration': {
        const variable = nodes.childOfKind(node, 'variable_declaration');
        const name = variable >= 0 ? (nodes.childrenOf(variable)[0] ?? -1) : walk.findName(node);
        const type = variable >= 0 ? (nodes.childrenOf(variable)[1] ?? -1) : nodes.childIn(node, 'type');
        const value =
          nodes.childIn(node, 'value') >= 0
            ? nodes.childIn(node, 'value')
            : variable >= 0
              ? (nodes
                  .childrenOf(node)
                  .find((each) => each > variable && nodes.kindOf(each).endsWith('expression')) ?? -1)
              : -1;
        walk.declareVariable(name, type, value, node, place);
        for (const child of nodes.childrenOf(node))
          if (/accessor|getter|setter|computed/.test(nodes.kindOf(child))) readValue(child, place);
        return UNKNOWN;
      }
      case 'for_statement':
      case 'for_in_clause':
      case 'range_clause':
      case 'enhanced_for_statement':
      case 'foreach_statement':
      case 'for_expression':
        return walk.readLoop(node, place);
      case 'return_statement':
      case 'return_expression':
      case 'expression_body':
      case 'arrow_expression_clause': {
        const [value] = nodes.childrenOf(node);
        if (value !== undefined) place.returns.push(firstOf(readValue(value, place)));
        return UNKNOWN;
      }
      case 'expression_list': {
        const values = nodes.childrenOf(node).map((each) => readValue(each, place));
        return values.length === 1 ? values[0]! : ['y', ...values.slice(0, 8)];
      }
      case 'list':
      case 'tuple':
      case 'array_expression': {
        const values = nodes.childrenOf(node).map((each) => readValue(each, place));
        return values.length === 0 ? OUTSIDE : ['y', ...values.slice(0, 8)];
      }
      case 'composite_literal':
      case 'struct_expression': {
        const type = nodes.childIn(node, kind === 'struct_expression' ? 'name' : 'type');
        const read = types.readType(type, place);
        if (read[0] === 'r') collector.addReference('new', read[1], node, place.symbol);
        readValue(nodes.childIn(node, 'body'), place);
        return read[0] === 'r' ? ['n', read[1]] : read[0] === '?' ? UNKNOWN : ['t', read];
      }
      case 'type_assertion_expression':
      case 'cast_expression':
      case 'as_expression': {
        for (const child of nodes.childrenOf(node))
          if (child !== nodes.childIn(node, 'type')) readValue(child, place);
        const type = nodes.childIn(node, 'type');
        return type < 0 ? UNKNOWN : ['t', types.readType(type, place)];
      }
      case 'await':
      case 'await_expression':
        return ['w', readValue(nodes.childrenOf(node)[0] ?? -1, place)];
      case 'unary_expression':
      case 'pointer_expression':
      case 'reference_expression':
      case 'parenthesized_expression':
      case 'try_expression':
      case 'expression_statement':
      case 'mut_pattern': {
        let last: ExpressionFact = UNKNOWN;
        for (const child of nodes.childrenOf(node)) last = readValue(child, place);
        // `x?` unwraps an option or result.
        return kind === 'try_expression' ? ['|', ['e', last], last] : last;
      }
      case 'subscript':
      case 'index_expression':
      case 'array_access':
      case 'element_access_expression': {
        const [object, ...rest] = nodes.childrenOf(node);
        const value = walk.readTarget(object ?? -1, place);
        for (const each of rest) readValue(each, place);
        return ['e', value, ANY_KEY];
      }
      case 'conditional_expression': {
        const values = nodes.childrenOf(node).map((each) => readValue(each, place));
        return language === 'python'
          ? ['|', values[0] ?? UNKNOWN, values.at(-1) ?? UNKNOWN]
          : ['|', ...values.slice(1)];
      }
      case 'with_item':
      case 'as_pattern': {
        const [value, alias] = nodes.childrenOf(node);
        const read = readValue(value ?? -1, place);
        if (alias !== undefined && kind === 'as_pattern')
          walk.bindLocal(nodes.childrenOf(alias)[0] ?? alias, read, place);
        return read;
      }
      case 'decorator': {
        const [value] = nodes.childrenOf(node);
        if (value === undefined) return UNKNOWN;
        if (CALLS.has(nodes.kindOf(value))) return readValue(value, place);
        const target = walk.readTarget(value, place);
        collector.addReference('call', target, value, place.symbol);
        return UNKNOWN;
      }
      case 'macro_invocation': {
        walk.readMacro(node, place);
        return UNKNOWN;
      }
      case 'command': {
        const name = nodes.childIn(node, 'name');
        const value = findValue(place.scope, nodes.textOf(name));
        if (value !== null) collector.addReference('call', value, name, place.symbol);
        for (const child of nodes.childrenOf(node)) if (child !== name) readValue(child, place);
        return UNKNOWN;
      }
      case 'struct_type':
      case 'interface_type': {
        for (const child of nodes.childrenOf(node)) readValue(child, place);
        return UNKNOWN;
      }
      default:
        break;
    }
    if (types.isType(kind)) {
      types.readType(node, place);
      return UNKNOWN;
    }
    // A block or a body: its last expression may be its value.
    const isBlock = /block|body|^declaration_list$/.test(kind);
    const inner =
      isBlock &&
      symbols[place.symbol]!.kind !== 'class' &&
      language !== 'python' &&
      language !== 'ruby' &&
      language !== 'php'
        ? { ...place, scope: createScope(place.scope) }
        : place;
    let last: ExpressionFact = UNKNOWN;
    for (const child of nodes.childrenOf(node)) last = readValue(child, inner);
    return isBlock && language === 'rust' && !nodes.textOf(node).trimEnd().endsWith(';}') ? last : UNKNOWN;
  }

  /** Reads a comprehension: its names are local, and the result expression comes last. */
  function readComprehension(node: NodeId, place: TablePlace): ExpressionFact {
    const inner: TablePlace = { ...place, scope: createScope(place.scope) };
    const children = nodes.childrenOf(node);
    const isLoop = (child: NodeId): boolean => nodes.kindOf(child) === 'for_in_clause';
    for (const child of children.filter(isLoop)) readValue(child, inner);
    for (const child of children.filter((each) => !isLoop(each))) readValue(child, inner);
    return UNKNOWN;
  }

  const findOwn = (place: TablePlace, name: string): ExpressionFact | null =>
    place.scope.names.get(name)?.value ?? null;

  /** Returns the first result: a Go function that also returns an error returns a list. */
  const firstOf = (value: ExpressionFact | undefined): ExpressionFact =>
    value === undefined
      ? UNKNOWN
      : language === 'go' && value[0] === 'y'
        ? (value[1] as ExpressionFact)
        : value;

  return { readValue };
}
