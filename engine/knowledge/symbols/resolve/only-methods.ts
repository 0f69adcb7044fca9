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

/** Functions of one name that may extend a type; no known project has as many. */
const MOST_EXTENSIONS = 200;

interface FoundSymbol extends NamedMethod {
  kind: SymbolKind;
  outer: SymbolKind | null;
  language: SourceLanguage;
}

/** Creates the search for methods by their name alone. */
export function createMethodFinder(db: GraphDatabase) {
  const findTwo = db.prepare(
    `SELECT symbol.file, symbol.place AS "index", symbol.kind, outer.kind AS outer, file.language
       FROM symbol JOIN file ON file.id = symbol.file
       LEFT JOIN symbol AS outer ON outer.file = symbol.file AND outer.place = symbol.parent
      WHERE symbol.name = ? AND symbol.kind IN (SELECT value FROM json_each(?))
        AND file.language IN (SELECT value FROM json_each(?)) LIMIT 2`,
  );
  const findFunctions = db.prepare(
    `SELECT symbol.file, symbol.place AS "index" FROM symbol JOIN file ON file.id = symbol.file
      WHERE symbol.name = ? AND symbol.kind IN ('function', 'method') AND file.language = ?
      ORDER BY file.path, symbol.place LIMIT ${MOST_EXTENSIONS}`,
  );
  const memberKinds = JSON.stringify(MEMBER_KINDS);
  const only = new Map<string, NamedMethod | null>();
  const extensions = new Map<string, readonly NamedMethod[]>();

  function findOnlyMethod(name: string, family: string): NamedMethod | null {
    const [found, other] = findTwo.all(name, memberKinds, family) as FoundSymbol[];
    if (found === undefined || other !== undefined || found.kind !== 'method') return null;
    // A member of an object literal is called through the object's expected type.
    const isOfType =
      found.outer === 'class' || found.outer === 'interface' || DECLARES_OUTSIDE.has(found.language);
    return isOfType ? { file: found.file, index: found.index } : null;
  }

  return {
    /** Returns the method whose name only one symbol of the project has; null for none. */
    findOnly(language: SourceLanguage, name: string): NamedMethod | null {
      const family = JSON.stringify(listLanguageFamily(language));
      const key = `${family} ${name}`;
      const found = only.get(key);
      if (found !== undefined) return found;
      const method = findOnlyMethod(name, family);
      only.set(key, method);
      return method;
    },
    /** Lists the functions of a language that may extend a type. */
    listExtensions(language: SourceLanguage, name: string): readonly NamedMethod[] {
      const key = `${language} ${name}`;
      const found = extensions.get(key) ?? (findFunctions.all(name, language) as NamedMethod[]);
      extensions.set(key, found);
      return found;
    },
    /** Forgets what was found, after a file was written. */
    forget(): void {
      only.clear();
      extensions.clear();
    },
  };
}
