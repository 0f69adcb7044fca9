import type { Tree } from 'web-tree-sitter';
import type { SourceLanguage } from './languages.ts';

/** The names of a grammar's nodes and fields, by their numbers in a tree. */
export interface GrammarNames {
  kinds: readonly string[];
  fields: readonly string[];
}

/**
 * A syntax tree as arrays, in the order of node starts: node 0 is the whole text, and the descendants of node `n` are
 * `n + 1` to `after[n] - 1`. Only named nodes are kept. The data is outside the parser's memory; the arrays are
 * longer than `count`, and valid until the next text is parsed.
 */
export interface SyntaxTree {
  language: SourceLanguage;
  text: string;
  names: GrammarNames;
  count: number;
  /** Index into `names.kinds`. */
  kind: Uint16Array;
  /** Index into `names.fields`, 0 for none. */
  field: Uint8Array;
  /** Start and end of a node, in characters of `text`. */
  start: Uint32Array;
  end: Uint32Array;
  /** The first node after its descendants. */
  after: Uint32Array;
  /** Number of places with syntax errors or missing tokens. */
  errors: number;
  /** True if deeply nested nodes were omitted. */
  isCut: boolean;
}

/** Deeper nodes are omitted, so that a tree walk may recurse at each level. */
export const MOST_DEPTH = 500;

/** Enough for most texts. */
const USUAL_NODES = 1 << 14;

/**
 * The functions of the parser's module that walk a tree. Its own `TreeCursor` copies its state in and out of the
 * module's memory at every step; between these calls it stays there, which takes a third of the time.
 */
export interface TreeWalker {
  _ts_tree_root_node_wasm(tree: number): void;
  _ts_tree_cursor_new_wasm(tree: number): void;
  _ts_tree_cursor_delete_wasm(tree: number): void;
  _ts_tree_cursor_goto_first_child_wasm(tree: number): number;
  _ts_tree_cursor_goto_next_sibling_wasm(tree: number): number;
  _ts_tree_cursor_goto_parent_wasm(tree: number): number;
  _ts_tree_cursor_current_node_type_id_wasm(tree: number): number;
  _ts_tree_cursor_current_field_id_wasm(tree: number): number;
  _ts_tree_cursor_start_index_wasm(tree: number): number;
  _ts_tree_cursor_end_index_wasm(tree: number): number;
}

/** Creates the function that copies trees out of the parser's memory, with reusable scratch space. */
export function createFlattener(walker: TreeWalker) {
  const {
    _ts_tree_cursor_goto_first_child_wasm: gotoFirstChild,
    _ts_tree_cursor_goto_next_sibling_wasm: gotoNextSibling,
    _ts_tree_cursor_goto_parent_wasm: gotoParent,
    _ts_tree_cursor_current_node_type_id_wasm: readKind,
    _ts_tree_cursor_current_field_id_wasm: readField,
    _ts_tree_cursor_start_index_wasm: readStart,
    _ts_tree_cursor_end_index_wasm: readEnd,
  } = walker;
  let room = 0;
  let kind = new Uint16Array();
  let field = new Uint8Array();
  let start = new Uint32Array();
  let end = new Uint32Array();
  let after = new Uint32Array();

  function resize(nodes: number): void {
    const kept = Math.min(room, nodes);
    const copy = <T extends Uint16Array | Uint8Array | Uint32Array>(from: T, to: T): T => {
      to.set(from.subarray(0, kept));
      return to;
    };
    room = nodes;
    kind = copy(kind, new Uint16Array(room));
    field = copy(field, new Uint8Array(room));
    start = copy(start, new Uint32Array(room));
    end = copy(end, new Uint32Array(room));
    after = copy(after, new Uint32Array(room));
  }

  /** Copies a tree; the caller frees the original. The result is valid until the next tree is copied. */
  return function flatten(
    tree: Tree,
    text: string,
    {
      language,
      names,
      isNamed,
    }: { language: SourceLanguage; names: GrammarNames; isNamed: readonly boolean[] },
  ): SyntaxTree {
    const address = (tree as unknown as { readonly 0: number })[0];
    const errorKind = names.kinds.length - 1;
    let count = 0;
    let errors = 0;
    let isCut = false;
    const open: number[] = [];
    // Releases the space of a large text.
    if (room !== USUAL_NODES) resize(USUAL_NODES);
    walker._ts_tree_root_node_wasm(address);
    walker._ts_tree_cursor_new_wasm(address);
    try {
      for (let isUp = false; ; ) {
        if (!isUp) {
          const type = readKind(address);
          const isError = type === 0xffff;
          const isKept = isError || isNamed[type] === true;
          if (isKept) {
            if (count === room) resize(2 * room);
            if (isError) errors += 1;
            kind[count] = isError ? errorKind : type;
            field[count] = readField(address);
            start[count] = readStart(address);
            end[count] = readEnd(address);
            open.push(count);
            count += 1;
          } else open.push(-1);
          if (open.length >= MOST_DEPTH) isCut = true;
          else if (gotoFirstChild(address) === 1) continue;
        }
        const closed = open.pop() ?? -1;
        if (closed >= 0) after[closed] = count;
        if (open.length === 0) break;
        if (gotoNextSibling(address) === 1) isUp = false;
        else {
          gotoParent(address);
          isUp = true;
        }
      }
    } finally {
      walker._ts_tree_cursor_delete_wasm(address);
    }
    if (errors === 0 && tree.rootNode.hasError) errors = 1;
    return { language, text, names, count, kind, field, start, end, after, errors, isCut };
  };
}

/** Returns the start of each line of a text, in characters. */
export function findLineStarts(text: string): Uint32Array {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return Uint32Array.from(starts);
}

/** Returns the line of a position in a text, from 1. */
export function findLine(starts: Uint32Array, offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}
