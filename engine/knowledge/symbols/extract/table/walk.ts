import type { SyntaxTree } from '../../../sources/index.ts';
import {
  type Expr,
  type FileFacts,
  OUTSIDE,
  type SymbolKind,
  type TypeExpr,
  UNKNOWN,
  UNKNOWN_TYPE,
} from '../../facts.ts';
import { createCollector } from '../collect.ts';
import { createNodes, type NodeId } from '../nodes.ts';
import { bindName, createScope, findType, findValue, type Scope } from '../scope.ts';
import { readImports } from './imports.ts';
import { CLASSES, FUNCTIONS, LITERALS, MEMBERS } from './kinds.ts';
import type { TablePlace } from './place.ts';
import { createTypeReader } from './types.ts';

const MOST_RETURNS = 4;
const SELF_WORDS = new Set(['this', 'self', 'this_expression', '$this', 'self_expression', 'cls']);
const SUPER_WORDS = new Set(['super', 'base', 'super_expression', 'parent']);
/** Languages in which a bare name may be a member of the class around. */
const IMPLICIT_SELF = new Set(['java', 'csharp', 'kotlin', 'swift', 'cpp', 'ruby']);

/**
 * Takes down what a file declares and refers to, in languages other than those of the web: their grammars call the same
 * things by a few names, which kinds.ts lists.
 */
