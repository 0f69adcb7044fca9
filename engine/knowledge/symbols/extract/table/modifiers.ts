import type { SymbolKind } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import type { TableWalk } from './place.ts';

/** Returns the kind of a class: its keyword tells an interface, and in Go its type. */
export function findClassKind(
  { nodes, language, findName }: TableWalk,
  node: NodeId,
  kind: SymbolKind,
): SymbolKind {
  if (language === 'go') {
    if (kind === 'type') return kind;
    const type = nodes.kindOf(nodes.childIn(node, 'type'));
    return type === 'interface_type' ? 'interface' : type === 'struct_type' ? 'class' : 'type';
  }
  return /^(?:\w+\s+)*interface\b/.test(nodes.textBefore(node, findName(node))) ? 'interface' : kind;
}

/** Reports whether other files may use a declaration. */
export function isExported({ nodes, language, findName }: TableWalk, node: NodeId, name: string): boolean {
  const head = nodes.textBefore(node, findName(node));
  if (language === 'go') return /^\p{Lu}/u.test(name);
  if (language === 'python' || language === 'ruby') return !name.startsWith('_');
  if (language === 'rust') return /\bpub\b/.test(head);
  if (language === 'java' || language === 'csharp') return /\bpublic\b/.test(head);
  return !/\b(?:private|static|fileprivate|internal)\b/.test(head);
}

/** Reports whether a method belongs to the class and not to an object. */
export function isStaticMethod({ nodes, language, findName }: TableWalk, node: NodeId): boolean {
  if (language === 'rust') return nodes.childOfKind(nodes.childIn(node, 'parameters'), 'self_parameter') < 0;
  if (language === 'python') return false;
  return /\bstatic\b/.test(nodes.textBefore(node, findName(node)));
}

/** Returns the type of a method declared outside of it: a receiver, an `impl`, `A::b`. */
export function findOwner(walk: TableWalk, node: NodeId, outer: NodeId): string | undefined {
  const { nodes, language } = walk;
  const receiver = nodes.childIn(node, 'receiver');
  if (language === 'go' && receiver >= 0)
    return /([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*\)$/.exec(nodes.textOf(receiver))?.[1];
  if (nodes.kindOf(outer) === 'impl_item')
    return /^[\w:]*?(\w+)(?:<|$)/.exec(nodes.textOf(nodes.childIn(outer, 'type')))?.[1];
  return isSwiftExtension(walk, outer)
    ? nodes.textOf(nodes.childIn(outer, 'name')).replace(/<.*$/s, '')
    : undefined;
}

export const isSwiftExtension = (
  { nodes, language }: Pick<TableWalk, 'nodes' | 'language'>,
  node: NodeId,
): boolean =>
  language === 'swift' &&
  nodes.kindOf(node) === 'class_declaration' &&
  /^(?:[\w@]+\s+)*extension\s/.test(nodes.textBefore(node, nodes.childIn(node, 'name')));
