export { createLanguageTable, findLanguage, LANGUAGES, type Language } from './languages.ts';
export { type ListRequest, listSources, type SourceFile, type SourceList } from './list-sources.ts';
export { readSource, readText, type SourceText } from './read-source.ts';
export {
  countSkipped,
  judgePath,
  judgeText,
  SKIP_REASONS,
  type SkipCounts,
  type SkipReason,
} from './skipped.ts';
export { findLine, findLineStarts, type GrammarNames, type SyntaxTree } from './syntax-tree.ts';
