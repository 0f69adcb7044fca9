export { countEdits, nearWords } from './near-words.ts';
export { quoteForMatch, readQuery } from './query.ts';
export { createTextIndexer, foldText, indexTexts, listKeys } from './terms.ts';
export { loadWordVectors } from './word-vectors.ts';
