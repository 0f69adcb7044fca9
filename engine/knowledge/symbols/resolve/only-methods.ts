import type { SourceLanguage } from '../../sources/index.ts';
import type { SymbolKind } from '../facts.ts';
import type { GraphDatabase } from '../store/graph-file.ts';
import { DECLARES_OUTSIDE } from './project.ts';

/** Symbols that may be called as a member by name: a unique name is bound to its symbol. */
export const MEMBER_KINDS: readonly SymbolKind[] = ['method', 'field', 'function'];

/** Languages whose code may call each other. */
const FAMILIES: Partial<Record<SourceLanguage, readonly SourceLanguage[]>> = {
  typescript: ['typescript', 'tsx', 'javascript'],
  tsx: ['typescript', 'tsx', 'javascript'],
  javascript: ['typescript', 'tsx', 'javascript'],
  c: ['c', 'cpp'],
  cpp: ['c', 'cpp'],
  java: ['java', 'kotlin'],
  kotlin: ['java', 'kotlin'],
};

export const listLanguageFamily = (language: SourceLanguage): readonly SourceLanguage[] =>
  FAMILIES[language] ?? [language];

interface NamedMethod {
  file: number;
  index: number;
}

const MOST_LISTED = 20;

/** Creates the search for methods by their name alone. */
export function createMethodFinder(db: GraphDatabase) {
  const findSymbols = db.prepare(
    `SELECT symbol.file, symbol.place, symbol.kind, outer.kind AS outer, file.language
       FROM symbol JOIN file ON file.id = symbol.file
       LEFT JOIN symbol AS outer ON outer.file = symbol.file AND outer.place = symbol.parent
      WHERE symbol.name = ? AND symbol.kind IN (SELECT value FROM json_each(?))
        AND file.language IN (SELECT value FROM json_each(?)) ORDER BY symbol.id LIMIT ${MOST_LISTED}`,
  );
  const memberKinds = JSON.stringify(MEMBER_KINDS);
  const known = new Map<string, readonly FoundSymbol[]>();

  interface FoundSymbol {
    file: number;
    place: number;
    kind: SymbolKind;
    outer: SymbolKind | null;
    language: SourceLanguage;
  }

  function findNamed(language: SourceLanguage, name: string): readonly FoundSymbol[] {
    const family = JSON.stringify(listLanguageFamily(language));
    const key = `${family} ${name}`;
    const found = known.get(key) ?? (findSymbols.all(name, memberKinds, family) as FoundSymbol[]);
    known.set(key, found);
    return found;
  }

  return {
    /** Returns the method whose name only one symbol of the project has; null for none. */
    findOnly(language: SourceLanguage, name: string): NamedMethod | null {
      const found = findNamed(language, name);
      const [only] = found;
      if (only === undefined || found.length > 1 || only.kind !== 'method') return null;
      // A member of an object literal is called through the object's expected type.
      const isOfType =
        only.outer === 'class' || only.outer === 'interface' || DECLARES_OUTSIDE.has(only.language);
      return isOfType ? { file: only.file, index: only.place } : null;
    },
    listAll: (language: SourceLanguage, name: string): NamedMethod[] =>
      findNamed(language, name).map(({ file, place }) => ({ file, index: place })),
    /** Forgets what was found, after a file was written. */
    forget: (): void => known.clear(),
  };
}
