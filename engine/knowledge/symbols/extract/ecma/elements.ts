import { type ExpressionFact, OUTSIDE } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { findValue } from '../scope.ts';
import type { SyntaxWalk, ValueReaders, WalkState } from './walk.ts';

function readElement(walk: SyntaxWalk, node: NodeId, place: WalkState): ExpressionFact {
  const { nodes } = walk;
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
  for (const child of nodes.childrenOf(open)) if (child !== tag) walk.readValue(child, place);
  if (open !== node)
    for (const child of nodes.childrenOf(node)) if (child !== open) walk.readValue(child, place);
  return OUTSIDE;
}

function readAttribute(walk: SyntaxWalk, node: NodeId, place: WalkState): ExpressionFact {
  const { nodes } = walk;
  for (const child of nodes.childrenOf(node).slice(1)) walk.readValue(child, place);
  return OUTSIDE;
}

/** The readers of JSX elements and their attributes. */
export const ELEMENT_READERS: ValueReaders = {
  jsx_element: readElement,
  jsx_self_closing_element: readElement,
  jsx_attribute: readAttribute,
};
