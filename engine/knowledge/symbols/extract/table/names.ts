import { type ExpressionFact, OUTSIDE } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { findValue } from '../scope.ts';
import { MEMBERS, NAMES, SELF_WORDS, SUPER_WORDS } from './kinds.ts';
import type { TablePlace, TableWalk } from './place.ts';

/** Maximum nested classes that are searched for a bare name. */
const MOST_CLASSES = 4;
/** Languages in which a bare name may be a member of the enclosing class. */
const IMPLICIT_SELF = new Set(['java', 'csharp', 'kotlin', 'swift', 'cpp', 'ruby']);

/** Reads names, members and calls. */
export function createTableNameReader(
  walk: TableWalk,
): Pick<TableWalk, 'nameValue' | 'readTarget' | 'memberOf' | 'readCall' | 'readMacro'> {
  const { nodes, language, collector, symbols, types } = walk;

  function nameValue(node: NodeId, place: TablePlace): ExpressionFact {
    const name = nodes.textOf(node);
    const found = findValue(place.scope, name);
    // The first parameter of a Python method is its object, under any name.
    if (found?.[0] === 'l' && collector.locals[found[1]]?.[0] === 'self') return collector.locals[found[1]]!;
    if (found !== null) return found;
    if (place.self >= 0 && SELF_WORDS.has(name)) return ['self', place.self];
    if (place.self >= 0 && name === 'Self') return ['s', place.self];
    if (place.self >= 0 && language !== 'rust' && SUPER_WORDS.has(name)) return ['super', place.self];
    // A member of the enclosing class, or of a base class; otherwise a name of the package.
    if (place.self >= 0 && IMPLICIT_SELF.has(language))
      return [
        '|',
        ...classesAround(place.self).map((each): ExpressionFact => ['m', ['self', each], name]),
        ['g', name],
      ];
    return ['g', name];
  }

  /** Returns a class and its enclosing classes, innermost first. */
  function classesAround(self: number): number[] {
    const found: number[] = [];
    for (let at = self; at > 0 && found.length < MOST_CLASSES; at = symbols[at]!.parent)
      if (['class', 'interface', 'enum'].includes(symbols[at]!.kind)) found.push(at);
    return found;
  }

  function readTarget(node: NodeId, place: TablePlace): ExpressionFact {
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
    return walk.readValue(node, place);
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

  function readCall(node: NodeId, place: TablePlace): ExpressionFact {
    const kind = nodes.kindOf(node);
    const list = nodes.childIn(node, 'arguments');
    const call = (callee: ExpressionFact, at: NodeId): ExpressionFact => {
      const isMade = callee[0] === 's' && symbols[callee[1]]?.kind === 'class';
      collector.addReference(isMade ? 'new' : 'call', callee, at, place.symbol);
      for (const child of nodes.childrenOf(list)) walk.readValue(child, place);
      return isMade ? ['n', callee] : ['c', callee];
    };
    if (kind === 'method_invocation' || kind === 'call') {
      // Java, and Ruby, which have a separate field for the method.
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
      for (const child of nodes.childrenOf(node)) if (child !== type) walk.readValue(child, place);
      return read[0] === 'r' ? ['n', read[1]] : OUTSIDE;
    }
    const target =
      nodes.childIn(node, 'function') >= 0
        ? nodes.childIn(node, 'function')
        : (nodes.childrenOf(node)[0] ?? -1);
    if (language === 'python' && nodes.textOf(target) === 'super' && place.self >= 0)
      return ['super', place.self];
    // `new(T)` and `make(T)` of Go take a type.
    const [type] = nodes.childrenOf(list);
    if (language === 'go' && type !== undefined && /^(?:new|make)$/.test(nodes.textOf(target)))
      if (findValue(place.scope, nodes.textOf(target)) === null) {
        for (const child of nodes.childrenOf(list).slice(1)) walk.readValue(child, place);
        return ['t', types.readType(type, place)];
      }
    const callee = readTarget(target, place);
    if (list < 0)
      for (const child of nodes.childrenOf(node)) if (child !== target) walk.readValue(child, place);
    return call(callee, target);
  }

  /** Reads a Rust macro, which has no syntax inside: names followed by a bracket are calls. */
  function readMacro(node: NodeId, place: TablePlace): void {
    const tokens = nodes.childOfKind(node, 'token_tree');
    const children = nodes.childrenOf(tokens);
    for (const [index, child] of children.entries()) {
      if (nodes.kindOf(child) === 'token_tree') readTokens(child, place);
      const next = children[index + 1];
      if (nodes.kindOf(child) === 'identifier' && next !== undefined && nodes.kindOf(next) === 'token_tree')
        readToken(child, next, place);
    }
  }

  function readTokens(node: NodeId, place: TablePlace): void {
    const children = nodes.childrenOf(node);
    for (const [index, child] of children.entries()) {
      const next = children[index + 1];
      if (nodes.kindOf(child) === 'token_tree') readTokens(child, place);
      else if (
        nodes.kindOf(child) === 'identifier' &&
        next !== undefined &&
        nodes.kindOf(next) === 'token_tree'
      )
        readToken(child, next, place);
    }
  }

  function readToken(name: NodeId, list: NodeId, place: TablePlace): void {
    const before = nodes.text.slice(Math.max(0, nodes.startOf(name) - 2), nodes.startOf(name));
    if (/[.:]$/.test(before) || nodes.text[nodes.startOf(list)] !== '(') return;
    const value = findValue(place.scope, nodes.textOf(name));
    if (value?.[0] === 's' || value?.[0] === 'i') collector.addReference('call', value, name, place.symbol);
  }

  return { nameValue, readTarget, memberOf, readCall, readMacro };
}
