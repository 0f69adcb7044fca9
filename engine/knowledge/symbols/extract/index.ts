import type { Language, SyntaxTree } from '../../sources/index.ts';
import type { FileFacts } from '../facts.ts';
import { extractEcma } from './ecma/index.ts';

type Extract = (tree: SyntaxTree, path: string) => FileFacts;

const EXTRACTORS: Partial<Record<Language, Extract>> = {
  typescript: extractEcma,
  tsx: extractEcma,
  javascript: extractEcma,
};

/** Takes down what a file declares, imports and refers to; null for a language without an extractor. */
export function extractFacts(tree: SyntaxTree, path: string): FileFacts | null {
  return EXTRACTORS[tree.language]?.(tree, path) ?? null;
}
