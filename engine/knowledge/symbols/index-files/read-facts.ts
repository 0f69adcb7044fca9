import { readSource, type SourceLanguage } from '../../sources/index.ts';
import type { SourceParser } from '../../sources/parse.ts';
import { extractFacts } from '../extract/index.ts';
import { type PackedFacts, packFacts } from '../store/pack.ts';
import type { FileState } from '../store/rows.ts';

/** The result for a file: its facts, or why there are none. */
export interface ReadFacts {
  state: FileState | 'gone';
  facts: PackedFacts | null;
  hash: string;
  size: number;
  mtime: number;
}

export interface WantedFile {
  path: string;
  language: SourceLanguage;
  /** If the hash matches, the file is unchanged and is not parsed. */
  knownHash: string | null;
}

/** Reads, parses and collects some files of a project in sequence. */
export function readBatch(
  parser: Pick<SourceParser, 'parse'>,
  root: string,
  files: readonly WantedFile[],
  done: (file: WantedFile, read: ReadFacts | 'same') => void,
): void {
  const folders = new Set<string>();
  for (const file of files) done(file, readFacts(parser, root, file, folders));
}

function readFacts(
  parser: Pick<SourceParser, 'parse'>,
  root: string,
  { path, language, knownHash }: WantedFile,
  folders: Set<string>,
): ReadFacts | 'same' {
  const source = readSource(root, path, folders);
  if (typeof source === 'string') return { state: source, facts: null, hash: '', size: 0, mtime: 0 };
  const { text, hash, size, mtimeMs } = source;
  if (hash === knownHash) return 'same';
  const tree = parser.parse(language, text);
  if (tree === null) return { state: 'slow', facts: null, hash, size, mtime: mtimeMs };
  try {
    return { state: 'ok', facts: packFacts(extractFacts(tree, path)), hash, size, mtime: mtimeMs };
  } catch {
    // One unexpected file must not abort all others.
    return { state: 'failed', facts: null, hash, size, mtime: mtimeMs };
  }
}