export function extractByTable(tree: SyntaxTree, path: string): FileFacts {
  const nodes = createNodes(tree);
  const { language } = tree;
  const collector = createCollector(nodes, path);
  const { symbols } = collector;
  const declared = new Map<NodeId, number>();
  const top = createScope(null);
  const facts: Pick<FileFacts, 'packageName'> = {};
  const types = createTypeReader(nodes, language, (name, node, place) => {
    const own = name === 'Self' && place.self >= 0 ? (['r', ['s', place.self]] as const) : null;
    const type = own ?? findType(place.scope, name) ?? (['r', ['g', name]] as const);
    if (type[0] === 'r') collector.addReference('type', type[1], node, place.symbol);
    return type;
  });

  /** The name of a declaration; a function of C has it inside its declarator. */
  function findName(node: NodeId): NodeId {
    const name = nodes.childIn(node, 'name');
    if (name >= 0) return name;
    let at = nodes.childIn(node, 'declarator');
    while (at >= 0 && nodes.childIn(at, 'declarator') >= 0) at = nodes.childIn(at, 'declarator');
    if (at >= 0) return at;
    return nodes.childOfKind(node, 'simple_identifier', 'identifier', 'type_identifier');
  }

  /** The type that a method belongs to when it stands outside of it: a receiver, an `impl`, `A::b`. */
  function findOwner(node: NodeId, outer: NodeId): string | undefined {
    const receiver = nodes.childIn(node, 'receiver');
    if (language === 'go' && receiver >= 0)
      return /([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*\)$/.exec(nodes.textOf(receiver))?.[1];
    if (nodes.kindOf(outer) === 'impl_item')
      return /^[\w:]*?(\w+)(?:<|$)/.exec(nodes.textOf(nodes.childIn(outer, 'type')))?.[1];
    return undefined;
  }

  function declare(node: NodeId, parent: number, outer: NodeId): void {
    const kind = nodes.kindOf(node);
    const classKind = CLASSES[kind];
    // A type that is only named, as in `struct a b;`, declares nothing.
    const body = findBody(node);
    const isClass =
      classKind !== undefined &&
      !(kind.endsWith('_specifier') && body < 0) &&
      !(kind === 'module' && language !== 'ruby');
    if (isClass || FUNCTIONS.has(kind)) {
      const nameNode = findName(node);
      const name = nodes.textOf(nameNode).split(/::|\./).at(-1)!.trim();
      if (name !== '' || kind.includes('constructor') || kind === 'init_declaration') {
        const owner = isClass ? undefined : findOwner(node, outer);
        const isMethod =
          owner !== undefined ||
          (parent > 0 && ['class', 'interface', 'enum'].includes(symbols[parent]!.kind));
        const symbolKind: SymbolKind = isClass
          ? kindOfClass(node, classKind!)
          : isMethod
            ? 'method'
            : 'function';
        const symbol = collector.addSymbol({
          name: name === '' || /constructor|^init/.test(kind) ? 'constructor' : name,
          kind: symbolKind,
          parent,
          node,
          body,
        });
        const fact = symbols[symbol]!;
        if (owner !== undefined) fact.owner = owner;
        if (isExported(node, name)) fact.isExported = true;
        if (isMethod && isStatic(node)) fact.isStatic = true;
        declared.set(node, symbol);
        for (const child of nodes.childrenOf(node)) declare(child, symbol, node);
        return;
      }
    }
    const inner =
      kind === 'impl_item'
        ? node
        : nodes.kindOf(outer) === 'impl_item' && kind === 'declaration_list'
          ? outer
          : node;
    for (const child of nodes.childrenOf(node)) declare(child, parent, inner);
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

  function kindOfClass(node: NodeId, kind: SymbolKind): SymbolKind {
    if (language === 'go') {
      const type = nodes.kindOf(nodes.childIn(node, 'type'));
      return type === 'interface_type' ? 'interface' : type === 'struct_type' ? 'class' : 'type';
    }
    return /^(?:\w+\s+)*interface\b/.test(nodes.textBefore(node, findName(node))) ? 'interface' : kind;
  }

  function isExported(node: NodeId, name: string): boolean {
    const head = nodes.textBefore(node, findName(node));
    if (language === 'go') return /^\p{Lu}/u.test(name);
    if (language === 'python' || language === 'ruby') return !name.startsWith('_');
    if (language === 'rust') return /\bpub\b/.test(head);
    if (language === 'java' || language === 'csharp') return /\bpublic\b/.test(head);
    return !/\b(?:private|static|fileprivate|internal)\b/.test(head);
  }

  function isStatic(node: NodeId): boolean {
    if (language === 'rust')
      return nodes.childOfKind(nodes.childIn(node, 'parameters'), 'self_parameter') < 0;
    if (language === 'python') return false;
    return /\bstatic\b/.test(nodes.textBefore(node, findName(node)));
  }

  /** Binds what stands directly below a symbol. */
  function bindMembers(symbol: number, scope: Scope): void {
    for (const [index, fact] of symbols.entries()) {
      if (fact.parent !== symbol || fact.owner !== undefined) continue;
      const self = ['s', index] as const;
      const isType =
        fact.kind === 'class' || fact.kind === 'interface' || fact.kind === 'enum' || fact.kind === 'type';
      if (fact.kind === 'method' || fact.kind === 'field') continue;
      bindName(scope, fact.name, { value: self, ...(isType ? { type: ['r', self] as const } : {}) });
    }
  }

  function nameValue(node: NodeId, place: TablePlace): Expr {
    const name = nodes.textOf(node);
    const found = findValue(place.scope, name);
    // The first parameter of a method of Python is its object, whatever it is called.
    if (found?.[0] === 'l' && collector.locals[found[1]]?.[0] === 'self') return collector.locals[found[1]]!;
    if (found !== null) return found;
    if (place.self >= 0 && SELF_WORDS.has(name)) return ['self', place.self];
    if (place.self >= 0 && name === 'Self') return ['s', place.self];
    if (place.self >= 0 && language !== 'rust' && SUPER_WORDS.has(name)) return ['super', place.self];
    // A member of the class around, or of one that it extends; otherwise a name of the package.
    if (place.self >= 0 && IMPLICIT_SELF.has(language))
      return ['|', ['m', ['self', place.self], name], ['g', name]];
    return ['g', name];
  }

  function readTarget(node: NodeId, place: TablePlace): Expr {
    const kind = nodes.kindOf(node);
    if (NAMES.has(kind)) return nameValue(node, place);
    const member = memberOf(node);
    if (member !== null) {
      const { object, name } = member;
      return ['m', readTarget(object, place), name];
    }
    if (kind === 'generic_name' || kind === 'generic_function' || kind === 'template_function') {
      const named = nodes.childrenOf(node)[0] ?? -1;
      return readTarget(named, place);
    }
    if (kind === 'parenthesized_expression') return readTarget(nodes.childrenOf(node)[0] ?? -1, place);
    return readValue(node, place);
  }

  function memberOf(node: NodeId): { object: NodeId; name: string } | null {
    const kind = nodes.kindOf(node);
    const fields = MEMBERS[kind];
    if (fields !== undefined) {
      const object = nodes.childIn(node, fields[0]);
      const name = nodes.childIn(node, fields[1]);
      return object < 0 || name < 0 ? null : { object, name: nodes.textOf(name) };
    }
    if (kind === 'field_expression') {
      const value = nodes.childIn(node, 'value');
      return {
        object: value >= 0 ? value : nodes.childIn(node, 'argument'),
        name: nodes.textOf(nodes.childIn(node, 'field')),
      };
    }
    if (kind === 'member_access_expression') {
      const expression = nodes.childIn(node, 'expression');
      const name = nodes.childIn(node, 'name');
      const bare = nodes.kindOf(name) === 'generic_name' ? nodes.childrenOf(name)[0]! : name;
      return {
        object: expression >= 0 ? expression : nodes.childIn(node, 'object'),
        name: nodes.textOf(bare),
      };
    }
    if (kind === 'navigation_expression') {
      const [object, suffix] = nodes.childrenOf(node);
      const name = nodes.textOf(suffix ?? -1).replace(/^\s*\??\.\s*/, '');
      return object === undefined || !/^\w+$/.test(name) ? null : { object, name };
    }
    return null;
  }

  function readCall(node: NodeId, place: TablePlace): Expr {
    const kind = nodes.kindOf(node);
    const list = nodes.childIn(node, 'arguments');
    const call = (callee: Expr, at: NodeId): Expr => {
      const isMade = callee[0] === 's' && symbols[callee[1]]?.kind === 'class';
      collector.addReference(isMade ? 'new' : 'call', callee, at, place.symbol);
      for (const child of nodes.childrenOf(list)) readValue(child, place);
      return isMade ? ['n', callee] : ['c', callee];
    };
    if (kind === 'method_invocation' || kind === 'call') {
      // Java, and Ruby, where the method has a field of its own.
      const object = nodes.childIn(node, kind === 'call' ? 'receiver' : 'object');
      const name = nodes.childIn(node, kind === 'call' ? 'method' : 'name');
      if (name >= 0) {
        if (object < 0) return call(nameValue(name, place), name);
        const target = readTarget(object, place);
        if (language === 'ruby' && nodes.textOf(name) === 'new') return call(target, name);
        return call(['m', target, nodes.textOf(name)], name);
      }
    }
    if (kind === 'member_call_expression' || kind === 'scoped_call_expression') {
      const member = memberOf(node)!;
      return call(['m', readTarget(member.object, place), member.name], node);
    }
    if (kind === 'object_creation_expression') {
      const type =
        nodes.childIn(node, 'type') >= 0 ? nodes.childIn(node, 'type') : (nodes.childrenOf(node)[0] ?? -1);
      const read = types.readType(type, place);
      if (read[0] === 'r') collector.addReference('new', read[1], node, place.symbol);
      for (const child of nodes.childrenOf(node)) if (child !== type) readValue(child, place);
      return read[0] === 'r' ? ['n', read[1]] : OUTSIDE;
    }
    const target =
      nodes.childIn(node, 'function') >= 0
        ? nodes.childIn(node, 'function')
        : (nodes.childrenOf(node)[0] ?? -1);
    if (language === 'python' && nodes.textOf(target) === 'super' && place.self >= 0)
      return ['super', place.self];
    const callee = readTarget(target, place);
    if (list < 0) for (const child of nodes.childrenOf(node)) if (child !== target) readValue(child, place);
    return call(callee, target);
  }

  function bindLocal(pattern: NodeId, value: Expr, place: TablePlace): void {
    const kind = nodes.kindOf(pattern);
    if (NAMES.has(kind)) {
      const name = nodes.textOf(pattern);
      const known = place.scope.names.get(name)?.value;
      // Given again, it keeps what it was first, unless that was unknown.
      if (known?.[0] === 'l' && collector.locals[known[1]]?.[0] !== '?') return;
      bindName(place.scope, name, { value: ['l', collector.addLocal(value)] });
      return;
    }
    const children = nodes.childrenOf(pattern);
    if (/list$|tuple|pattern|expression_list|declarator|variable_declaration/.test(kind)) {
      const isSingle =
        children.length === 1 || /declarator|mut_pattern|^pattern$|variable_declaration/.test(kind);
      for (const [index, child] of children.entries()) {
        bindLocal(child, isSingle ? value : ['e', value, index], place);
        if (isSingle) break;
      }
      return;
    }
    if (memberOf(pattern) !== null) setField(pattern, value, place);
    else if (children.length > 0) readValue(pattern, place);
  }

  /** `self.a = b` declares a field where nothing else does. */
  function setField(pattern: NodeId, value: Expr, place: TablePlace): void {
    const { object, name } = memberOf(pattern)!;
    const target = readTarget(object, place);
    if (target[0] !== 'self' || language !== 'python') return;
    const known = symbols.find((each) => each.parent === place.self && each.name === name);
    if (known === undefined) {
      const added = collector.addSymbol({ name, kind: 'field', parent: place.self, node: pattern });
      symbols[added]!.init = value;
    } else if (known.kind === 'field' && known.init === undefined && known.type === undefined)
      known.init = value;
  }

  /** A variable with a type, a value, or both: outside of functions it is a symbol. */
  function declareVariable(
    nameNode: NodeId,
    typeNode: NodeId,
    valueNode: NodeId,
    outer: NodeId,
    place: TablePlace,
  ): void {
    const type = typeNode < 0 ? UNKNOWN_TYPE : types.readType(typeNode, place);
    const value = valueNode < 0 ? UNKNOWN : readValue(valueNode, place);
    const known: Expr = type[0] === '?' ? value : ['t', type];
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
    if (isExported(outer, name)) fact.isExported = true;
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
        : nodes.childrenOf(list);
    return params.flatMap((param, index): TypeExpr[] => {
      const kind = nodes.kindOf(param);
      if (kind === 'comment' || kind === 'self_parameter') return [];
      const typeNode =
        nodes.childIn(param, 'type') >= 0
          ? nodes.childIn(param, 'type')
          : nodes.childOfKind(param, 'user_type', 'nullable_type');
      const type = typeNode < 0 ? UNKNOWN_TYPE : types.readType(typeNode, place);
      const usual = nodes.childIn(param, 'value');
      const begin = usual < 0 ? UNKNOWN : readValue(usual, place);
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
        language === 'python' && index === 0 && typeNode < 0 && symbols[place.symbol]?.kind === 'method';
      for (const name of names)
        bindLocal(name, isOwn ? ['self', place.self] : type[0] !== '?' ? ['t', type] : begin, place);
      return isOwn ? [] : names.map(() => type);
    });
  }

  function readFunction(node: NodeId, symbol: number, place: TablePlace): void {
    const fact = symbols[symbol]!;
    const inner: TablePlace = { ...place, symbol, scope: createScope(place.scope), returns: [] };
    bindMembers(symbol, inner.scope);
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
    if (/\basync\b/.test(nodes.textBefore(node, findName(node)))) fact.isAsync = true;
    const body = findBody(node);
    for (const child of nodes.childrenOf(node))
      if (
        nodes.kindOf(child) === 'field_initializer_list' ||
        nodes.kindOf(child) === 'constructor_initializer'
      )
        readValue(child, inner);
    if (body >= 0) {
      const last = readValue(body, inner);
      // The last expression of a block is what a function of these languages returns.
      if (last[0] !== '?' && inner.returns.length === 0 && language === 'rust') inner.returns.push(last);
    }
    if (fact.returnType === undefined) fact.returns = inner.returns.slice(0, MOST_RETURNS);
  }

  /** Kotlin and Swift have no field for it. */
  function afterParameters(node: NodeId): NodeId {
    if (language !== 'kotlin' && language !== 'swift') return -1;
    const list = nodes.childrenOf(node);
    const at = list.findIndex((each) => nodes.kindOf(each) === 'function_value_parameters');
    const next = at < 0 ? -1 : (list[at + 1] ?? -1);
    return ['user_type', 'nullable_type', 'optional_type'].includes(nodes.kindOf(next)) ? next : -1;
  }

  function bindGeneric(param: NodeId, scope: Scope): void {
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
    bindMembers(symbol, inner.scope);
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
      else readValue(type, inner);
      return;
    }
    const body = findBody(node);
    // The head may have parameters that are fields, as records and classes of Kotlin have.
    readParameters(node, { ...inner, scope: createScope(inner.scope) });
    if (body >= 0) readValue(body, inner);
  }

  function readValue(node: NodeId, place: TablePlace): Expr {
    const kind = nodes.kindOf(node);
    const symbol = declared.get(node);
    if (symbol !== undefined) {
      const { kind: declaredKind } = symbols[symbol]!;
      const owner = symbols[symbol]!.owner;
      const own = owner === undefined ? null : findType(top, owner);
      const self = own?.[0] === 'r' && own[1][0] === 's' ? own[1][1] : place.self;
      if (declaredKind === 'function' || declaredKind === 'method')
        readFunction(node, symbol, { ...place, self });
      else readClass(node, symbol, place);
      return UNKNOWN;
    }
    if (NAMES.has(kind)) {
      const value = nameValue(node, place);
      if (value[0] === 's' || value[0] === 'i') collector.addReference('value', value, node, place.symbol);
      return value;
    }
    if (CALLS.has(kind)) return readCall(node, place);
    if (memberOf(node) !== null) return readTarget(node, place);
    if (LITERALS.has(kind)) {
      for (const child of nodes.childrenOf(node)) readValue(child, place);
      return OUTSIDE;
    }
    if (SELF_WORDS.has(kind) || SUPER_WORDS.has(kind)) return nameValue(node, place);
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
            declareVariable(left, type, right, node, place);
            return UNKNOWN;
          }
        }
        const value = right < 0 ? UNKNOWN : readValue(right, place);
        bindLocal(left, type < 0 ? value : ['t', types.readType(type, place)], place);
        return value;
      }
      case 'short_var_declaration': {
        const right = nodes.childrenOf(nodes.childIn(node, 'right'));
        const values = right.map((each) => readValue(each, place));
        for (const [index, left] of nodes.childrenOf(nodes.childIn(node, 'left')).entries())
          bindLocal(
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
          declareVariable(name, nodes.childIn(node, 'type'), first, node, place);
        return UNKNOWN;
      }
      case 'let_declaration':
      case 'const_item':
      case 'static_item':
        declareVariable(
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
          const name = findName(each) >= 0 ? findName(each) : each;
          const value =
            nodes.childIn(each, 'value') >= 0
              ? nodes.childIn(each, 'value')
              : (nodes.childrenOf(each).at(-1) ?? -1);
          declareVariable(name, types.isInferred(type) ? -1 : type, value === name ? -1 : value, node, place);
        }
        for (const name of nodes.childrenIn(node, 'name')) declareVariable(name, type, -1, node, place);
        return UNKNOWN;
      }
      case 'property_declaration': {
        const variable = nodes.childOfKind(node, 'variable_declaration');
        const name = variable >= 0 ? (nodes.childrenOf(variable)[0] ?? -1) : findName(node);
        const type = variable >= 0 ? (nodes.childrenOf(variable)[1] ?? -1) : nodes.childIn(node, 'type');
        const value =
          nodes.childIn(node, 'value') >= 0
            ? nodes.childIn(node, 'value')
            : variable >= 0
              ? (nodes
                  .childrenOf(node)
                  .find((each) => each > variable && nodes.kindOf(each).endsWith('expression')) ?? -1)
              : -1;
        declareVariable(name, type, value, node, place);
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
        return readLoop(node, place);
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
        let last: Expr = UNKNOWN;
        for (const child of nodes.childrenOf(node)) last = readValue(child, place);
        // `x?` takes out what an option or result has.
        return kind === 'try_expression' ? ['|', ['e', last], last] : last;
      }
      case 'subscript':
      case 'index_expression':
      case 'array_access':
      case 'element_access_expression': {
        const [object, ...rest] = nodes.childrenOf(node);
        const value = readTarget(object ?? -1, place);
        for (const each of rest) readValue(each, place);
        return ['e', value];
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
          bindLocal(nodes.childrenOf(alias)[0] ?? alias, read, place);
        return read;
      }
      case 'decorator': {
        const [value] = nodes.childrenOf(node);
        if (value === undefined) return UNKNOWN;
        if (CALLS.has(nodes.kindOf(value))) return readValue(value, place);
        const target = readTarget(value, place);
        collector.addReference('call', target, value, place.symbol);
        return UNKNOWN;
      }
      case 'macro_invocation': {
        readMacro(node, place);
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
    let last: Expr = UNKNOWN;
    for (const child of nodes.childrenOf(node)) last = readValue(child, inner);
    return isBlock && language === 'rust' && !nodes.textOf(node).trimEnd().endsWith(';}') ? last : UNKNOWN;
  }

  const findOwn = (place: TablePlace, name: string): Expr | null =>
    place.scope.names.get(name)?.value ?? null;

  /** A function of Go returns a list when it returns an error too: the first one counts. */
  const firstOf = (value: Expr | undefined): Expr =>
    value === undefined ? UNKNOWN : language === 'go' && value[0] === 'y' ? (value[1] as Expr) : value;

  function readLoop(node: NodeId, place: TablePlace): Expr {
    const left =
      ['left', 'pattern', 'name'].map((each) => nodes.childIn(node, each)).find((each) => each >= 0) ?? -1;
    const right = ['right', 'value'].map((each) => nodes.childIn(node, each)).find((each) => each >= 0) ?? -1;
    const type = nodes.childIn(node, 'type');
    if (right >= 0 && left >= 0) {
      const value = readValue(right, place);
      const known: Expr =
        type >= 0 && !types.isInferred(type) ? ['t', types.readType(type, place)] : ['e', value];
      // Go gives the index first.
      if (kindIs(node, 'range_clause')) {
        const [, second] = nodes.childrenOf(left);
        if (second !== undefined) bindLocal(second, ['e', value], place);
      } else bindLocal(left, known, place);
    }
    for (const child of nodes.childrenOf(node))
      if (child !== left && child !== right && child !== type) readValue(child, place);
    return UNKNOWN;
  }

  const kindIs = (node: NodeId, kind: string): boolean => nodes.kindOf(node) === kind;

  /** Inside of a macro of Rust is no syntax: names that are followed by a bracket are called. */
  function readMacro(node: NodeId, place: TablePlace): void {
    const tokens = nodes.childOfKind(node, 'token_tree');
    const children = nodes.childrenOf(tokens);
    for (const [index, child] of children.entries()) {
      if (kindIs(child, 'token_tree')) readTokens(child, place);
      const next = children[index + 1];
      if (kindIs(child, 'identifier') && next !== undefined && kindIs(next, 'token_tree'))
        readToken(child, next, place);
    }
  }

  function readTokens(node: NodeId, place: TablePlace): void {
    const children = nodes.childrenOf(node);
    for (const [index, child] of children.entries()) {
      const next = children[index + 1];
      if (kindIs(child, 'token_tree')) readTokens(child, place);
      else if (kindIs(child, 'identifier') && next !== undefined && kindIs(next, 'token_tree'))
        readToken(child, next, place);
    }
  }

  function readToken(name: NodeId, list: NodeId, place: TablePlace): void {
    const before = nodes.text.slice(Math.max(0, nodes.startOf(name) - 2), nodes.startOf(name));
    if (/[.:]$/.test(before) || nodes.text[nodes.startOf(list)] !== '(') return;
    const value = findValue(place.scope, nodes.textOf(name));
    if (value?.[0] === 's' || value?.[0] === 'i') collector.addReference('call', value, name, place.symbol);
  }

  for (const child of nodes.childrenOf(0)) declare(child, 0, 0);
  readImports({ nodes, language, path, collector, scope: top, facts });
  bindMembers(0, top);
  const place: TablePlace = { scope: top, symbol: 0, self: -1, returns: [] };
  for (const child of nodes.childrenOf(0)) readValue(child, place);
  for (const [index, fact] of symbols.entries())
    if (fact.parent === 0 && fact.kind !== 'file' && fact.owner === undefined)
      collector.addExport({ name: fact.name, value: ['s', index] });
  return { ...collector.finish(tree.errors), ...facts };
}

const NAMES: ReadonlySet<string> = new Set([
  'identifier',
  'simple_identifier',
  'field_identifier',
  'type_identifier',
  'constant',
  'variable_name',
  'name',
  'shorthand_field_identifier',
  'package_identifier',
  'crate',
]);

const CALLS: ReadonlySet<string> = new Set([
  'call',
  'call_expression',
  'method_invocation',
  'invocation_expression',
  'function_call_expression',
  'member_call_expression',
  'scoped_call_expression',
  'object_creation_expression',
]);
