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

/** Creates the search for a method whose name only one symbol of the project has. */
export function createMethodFinder(db: GraphDatabase) {
  const findSymbols = db.prepare(
    `SELECT symbol.file, symbol.place, symbol.kind, outer.kind AS outer, file.language
       FROM symbol JOIN file ON file.id = symbol.file
       LEFT JOIN symbol AS outer ON outer.file = symbol.file AND outer.place = symbol.parent
      WHERE symbol.name = ? AND symbol.kind IN (SELECT value FROM json_each(?))
        AND file.language IN (SELECT value FROM json_each(?)) LIMIT 2`,
  );
  const memberKinds = JSON.stringify(MEMBER_KINDS);

  return (language: SourceLanguage, name: string): { file: number; index: number } | null => {
    const found = findSymbols.all(name, memberKinds, JSON.stringify(listLanguageFamily(language))) as {
      file: number;
      place: number;
      kind: SymbolKind;
      outer: SymbolKind | null;
      language: SourceLanguage;
    }[];
    const [only] = found;
    if (only === undefined || found.length > 1 || only.kind !== 'method') return null;
    // A member of an object literal is called through the object's expected type.
    const isOfType =
      only.outer === 'class' || only.outer === 'interface' || DECLARES_OUTSIDE.has(only.language);
    return isOfType ? { file: only.file, index: only.place } : null;
  };
}
