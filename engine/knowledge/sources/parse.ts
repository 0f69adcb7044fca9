import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Language as Grammar, Parser } from 'web-tree-sitter';
import { SvcError } from '../../base/errors.ts';
import { GRAMMAR_FILES, GRAMMARS_FOLDER } from './grammar-files.ts';
import type { Language } from './languages.ts';
import { createFlattener, type GrammarNames, type SyntaxTree } from './syntax-tree.ts';

interface LoadedGrammar {
  grammar: Grammar;
  language: Language;
  names: GrammarNames;
  isNamed: boolean[];
}

export interface SourceParser {
  /** Loads the grammars of these languages, so that `parse` need not wait. Throws `internal` for one that is damaged. */
  load(languages: Iterable<Language>): Promise<void>;
  /** Parses a text; null when that takes longer than `LONGEST_PARSE_MS`. The language must have been loaded. */
  parse(language: Language, text: string): SyntaxTree | null;
  close(): void;
}

/** Texts that drive a parser into a corner take seconds. */
export const LONGEST_PARSE_MS = 2000;

/** Creates a parser for all languages, which takes 10 MB and as much again for each large grammar. */
export async function createSourceParser(): Promise<SourceParser> {
  await Parser.init();
  const parser = new Parser();
  const flatten = createFlattener();
  const loaded = new Map<Language, LoadedGrammar>();

  /** Parses and copies a tree; every tree is freed here. */
  function parseWith(known: LoadedGrammar, text: string): SyntaxTree | null {
    parser.setLanguage(known.grammar);
    const until = performance.now() + LONGEST_PARSE_MS;
    const tree = parser.parse(text, null, { progressCallback: () => performance.now() > until });
    if (tree === null) {
      // Or the next text would be taken for the rest of this one.
      parser.reset();
      return null;
    }
    try {
      return flatten(tree, text, known);
    } finally {
      tree.delete();
    }
  }

  async function loadGrammar(language: Language): Promise<LoadedGrammar> {
    const { sha256, sample } = GRAMMAR_FILES[language];
    const bytes = readFileSync(new URL(`${GRAMMARS_FOLDER}/${language}.wasm`, import.meta.url));
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
    async load(languages) {
      for (const language of new Set(languages))
        if (!loaded.has(language)) loaded.set(language, await loadGrammar(language));
    },
    parse(language, text) {
      const known = loaded.get(language);
      if (known === undefined) throw new SvcError('internal', `the grammar of ${language} was not loaded`);
      return parseWith(known, text);
    },
    close: () => parser.delete(),
  };
}

const damaged = (language: Language, what: string): SvcError =>
  new SvcError('internal', `the grammar of ${language} ${what}`, { hint: 'install svc again' });
