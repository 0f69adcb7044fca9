export { createLanguageTable, findLanguage, LANGUAGES, type SourceLanguage } from './languages.ts';
export { listSources, type SourceFile } from './list-sources.ts';
export { readSource, readSourceText as readText } from './read-source.ts';
export {
  countSkipped,
  judgePath,
  judgeText,
  SKIP_REASONS,
  type SkipCounts,
  type SkipReason,
} from './skipped.ts';
export { findLine, findLineStarts, type SyntaxTree } from './syntax-tree.ts';
export { isTestPath } from './test-path.ts';
