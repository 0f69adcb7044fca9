import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { Language as Grammar, Parser, type Tree } from 'web-tree-sitter';
import { SvcError } from '../../core/base/errors.ts';
import { locateGrammar } from '../../core/base/own-package.ts';
import { GRAMMAR_FILES } from './grammar-files.ts';
import type { SourceLanguage } from './languages.ts';
import { repairText } from './repair-text.ts';
import { createFlattener, type GrammarNames, type SyntaxTree, type TreeWalker } from './syntax-tree.ts';

interface LoadedGrammar {
  grammar: Grammar;
  language: SourceLanguage;
  names: GrammarNames;
  isNamed: boolean[];
}

export interface SourceParser {
  /** Loads the grammars of these languages, so that `parse` need not wait. Throws `internal` for a damaged one. */
  load(languages: Iterable<SourceLanguage>): Promise<void>;
  /** Parses a text; null if that takes longer than `LONGEST_PARSE_MS`. The language must have been loaded. */
  parse(language: SourceLanguage, text: string): SyntaxTree | null;
  close(): void;
}

/** Pathological texts take seconds. */
export const LONGEST_PARSE_MS = 2000;

let walker: Promise<TreeWalker> | undefined;
/** The grammars of this thread, shared by its parsers: module memory of a grammar is never released. */
const loaded = new Map<SourceLanguage, LoadedGrammar>();
/** Sequential: two grammars that load at the same time would overwrite each other in memory. */
let loading: Promise<unknown> = Promise.resolve();

/** Starts the parser's module, one per thread, and finds its functions. */
async function startModule(): Promise<TreeWalker> {
  const module = {};
  await Parser.init(module);
  return module as TreeWalker;
}

/** Creates a parser for all languages. The first of a thread takes 10 MB, and each large grammar the same amount once. */
export async function createSourceParser(): Promise<SourceParser> {
  walker ??= startModule();
  const flatten = createFlattener(await walker);
  const parser = new Parser();

  /** Returns the tree of a text; null if that takes too long. */
  function parseText(text: string, until: number): Tree | null {
    // Some steps take a millisecond each, so the clock is read at every call.
    const tree = parser.parse(text, null, { progressCallback: () => performance.now() > until });
    // Otherwise the next text would be treated as the rest of this one.
    if (tree === null) parser.reset();
    return tree;
  }

  /** Parses and copies a tree; every tree is freed here. */
  function parseWith(known: LoadedGrammar, text: string): SyntaxTree | null {
    parser.setLanguage(known.grammar);
    const until = performance.now() + LONGEST_PARSE_MS;
    const tree = parseText(text, until);
    if (tree === null) return null;
    const repaired = tree.rootNode.hasError ? repairText(known.language, text) : null;
    const other = repaired === null ? null : parseText(repaired, until);
    try {
      if (other === null) return flatten(tree, text, known);
      const { errors } = flatten(tree, text, known);
      const better = flatten(other, text, known);
      return better.errors < errors ? better : flatten(tree, text, known);
    } finally {
      tree.delete();
      other?.delete();
    }
  }

  async function loadGrammar(language: SourceLanguage): Promise<LoadedGrammar> {
    const { sha256, sample } = GRAMMAR_FILES[language];
    const bytes = readGrammar(language);
    if (createHash('sha256').update(bytes).digest('hex') !== sha256) throw damaged(language, 'was changed');
    const grammar = await Grammar.load(bytes);
    const kinds = Array.from({ length: grammar.nodeTypeCount }, (_, id) => grammar.nodeTypeForId(id) ?? '');
    const isNamed = kinds.map((_, id) => grammar.nodeTypeIsNamed(id));
    const fields = Array.from({ length: grammar.fieldCount + 1 }, (_, id) =>
      id === 0 ? '' : (grammar.fieldNameForId(id) ?? ''),
    );
    const known = { grammar, language, names: { kinds: [...kinds, 'ERROR'], fields }, isNamed };
    const tested = parseWith(known, sample);
    if (tested === null || tested.errors > 0 || tested.count < 2)
      throw damaged(language, 'does not parse its sample');
    return known;
  }

  return {
    load(languages) {
      const loadMissing = async (): Promise<void> => {
        for (const language of new Set(languages))
          if (!loaded.has(language)) loaded.set(language, await loadGrammar(language));
      };
      const all = loading.then(loadMissing);
      loading = all.catch(() => {});
      return all;
    },
    parse(language, text) {
      const known = loaded.get(language);
      if (known === undefined) throw new SvcError('internal', `the grammar of ${language} was not loaded`);
      return parseWith(known, text);
    },
    close: () => parser.delete(),
  };
}

function readGrammar(language: SourceLanguage): Buffer {
  try {
    const file = readFileSync(locateGrammar(language));
    // Ends with the size of its content: one chunk of it is twice as fast as many small ones.
    return gunzipSync(file, { chunkSize: file.readUInt32LE(file.length - 4) });
  } catch (error) {
    throw damaged(language, `cannot be read: ${(error as Error).message}`);
  }
}

const damaged = (language: SourceLanguage, what: string): SvcError =>
  new SvcError('internal', `the grammar of ${language} ${what}`, { hint: 'install svc again' });
