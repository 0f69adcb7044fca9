import { readSource } from '../../sources/index.ts';
import type { FileIndexer } from '../index-files/indexer.ts';
import type { SymbolRow } from '../store/rows.ts';

export interface SourceSnippet {
  text: string;
  firstLine: number;
  lastLine: number;
  /** Number of omitted lines of the symbol. */
  more: number;
}

const MOST_BYTES = 20_000;

/** Reads the text of a symbol from its file; null if the file no longer exists or is not a source. */
export function readSnippet(
  { root }: FileIndexer,
  symbol: SymbolRow,
  maxLines: number,
): SourceSnippet | null {
  const source = readSource(root, symbol.path);
  if (typeof source === 'string') return null;
  // Whole lines: a reader expects the text before a declaration on its line.
  const lines = source.text.split('\n').slice(symbol.line - 1, symbol.endLine);
  const shown: string[] = [];
  let bytes = 0;
  for (const line of lines.slice(0, maxLines)) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > MOST_BYTES && shown.length > 0) break;
    shown.push(line.slice(0, MOST_BYTES));
  }
  return {
    text: shown.join('\n'),
    firstLine: symbol.line,
    lastLine: symbol.line + shown.length - 1,
    more: lines.length - shown.length,
  };
}
