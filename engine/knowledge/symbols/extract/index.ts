import type { SourceLanguage, SyntaxTree } from '../../sources/index.ts';
import type { FileFacts } from '../facts.ts';
import { extractEcma } from './ecma/index.ts';
import { extractByTable } from './table/walk.ts';

type Extract = (tree: SyntaxTree, path: string) => FileFacts;

const EXTRACTORS: Partial<Record<SourceLanguage, Extract>> = {
  typescript: extractEcma,
  tsx: extractEcma,
  javascript: extractEcma,
};

/** Collects the declarations, imports and references of a file. */
export const extractFacts = (tree: SyntaxTree, path: string): FileFacts =>
  (EXTRACTORS[tree.language] ?? extractByTable)(tree, path);
