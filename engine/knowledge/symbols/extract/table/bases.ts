import type { SourceLanguage } from '../../../sources/index.ts';
import type { NodeId, SyntaxNodes } from '../nodes.ts';

const BASES = new Set(
  'superclass super_interfaces extends_interfaces base_list base_class_clause class_interface_clause base_clause delegation_specifiers delegation_specifier inheritance_specifier trait_bounds type_list'.split(
    ' ',
  ),
);

/** Lists the nodes of the types that a class extends, implements or embeds. */
export function listBases(nodes: SyntaxNodes, language: SourceLanguage, node: NodeId): NodeId[] {
  if (language === 'python')
    return nodes
      .childrenOf(nodes.childIn(node, 'superclasses'))
      .filter((each) => ['identifier', 'attribute', 'subscript'].includes(nodes.kindOf(each)));
  if (language === 'ruby') return nodes.childrenOf(nodes.childIn(node, 'superclass'));
  if (language === 'go') return listEmbedded(nodes, nodes.childIn(node, 'type'));
  return nodes
    .childrenOf(node)
    .flatMap((child) => (BASES.has(nodes.kindOf(child)) ? flattenBases(nodes, child) : []));
}

const flattenBases = (nodes: SyntaxNodes, node: NodeId): NodeId[] =>
  nodes.childrenOf(node).flatMap((child) => {
    const kind = nodes.kindOf(child);
    if (BASES.has(kind)) return flattenBases(nodes, child);
    return kind === 'access_specifier' || kind === 'argument_list' ? [] : [child];
  });

/** Lists embedded types: a field without a name has all members of its type. */
function listEmbedded(nodes: SyntaxNodes, type: NodeId): NodeId[] {
  const list =
    nodes.kindOf(type) === 'struct_type'
      ? nodes.childrenOf(type).flatMap((each) => nodes.childrenOf(each))
      : nodes.childrenOf(type);
  return list.flatMap((each) => {
    const kind = nodes.kindOf(each);
    if (kind === 'field_declaration' && nodes.childIn(each, 'name') < 0) return [nodes.childIn(each, 'type')];
    return kind === 'type_elem' || kind === 'constraint_elem' ? nodes.childrenOf(each) : [];
  });
}
