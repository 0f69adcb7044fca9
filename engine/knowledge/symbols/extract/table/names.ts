import type { ExpressionFact } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { findValue } from '../scope.ts';
import { MEMBERS, NAMES, SELF_WORDS, SUPER_WORDS } from './kinds.ts';
import type { TablePlace, TableWalk } from './place.ts';

/** Maximum nested classes that are searched for a bare name. */
const MOST_CLASSES = 4;
/** Languages in which a bare name may be a member of the enclosing class. */
const IMPLICIT_SELF = new Set(['java', 'csharp', 'kotlin', 'swift', 'cpp', 'ruby']);

/** Reads names and members. */
export function createTableNameReader(
  walk: TableWalk,
): Pick<TableWalk, 'nameValue' | 'readTarget' | 'memberOf'> {
  const { nodes, language, collector, symbols } = walk;

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
    // In a function that extends a type, a member of its object.
    const object = language === 'kotlin' ? findValue(place.scope, 'this') : null;
    return object === null ? ['g', name] : ['|', ['m', object, name], ['g', name]];
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
      return ['m', readObject(node, object, place), name];
    }
    if (kind === 'generic_name' || kind === 'generic_function' || kind === 'template_function') {
      const named = nodes.childrenOf(node)[0] ?? -1;
      return readTarget(named, place);
    }
    if (kind === 'parenthesized_expression') return readTarget(nodes.childrenOf(node)[0] ?? -1, place);
    return walk.readValue(node, place);
  }

  /** Reads the object of a member access; C# has no node for `this` and `base` there. */
  function readObject(node: NodeId, object: NodeId, place: TablePlace): ExpressionFact {
    if (object >= 0 || language !== 'csharp' || place.self < 0) return readTarget(object, place);
    return [/^base\b/.test(nodes.textOf(node)) ? 'super' : 'self', place.self];
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
    if (kind === 'conditional_access_expression') {
      const binding = nodes.childOfKind(node, 'member_binding_expression');
      const name = nodes.childIn(binding, 'name');
      return name < 0 ? null : { object: nodes.childIn(node, 'condition'), name: nodes.textOf(name) };
    }
    if (kind === 'navigation_expression') {
      const [object, suffix] = nodes.childrenOf(node);
      const name = nodes.textOf(suffix ?? -1).replace(/^\s*\??\.\s*/, '');
      return object === undefined || !/^\w+$/.test(name) ? null : { object, name };
    }
    return null;
  }

  return { nameValue, readTarget, memberOf };
}
