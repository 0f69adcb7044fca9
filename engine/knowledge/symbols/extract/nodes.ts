import { findLine, findLineStarts, type SyntaxTree } from '../../sources/index.ts';

/** A node by its index in the tree; -1 is none. */
export type NodeId = number;

export const NO_NODE: NodeId = -1;

export interface SyntaxNodes {
  readonly text: string;
  kindOf(node: NodeId): string;
  textOf(node: NodeId): string;
  /** Returns the named children. */
  childrenOf(node: NodeId): NodeId[];
  /** Returns the first child in that field. */
  childIn(node: NodeId, field: string): NodeId;
  /** Returns all children in that field. */
  childrenIn(node: NodeId, field: string): NodeId[];
  /** Returns the first child of one of these kinds. */
  childOfKind(node: NodeId, ...kinds: string[]): NodeId;
  startOf(node: NodeId): number;
  endOf(node: NodeId): number;
  /** Returns the line, from 1. */
  lineAt(offset: number): number;
  lineOf(node: NodeId): number;
  /** Returns the text from the start of a node to the start of an inner node: keywords and modifiers. */
  textBefore(node: NodeId, inner: NodeId): string;
}

/** Reads a syntax tree by nodes instead of arrays. */
export function createNodes(tree: SyntaxTree): SyntaxNodes {
  const { text, names, kind, field, start, end, after } = tree;
  const lines = findLineStarts(text);
  const lineAt = (offset: number): number => findLine(lines, offset);

  function childrenOf(node: NodeId): NodeId[] {
    if (node < 0) return [];
    const found: NodeId[] = [];
    const limit = after[node]!;
    for (let child = node + 1; child < limit; child = after[child]!) found.push(child);
    return found;
  }

  return {
    text,
    kindOf: (node) => (node < 0 ? '' : names.kinds[kind[node]!]!),
    textOf: (node) => (node < 0 ? '' : text.slice(start[node], end[node])),
    childrenOf,
    childIn(node, name) {
      if (node < 0) return NO_NODE;
      const limit = after[node]!;
      for (let child = node + 1; child < limit; child = after[child]!)
        if (names.fields[field[child]!] === name) return child;
      return NO_NODE;
    },
    childrenIn: (node, name) => childrenOf(node).filter((child) => names.fields[field[child]!] === name),
    childOfKind(node, ...kinds) {
      if (node < 0) return NO_NODE;
      const limit = after[node]!;
      for (let child = node + 1; child < limit; child = after[child]!)
        if (kinds.includes(names.kinds[kind[child]!]!)) return child;
      return NO_NODE;
    },
    startOf: (node) => (node < 0 ? 0 : start[node]!),
    endOf: (node) => (node < 0 ? 0 : end[node]!),
    lineAt,
    lineOf: (node) => lineAt(node < 0 ? 0 : start[node]!),
    textBefore: (node, inner) => (inner < 0 ? '' : text.slice(start[node], start[inner])),
  };
}
