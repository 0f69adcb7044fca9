import type { Tree } from 'web-tree-sitter';
import type { Language } from './languages.ts';

/** What the nodes and fields of a grammar are called, by the numbers that a tree has. */
export interface GrammarNames {
  kinds: readonly string[];
  fields: readonly string[];
}

/**
 * A syntax tree as arrays, in the order in which nodes begin: node 0 is the whole text, and what is below node `n` is
 * `n + 1` to `after[n] - 1`. Only named nodes are kept. Nothing of it is in the parser's memory.
 */
export interface SyntaxTree {
  language: Language;
  text: string;
  names: GrammarNames;
  count: number;
  /** Index into `names.kinds`. */
  kind: Uint16Array;
  /** Index into `names.fields`, 0 for none. */
  field: Uint8Array;
  /** Where a node begins and ends, in characters of `text`. */
  start: Uint32Array;
  end: Uint32Array;
  /** The first node that is not below this one. */
  after: Uint32Array;
  /** Places that could not be parsed, or where something is missing. */
  errors: number;
  /** Whether something lies so deep that it was left out. */
  isCut: boolean;
}

/** What lies deeper is left out, so that who walks a tree may call itself at each level. */
export const MOST_DEPTH = 500;

/** Scratch space that is reused from text to text. */
export function createFlattener() {
  let room = 1 << 16;
  let kind = new Uint16Array(room);
  let field = new Uint8Array(room);
  let start = new Uint32Array(room);
  let end = new Uint32Array(room);
  let after = new Uint32Array(room);

  function grow(): void {
    room *= 2;
    const copy = <T extends Uint16Array | Uint8Array | Uint32Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    kind = copy(kind, new Uint16Array(room));
    field = copy(field, new Uint8Array(room));
    start = copy(start, new Uint32Array(room));
    end = copy(end, new Uint32Array(room));
    after = copy(after, new Uint32Array(room));
  }

  /** Copies a tree out of the parser's memory; the caller frees it. */
  return function flatten(
    tree: Tree,
    text: string,
    { language, names, isNamed }: { language: Language; names: GrammarNames; isNamed: readonly boolean[] },
  ): SyntaxTree {
    const cursor = tree.walk();
    const errorKind = names.kinds.length - 1;
    let count = 0;
    let errors = 0;
    let isCut = false;
    const open: number[] = [];
    try {
      for (let isUp = false; ; ) {
        if (!isUp) {
          const type = cursor.nodeTypeId;
          const isError = type === 0xffff;
          const isKept = isError || isNamed[type] === true;
          if (isKept) {
            if (count === room) grow();
            if (isError) errors += 1;
            kind[count] = isError ? errorKind : type;
            field[count] = cursor.currentFieldId;
            start[count] = cursor.startIndex;
            end[count] = cursor.endIndex;
            open.push(count);
            count += 1;
          } else open.push(-1);
          if (open.length < MOST_DEPTH && cursor.gotoFirstChild()) continue;
          if (open.length >= MOST_DEPTH) isCut = true;
        }
        const closed = open.pop() ?? -1;
        if (closed >= 0) after[closed] = count;
        if (open.length === 0) break;
        if (cursor.gotoNextSibling()) isUp = false;
        else {
          cursor.gotoParent();
          isUp = true;
        }
      }
    } finally {
      cursor.delete();
    }
    if (errors === 0 && tree.rootNode.hasError) errors = 1;
    return {
      language,
      text,
      names,
      count,
      kind: kind.slice(0, count),
      field: field.slice(0, count),
      start: start.slice(0, count),
      end: end.slice(0, count),
      after: after.slice(0, count),
      errors,
      isCut,
    };
  };
}

/** Where each line of a text begins, in characters. */
export function findLineStarts(text: string): Uint32Array {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return Uint32Array.from(starts);
}

/** The line of a place in a text, from 1. */
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
