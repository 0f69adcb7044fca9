import { SvcError } from '../../../core/base/errors.ts';
import type {
  ExportFact,
  ExpressionFact,
  FileFacts,
  ImportFact,
  ObjectFact,
  ReferenceFact,
  ReferenceKind,
  SymbolFact,
  SymbolKind,
} from '../facts.ts';
import type { NodeId, SyntaxNodes } from './nodes.ts';

export interface NewSymbol {
  name: string;
  kind: SymbolKind;
  parent: number;
  /** The whole declaration. */
  node: NodeId;
  /** The part outside its signature; -1 for none. */
  body?: NodeId;
  /** The start of the declaration with its comment, if that is another node, as with an export. */
  outer?: NodeId;
}

/** Collects the results of a walk through one file. */
export interface FactCollector {
  readonly symbols: SymbolFact[];
  readonly locals: ExpressionFact[];
  readonly objects: ObjectFact[];
  addSymbol(symbol: NewSymbol): number;
  /** Returns the symbols of that name that are declared directly below another one, in order. */
  findDeclared(parent: number, name: string): readonly number[];
  addImport(fact: ImportFact): number;
  addExport(fact: ExportFact): void;
  addLocal(value: ExpressionFact): number;
  addReference(
    kind: ReferenceKind,
    value: ExpressionFact,
    node: NodeId,
    from: number,
    args?: ExpressionFact[],
  ): void;
  finish(errors: number): FileFacts;
}

const LONGEST_SIGNATURE = 200;
const LONGEST_DOC = 160;
const LONGEST_NAME = 200;
/** Characters of a reference, as JSON: chains of thousands of calls would take millions together. */
const LONGEST_REFERENCE = 10_000;
/** Maximum per file: generated tables have hundreds of thousands. */
const MOST_SYMBOLS = 20_000;
const MOST_REFERENCES = 50_000;

export function createCollector(nodes: SyntaxNodes, path: string): FactCollector {
  const symbols: SymbolFact[] = [];
  const imports: ImportFact[] = [];
  const exports: ExportFact[] = [];
  const locals: ExpressionFact[] = [];
  const objects: ObjectFact[] = [];
  const references: ReferenceFact[] = [];
  const seen = new Set<string>();
  const declared = new Map<string, number[]>();

  function addSymbol({ name, kind, parent, node, body = -1, outer = node }: NewSymbol): number {
    if (symbols.length >= MOST_SYMBOLS) throw new SvcError('internal', `more than ${MOST_SYMBOLS} symbols`);
    const start = nodes.startOf(outer);
    const end = Math.max(nodes.endOf(node), nodes.endOf(outer));
    const head = nodes.text.slice(
      nodes.startOf(node),
      Math.min(body < 0 ? end : nodes.startOf(body), nodes.startOf(node) + 4 * LONGEST_SIGNATURE),
    );
    const doc = findDoc(nodes.text, start);
    symbols.push({
      name: name.slice(0, LONGEST_NAME),
      kind,
      parent,
      start,
      end,
      line: nodes.lineAt(start),
      endLine: nodes.lineAt(Math.max(start, end - 1)),
      signature: head
        .replace(/\s+/g, ' ')
        .replace(/\s*(?:[{:]|=>|=)?\s*$/, '')
        .slice(0, LONGEST_SIGNATURE),
      ...(doc === '' ? {} : { doc }),
    });
    const index = symbols.length - 1;
    const key = makeNameKey(parent, symbols[index]!.name);
    const known = declared.get(key);
    if (known === undefined) declared.set(key, [index]);
    else known.push(index);
    return index;
  }

  symbols.push({
    name: path,
    kind: 'file',
    parent: -1,
    start: 0,
    end: nodes.text.length,
    line: 1,
    endLine: nodes.lineAt(Math.max(0, nodes.text.length - 1)),
    signature: '',
  });

  return {
    symbols,
    locals,
    objects,
    addSymbol,
    findDeclared: (parent, name) => declared.get(makeNameKey(parent, name.slice(0, LONGEST_NAME))) ?? [],
    addImport: (fact) => imports.push(fact) - 1,
    addExport: (fact) => void exports.push(fact),
    addLocal: (value) => locals.push(value) - 1,
    addReference(kind, value, node, from, args) {
      if (value[0] === 'x' || value[0] === '?' || references.length >= MOST_REFERENCES) return;
      const key = `${kind} ${from} ${JSON.stringify(args === undefined ? value : [value, args])}`;
      if (key.length > LONGEST_REFERENCE || seen.has(key)) return;
      seen.add(key);
      const line = nodes.lineOf(node);
      references.push(args === undefined ? [kind, value, line, from] : [kind, value, line, from, args]);
    },
    finish: (errors) => ({ symbols, imports, exports, locals, objects, references, errors }),
  };
}

const makeNameKey = (parent: number, name: string): string => `${parent} ${name}`;

/** Returns the first line with content of the comment directly above a position; empty for none. */
function findDoc(text: string, start: number): string {
  let end = text.lastIndexOf('\n', start - 1);
  if (end < 0) return '';
  // Attributes and decorators may be in between.
  const before = text.slice(Math.max(0, end - 2000), end).trimEnd();
  if (before.endsWith('*/')) {
    const open = before.lastIndexOf('/*');
    return open < 0 ? '' : firstWords(before.slice(open + 2, -2).split('\n'));
  }
  const lines: string[] = [];
  end = before.length;
  for (;;) {
    const from = before.lastIndexOf('\n', end - 1) + 1;
    const line = before.slice(from, end).trim();
    if (!/^(?:\/\/|#(?![![]))/.test(line)) break;
    lines.unshift(line);
    if (from === 0) break;
    end = from - 1;
  }
  return firstWords(lines);
}

function firstWords(lines: readonly string[]): string {
  for (const line of lines) {
    const words = line.replace(/^[\s/*#!]+/, '').trim();
    if (words !== '' && !words.startsWith('@')) return words.slice(0, LONGEST_DOC);
  }
  return '';
}
